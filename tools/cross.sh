#!/usr/bin/env bash
# tools/cross.sh windows|aarch64 [TARGET…]
#
# Builds library, command, samples and tests for another system, or the given targets alone, in build/windows or
# build/aarch64. Installs what is missing (Debian packages). CRISOL_CROSS_OPTIONS holds more options of CMake, separated
# by blanks.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"
source "$crisol_root/tools/cross/common.sh"

case ${1:-} in
  windows | aarch64) ;;
  -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 0 ;;
  *) die "wants a system, windows or aarch64 (see --help)" ;;
esac
reason=
prepare_cross "$1" || die "cannot build for $1: $reason"
read -ra options <<<"${CRISOL_CROSS_OPTIONS:-}"
cross_build "$1" "${options[*]:-}" "${@:2}"
