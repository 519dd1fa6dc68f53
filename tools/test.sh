#!/usr/bin/env bash
# Install, build and run the whole test suite: sanitizers first, the complete suite last.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

install_packages

for preset in asan tsan; do
  build "$preset"
  step "Test: preset $preset"
  ctest --preset "$preset" -j "$(nproc)"
done

build default
step "Test: the whole suite"
ctest --preset default -j "$(nproc)"
