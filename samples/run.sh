#!/usr/bin/env bash
# samples/run.sh [arguments of mnist]: installs what is missing, builds in build/, runs the MNIST sample ("train" without
# arguments). The exit code is the sample's.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/../tools/setup.sh"

install_build_tools
show_nvidia
install_any_opencl
options=(CRISOL_BUILD_SAMPLES=ON CRISOL_BUILD_CLI=ON)
# A new tree does without doctest; one that has the tests keeps them.
[ -e "$crisol_build/CMakeCache.txt" ] || options+=(CRISOL_BUILD_TESTS=OFF)
configure "${options[@]}"
build mnist text_lstm crisol_cli

[ $# -gt 0 ] || set -- train
exec "$crisol_build/bin/mnist" "$@"
