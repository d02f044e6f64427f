#!/usr/bin/env bash
# tests/tidy.sh [--since REVISION | FILE…]
#
# Runs clang-tidy with the checks of .clang-tidy. Checks the named files, or the files of lib/ and tools/ that differ from
# REVISION, or all of them. Files that are only compiled for Windows are left out. A file takes about ten seconds. Fails
# when clang-tidy finds something. Ends with 3 if clang-tidy cannot be installed.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/../tools/setup.sh"
case ${1:-} in
  -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 0 ;;
  --since)
    [ $# -eq 2 ] || die "--since wants a revision"
    changed=$(git -C "$crisol_root" diff --name-only --diff-filter=d "$2" -- 'lib/*.cpp' 'tools/*.cpp' ':!*_windows.cpp')
    mapfile -t files < <(printf '%s' "$changed")
    [ ${#files[@]} -gt 0 ] || { echo "no file of lib/ or tools/ has changed since $2"; exit 0; } ;;
  *) files=("$@") ;;
esac
tidy=$(command -v clang-tidy clang-tidy-14 | head -n 1) || true
if [ -z "$tidy" ]; then
  why=$(why_no_install)
  if [ -n "$why" ] || ! install_packages clang-tidy-14; then
    say "no clang-tidy: it is missing and cannot be installed${why:+, $why}"
    exit 3
  fi
  tidy=clang-tidy-14
fi
install_build_tools doctest/doctest.h
# Its own tree, which knows how each file is compiled alone. Nothing is built there.
crisol_build=$crisol_build/tidy
configure CRISOL_UNITY=OFF CRISOL_BUILD_TESTS=ON CRISOL_BUILD_CLI=ON CRISOL_BUILD_SAMPLES=ON
cd -- "$crisol_root"
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(find lib tools -name '*.cpp' ! -name '*_windows.cpp' | sort)
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" "$tidy" -p "$crisol_build" --quiet \
  2> >(grep -v ' warnings generated\.$' >&2)
echo "${#files[@]} files are clean"
