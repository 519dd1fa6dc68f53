#!/usr/bin/env bash
# From a fresh Debian 12 to a verified bundle: install, build, generate the bundle of MiniMax-M3.1
# at TP4, run every kernel in it on the gfx950 emulator and compare it with the reference.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

SPEC=specs/minimax_m3_1_tp4_bf16.toml
BUNDLE=build/minimax_m3_1_tp4_bf16.hsaco

install_packages
build default nvfp4gen gfx950emu-hip

step "Generate: $SPEC -> $BUNDLE"
build/bin/nvfp4gen build "$SPEC" -o "$BUNDLE"

step "Verify: every variant on the emulator against the reference"
build/bin/nvfp4gen verify "$BUNDLE"
