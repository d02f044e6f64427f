#!/usr/bin/env bash
# tests/python/array_api/run.sh [--examples N] [-- arguments of pytest]
#
# Runs the Array API standard's own test suite (data-apis/array-api-tests), version 2025.12, on the default device.
# CRISOL_ARRAY_API_TESTS names the folder with the suite, because it is not on PyPI. Examples are derandomised: every run
# tries the same N ones, by default 100. tests/python/array_api/skips.txt names the tests that are left out, with reasons.
# Ends with 3 if the suite or Python is missing.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/../../../tools/setup.sh"
source "$crisol_root/tests/python/python.sh"
examples=100
while [ $# -gt 0 ]; do
  case $1 in
    --examples) examples=$2; shift 2 ;;
    --) shift; break ;;
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 0 ;;
    *) die "unknown argument $1 (see --help)" ;;
  esac
done
reason=
if ! find_array_api_tests || ! install_python; then
  say "no Array API tests: $reason"
  exit 3
fi
export ARRAY_API_TESTS_MODULE=crisol.array_api ARRAY_API_TESTS_VERSION=2025.12
# The suite's own switch for libraries with fewer types.
export ARRAY_API_TESTS_SKIP_DTYPES=complex64,complex128
export PYTHONPATH=$crisol_root/tests/python/array_api:${PYTHONPATH:-$crisol_build/python:$crisol_root/tests/python}
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=$python_bytecode
export HYPOTHESIS_STORAGE_DIRECTORY=$crisol_build/tests/hypothesis
cd -- "$CRISOL_ARRAY_API_TESTS" # Its conftest.py is read only from there.
exec "$python_of_tests" "${pytest_arguments[@]}" -p array_api_plugin --max-examples "$examples" --derandomize \
  --disable-deadline --skips-file "$crisol_root/tests/python/array_api/skips.txt" "$@" array_api_tests
