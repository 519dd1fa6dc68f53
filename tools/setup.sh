# Sourced by quickstart.sh and test.sh: install what is missing, configure and build.
# Safe to repeat: nothing is installed or rebuilt that is there already.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n==> %s\n' "$*"; }

# What the project is built from, all from Debian.
PACKAGES=(
  cmake ninja-build ccache git
  clang-22 lld-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools liblld-22-dev libclang-rt-22-dev
  libfmt-dev libtomlplusplus-dev nlohmann-json3-dev libcli11-dev libexpected-dev libssl-dev
  zlib1g-dev libzstd-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  python3 mypy pkgconf
  libamdhip64-dev libamd-comgr-dev
)

install_packages() {
  local missing=() package
  for package in "${PACKAGES[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    step "Packages: all ${#PACKAGES[@]} installed"
    return
  fi
  step "Packages: installing ${missing[*]}"
  local sudo=()
  if ((EUID != 0)); then sudo=(sudo); fi
  "${sudo[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  step "Build: preset $preset"
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" ${1:+--target "$@"}
}
