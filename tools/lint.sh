#!/usr/bin/env bash
# Formatting (clang-format) of every source, and with --tidy clang-tidy over the build in build/.
# Exits with 1 and names the places when something is off.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

git ls-files '*.cpp' '*.h' '*.hpp' | xargs clang-format-22 --dry-run -Werror
if [[ ${1:-} == --tidy ]]; then
  [[ -f build/compile_commands.json ]] || { echo "tools/lint.sh: build/compile_commands.json is missing: run cmake --preset default" >&2; exit 1; }
  git ls-files 'compiler/*.cpp' 'templates/*.cpp' 'runtime/*.cpp' 'tools/*.cpp' ':!runtime/examples' |
    xargs -P "$(nproc)" -n 4 clang-tidy-22 -p build --quiet
fi
