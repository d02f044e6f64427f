#!/usr/bin/env bash
# samples/run.sh [arguments of mnist]: installs what is missing, builds the library and the MNIST sample in build/, and
# runs the sample, with "train" if there are no arguments. The exit code is the sample's exit code. The first build says
# how long it will take. `cmake --build build` builds the command and the other samples too, and tests/run.sh goes on in
# the same folder.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/../tools/setup.sh"

install_build_tools
show_nvidia
install_any_opencl
options=(CRISOL_BUILD_SAMPLES=ON CRISOL_BUILD_CLI=ON)
# A new build tree leaves the tests out, so that doctest is not needed. A tree that has the tests keeps them.
[ -e "$crisol_build/CMakeCache.txt" ] || options+=(CRISOL_BUILD_TESTS=OFF)
configure "${options[@]}"
build mnist

[ $# -gt 0 ] || set -- train
exec "$crisol_build/bin/mnist" "$@"
