#!/usr/bin/env bash
# The tests of the installed package; CMakeLists.txt gives the paths. `install` comes first: all
# others use its prefix, which was installed for another place and then moved.
set -euo pipefail

PREFIX=$WORK/moved
EXAMPLE=$SOURCE_DIR/runtime/examples/decode_step
export CMAKE_PREFIX_PATH=$PREFIX PKG_CONFIG_PATH=$PREFIX/$LIBDIR/pkgconfig
unset DESTDIR NVFP4RT_LIBRARY NVFP4RT_HIP_LIBRARY PYTHONPATH

fail() { echo "package_test: $*" >&2; exit 1; }
expect() { [[ $2 == "$3" ]] || fail "$1: expected '$2', found '$3'"; }

# fresh NAME: an empty folder outside of every source tree, removed at the end.
fresh() {
  SCRATCH=$(mktemp -d)
  trap 'rm -rf "$SCRATCH"' EXIT
}

# libraries FILE: the libraries that it needs, without those of every C++ program.
libraries() {
  "$READELF" --needed-libs "$1" | grep -Eo '[^ ]+\.so[^ ]*' |
    grep -Ev '^(libstdc\+\+|libc\+\+|libm|libgcc_s|libc|ld-linux.*|libdl|libpthread)\.so' | sort | paste -sd' '
}

test_install() {
  rm -rf "$WORK"
  mkdir -p "$WORK"
  DESTDIR=$WORK/stage "$CMAKE" --install "$BUILD_DIR" --prefix /opt/nvfp4 >/dev/null
  mv "$WORK/stage/opt/nvfp4" "$PREFIX"
}

test_files() {
  local lib=$PREFIX/$LIBDIR soname=libnvfp4rt.so.${VERSION%.*} file
  for file in "$BINDIR"/{nvfp4gen,gfx950emu} "$LIBDIR"/libnvfp4rt.{so,a} "$LIBDIR"/libgfx950emu-hip.so \
              include/{nvfp4rt.h,nvfp4rt_args.h,nvfp4rt_version.h,nvfp4rt.hpp,gfx950emu_hip.h} \
              "$LIBDIR"/libnvfp4gen.so include/nvfp4gen.h share/man/man1/nvfp4gen.1 \
              share/bash-completion/completions/nvfp4gen share/zsh/site-functions/_nvfp4gen \
              share/nvfp4gen/specs/tiny.toml "$LIBDIR"/pkgconfig/nvfp4rt.pc \
              "$LIBDIR"/cmake/nvfp4rt/nvfp4rtConfig{,Version}.cmake \
              "$PYTHONDIR"/nvfp4rt/{__init__.py,_installed.py,py.typed}; do
    [[ -e $PREFIX/$file ]] || fail "$file is not installed"
  done

  # The library: its soname, what it needs, and nothing but the C interface in sight.
  expect soname "$soname" "$("$READELF" -d "$lib/libnvfp4rt.so" | sed -n 's/.*soname: \[\(.*\)\].*/\1/p')"
  expect "libnvfp4rt.so needs" libcrypto.so.3 "$(libraries "$lib/libnvfp4rt.so")"
  expect "run path" "" "$("$READELF" -d "$lib/libnvfp4rt.so" | grep -Ei 'rpath|runpath' || true)"
  local exported declared
  exported=$("$NM" -D --defined-only --format=just-symbols "$lib/libnvfp4rt.so" | sort)
  declared=$(grep -Eoh '\bnvfp4rt_[a-z_]+\(' "$PREFIX/include/nvfp4rt.h" | tr -d '(' | sort -u)
  expect "exported functions" "$declared" "$exported"

  # No file knows where it was built or first installed.
  if grep -rIlF -e "$SOURCE_DIR" -e "$BUILD_DIR" -e "$WORK" -e /opt/nvfp4 "$PREFIX"; then
    fail "the files above name a place that only the build has"
  fi

  # Headers stand alone, in their languages' oldest dialects.
  echo '#include <nvfp4rt.h>' | "$CC" -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$PREFIX/include" \
    -fsyntax-only -x c -
  echo '#include <nvfp4rt.hpp>' | "$CXX" -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
    -I"$PREFIX/include" -fsyntax-only -x c++ -

  # The tools run from here, and find the emulator beside them.
  expect "nvfp4gen --version" "nvfp4gen $VERSION" "$("$PREFIX/$BINDIR/nvfp4gen" --version)"
  fresh
  "$PREFIX/$BINDIR/nvfp4gen" build "$EXAMPLE/decode.toml" -o "$SCRATCH/decode.hsaco" >/dev/null
  "$PREFIX/$BINDIR/nvfp4gen" verify "$SCRATCH/decode.hsaco" --family step_map --no-check | grep -F gfx950emu-hip
  "$PREFIX/$BINDIR/gfx950emu" --help >/dev/null

  # The Python package finds the library of its prefix without being told.
  PYTHONPATH=$PREFIX/$PYTHONDIR PYTHONDONTWRITEBYTECODE=1 "$PYTHON" -c '
import nvfp4rt, sys
bundle = nvfp4rt.Bundle.open(sys.argv[1])
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libnvfp4rt.so" in line}
assert all(path.startswith(sys.argv[2]) for path in loaded) and loaded, loaded
' "$SCRATCH/decode.hsaco" "$PREFIX/$LIBDIR"
}

# An image that only serves: the component runtime is the library and nothing else.
test_components() {
  fresh
  "$CMAKE" --install "$BUILD_DIR" --prefix "$SCRATCH" --component runtime >/dev/null
  expect "component runtime" "$LIBDIR/libnvfp4rt.so.${VERSION%.*} $LIBDIR/libnvfp4rt.so.$VERSION" \
    "$(cd "$SCRATCH" && find . ! -type d | sed 's|^\./||' | sort | paste -sd' ')"
  "$CMAKE" --install "$BUILD_DIR" --prefix "$SCRATCH" --component python >/dev/null
  PYTHONPATH=$SCRATCH/$PYTHONDIR PYTHONDONTWRITEBYTECODE=1 "$PYTHON" -c 'import nvfp4rt'
  # With development files and neither generator nor emulator, asking for these fails by name.
  "$CMAKE" --install "$BUILD_DIR" --prefix "$SCRATCH" --component development >/dev/null
  CMAKE_PREFIX_PATH=$SCRATCH
  configure 'find_package(nvfp4rt REQUIRED)'
  configure_fails 'find_package(nvfp4rt REQUIRED COMPONENTS generator)' \
    'component generator is not installed'
  configure_fails 'find_package(nvfp4rt REQUIRED COMPONENTS emulator)' \
    'component emulator is not installed'
}

test_find_package() {
  fresh
  cp -r "$EXAMPLE" "$SCRATCH/decode_step"
  "$CMAKE" -S "$SCRATCH/decode_step" -B "$SCRATCH/build" >/dev/null
  "$CMAKE" --build "$SCRATCH/build" >/dev/null
  "$CTEST" --test-dir "$SCRATCH/build" --verbose

  # Without a bundle both say how they are called.
  local status run
  for run in "$SCRATCH/build/decode_step" "$PYTHON $SCRATCH/decode_step/decode_step.py"; do
    status=0
    PYTHONPATH=$PREFIX/$PYTHONDIR NVFP4RT_HIP_LIBRARY=$PREFIX/$LIBDIR/libgfx950emu-hip.so $run >/dev/null 2>"$SCRATCH/usage" || status=$?
    expect "exit code of $run" 2 "$status"
    grep -E '^usage: decode_step(\.py)? BUNDLE$' "$SCRATCH/usage" || fail "no usage: $(cat "$SCRATCH/usage")"
  done
}

# C programs with the shared library, and C++ ones with the archive alone.
test_static() {
  fresh
  cp "$SOURCE_DIR/tests/runtime/c_consumer.c" "$SCRATCH/consumer.c"
  cat >"$SCRATCH/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES C CXX)
find_package(nvfp4rt REQUIRED COMPONENTS static)
foreach(library nvfp4rt nvfp4rt_static)
  add_executable(with_${library} consumer.c)
  target_link_libraries(with_${library} PRIVATE nvfp4rt::${library})
endforeach()
END
  "$CMAKE" -S "$SCRATCH" -B "$SCRATCH/build" >/dev/null
  "$CMAKE" --build "$SCRATCH/build" >/dev/null
  "$SCRATCH/build/with_nvfp4rt"
  "$SCRATCH/build/with_nvfp4rt_static"
  expect "with_nvfp4rt needs" "libnvfp4rt.so.${VERSION%.*}" "$(libraries "$SCRATCH/build/with_nvfp4rt")"
  expect "with_nvfp4rt_static needs" libcrypto.so.3 "$(libraries "$SCRATCH/build/with_nvfp4rt_static")"
}

test_pkg_config() {
  fresh
  expect version "$VERSION" "$("$PKG_CONFIG" --modversion nvfp4rt)"
  expect specsdir "$(realpath "$PREFIX/share/nvfp4gen/specs")" \
    "$(realpath "$("$PKG_CONFIG" --variable=specsdir nvfp4rt)")"
  local flags libdir emulator
  read -ra flags <<<"$("$PKG_CONFIG" --cflags --libs nvfp4rt)"
  libdir=$("$PKG_CONFIG" --variable=libdir nvfp4rt)
  emulator=$("$PKG_CONFIG" --variable=emulator nvfp4rt)
  "$("$PKG_CONFIG" --variable=nvfp4gen nvfp4rt)" build "$EXAMPLE/decode.toml" -o "$SCRATCH/decode.hsaco" >/dev/null
  "$CXX" -std=c++17 -O1 -D__HIP_PLATFORM_AMD__ "$EXAMPLE/decode_step.cpp" "$EXAMPLE/Plain.cpp" -o "$SCRATCH/decode_step" \
    "${flags[@]}" "$emulator" -Wl,-rpath,"$libdir"
  NVFP4RT_HIP_LIBRARY=$emulator "$SCRATCH/decode_step" "$SCRATCH/decode.hsaco" | grep -F 'attention within'

  # The archive, with what pkg-config says that it needs besides.
  local private
  read -ra private <<<"$("$PKG_CONFIG" --static --libs nvfp4rt)"
  "$CC" "$SOURCE_DIR/tests/runtime/c_consumer.c" -o "$SCRATCH/static" -I"$("$PKG_CONFIG" --variable=includedir nvfp4rt)" \
    "${private[@]/#-lnvfp4rt/$libdir/libnvfp4rt.a}"
  "$SCRATCH/static"
  expect "static needs" libcrypto.so.3 "$(libraries "$SCRATCH/static")"
}

# quick_configure SOURCE BUILD: configure a project without languages, which a compiler would
# otherwise tell where libraries are.
quick_configure() { "$CMAKE" -S "$1" -B "$2" -DCMAKE_LIBRARY_ARCHITECTURE="$ARCHITECTURE"; }

# nvfp4gen_add_bundle builds when the spec or the generator changes, and only then.
test_add_bundle() {
  fresh
  cp -r "$PREFIX" "$SCRATCH/prefix" # its generator is touched below
  cp "$EXAMPLE/decode.toml" "$SCRATCH/own.toml"
  cat >"$SCRATCH/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(bundles LANGUAGES NONE)
find_package(nvfp4rt REQUIRED COMPONENTS generator)
add_custom_command(OUTPUT made.toml COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/own.toml made.toml
                   DEPENDS own.toml)
nvfp4gen_add_bundle(own SPEC own.toml OUTPUT deep/er/model.hsaco JOBS 2)
nvfp4gen_add_bundle(made SPEC ${CMAKE_CURRENT_BINARY_DIR}/made.toml)
nvfp4gen_add_bundle(later SPEC ${nvfp4rt_SPECS_DIR}/tiny.toml EXCLUDE_FROM_ALL)
add_custom_target(print COMMAND ${CMAKE_COMMAND} -E echo bundle=$<TARGET_PROPERTY:own,NVFP4GEN_BUNDLE>)
END
  CMAKE_PREFIX_PATH=$SCRATCH/prefix
  local build=$SCRATCH/build bundle=$SCRATCH/build/deep/er/model.hsaco
  quick_configure "$SCRATCH" "$build" >/dev/null
  build() { "$CMAKE" --build "$build" "$@"; }
  stamp() { stat -c %y "$bundle"; }

  build >/dev/null
  "$SCRATCH/prefix/$BINDIR/nvfp4gen" inspect "$bundle" >/dev/null
  cmp "$bundle" "$build/made.hsaco"
  [[ ! -e $build/later.hsaco ]] || fail "EXCLUDE_FROM_ALL: the bundle was built"
  build --target print | grep -F "bundle=$bundle" >/dev/null || fail "NVFP4GEN_BUNDLE is not $bundle"

  local first again
  first=$(stamp)
  build >/dev/null
  expect "bundle of a build without changes" "$first" "$(stamp)"
  sed -i 's/top_k = 8/top_k = 4/' "$SCRATCH/own.toml"
  build >/dev/null
  again=$(stamp)
  [[ $again != "$first" ]] || fail "the spec has changed, its bundle has not"
  "$SCRATCH/prefix/$BINDIR/nvfp4gen" inspect "$bundle" | grep -F 'top_k == 4' >/dev/null || fail "the bundle is of the old spec"
  cmp "$bundle" "$build/made.hsaco" # through the command that makes its spec
  touch "$SCRATCH/prefix/$BINDIR/nvfp4gen"
  build >/dev/null
  [[ $(stamp) != "$again" ]] || fail "the generator has changed, its bundle has not"

  sed -i 's/top_k = 4/top_k = 400/' "$SCRATCH/own.toml"
  if build >"$SCRATCH/log" 2>&1; then
    fail "a spec that is refused was built"
  fi
  grep -qE 'own\.toml:[0-9]+:[0-9]+' "$SCRATCH/log" || fail "the spec's fault has no place in: $(cat "$SCRATCH/log")"
}

# configure LINE...: configure a project of these lines.
configure() {
  mkdir -p "$SCRATCH/project"
  { echo 'cmake_minimum_required(VERSION 3.20)'; echo 'project(user LANGUAGES NONE)'; printf '%s\n' "$@"; } \
    >"$SCRATCH/project/CMakeLists.txt"
  rm -rf "$SCRATCH/project/build"
  quick_configure "$SCRATCH/project" "$SCRATCH/project/build" >"$SCRATCH/log" 2>&1 ||
    { cat "$SCRATCH/log"; return 1; }
}

# configure_fails LINES MESSAGE: it is refused, with the message on one line or several.
configure_fails() {
  if configure "$1" >/dev/null; then
    fail "accepted: $1"
  fi
  tr -s ' \n' ' ' <"$SCRATCH/log" | grep -qF "$2" || fail "expected '$2' in: $(cat "$SCRATCH/log")"
}

test_refusals() {
  fresh
  local find=$'find_package(nvfp4rt REQUIRED COMPONENTS generator)\n'
  configure 'find_package(nvfp4rt 0.1 REQUIRED)'
  configure_fails 'find_package(nvfp4rt 0.2 REQUIRED)' 'compatible with requested version "0.2"'
  configure_fails 'find_package(nvfp4rt 1 REQUIRED)' 'requested version "1"'
  configure_fails 'find_package(nvfp4rt REQUIRED COMPONENTS compiler)' \
    'expected components generator, emulator or static, found compiler'
  configure_fails "${find}nvfp4gen_add_bundle(b)" 'nvfp4gen_add_bundle(b): expected SPEC <file>, found none'
  configure_fails "${find}nvfp4gen_add_bundle(b SPEC)" 'expected a value after SPEC, found none'
  configure_fails "${find}nvfp4gen_add_bundle(b SPEC a.toml ARCH gfx950)" \
    'expected SPEC, OUTPUT, JOBS or EXCLUDE_FROM_ALL, found ARCH;gfx950'
  configure_fails "${find}nvfp4gen_add_bundle(b SPEC a.toml JOBS 0)" 'JOBS: expected a positive number, found 0'
}

"test_$1"
