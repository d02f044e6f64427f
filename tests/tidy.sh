#!/usr/bin/env bash
# tests/tidy.sh [FILE…]
#
# clang-tidy, with the checks of .clang-tidy, over these sources or all of lib/. It needs a configured build/ and takes some
# seconds a file, so it is no part of CI.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
tidy=$(command -v clang-tidy clang-tidy-14 | head -n 1) || { echo "error: clang-tidy is missing" >&2; exit 1; }
files=("$@")
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(find lib -name '*.cpp' | sort)
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" "$tidy" -p build --quiet
echo "${#files[@]} files are clean"
