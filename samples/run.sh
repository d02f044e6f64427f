#!/usr/bin/env bash
# samples/run.sh [arguments of mnist]: installs what is missing, builds in build/, runs the MNIST sample ("train" without
# arguments). The exit code is the sample's.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/../tools/setup.sh"

install_build_tools
install_any_opencl
# A tree that was configured for the tests stays so.
if [ -e "$crisol_build/CMakeCache.txt" ]; then configure; else configure CRISOL_BUILD_TESTS=OFF; fi
build mnist crisol_cli

[ $# -gt 0 ] || set -- train
exec "$crisol_build/bin/mnist" "$@"
