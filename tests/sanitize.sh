#!/usr/bin/env bash
# tests/sanitize.sh [address,undefined|thread]… [-- arguments of doctest]
#
# Builds library and tests with sanitizers, in build/address/ and build/thread/, and runs the tests on PoCL. Without a
# name, runs both. Ends with "N passed, N failed". Fails when a test failed or a sanitizer reported something. Logs are
# in the build folders. Both take longer than plain tests, even at -O1, so they are not part of tests/run.sh.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/../tools/setup.sh"

selected=()
doctest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    address,undefined | thread) selected+=("$1"); shift ;;
    --) shift; doctest_arguments=("$@"); break ;;
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 0 ;;
    *) die "unknown argument $1 (see --help)" ;;
  esac
done
[ ${#selected[@]} -gt 0 ] || selected=(address,undefined thread)

install_build_tools doctest/doctest.h
[ -s /etc/OpenCL/vendors/pocl.icd ] || install_packages pocl-opencl-icd || die "PoCL is missing"
everything=$crisol_build supp=$crisol_root/tests/sanitizers
# These tests compile programs, which would have to be linked with the sanitizer too.
compiling='*docs/docs_test*,*docs/adding_op_test*,*install_test*,*package_test*,*exported_symbols_test*'
# This test crashes on purpose, and a sanitizer reports the crash with its own text.
crashing='report: a driver that crashes*'
total_passed=0 total_failed=0
for sanitizers in "${selected[@]}"; do
  crisol_build=$everything/${sanitizers%%,*}
  configure "CRISOL_SANITIZE=$sanitizers" "CMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" CRISOL_BUILD_TESTS=ON CRISOL_BUILD_CLI=ON CRISOL_BUILD_SAMPLES=ON
  build
  mkdir -p -- "$crisol_build/icd" "$crisol_build/cache"
  cp -- /etc/OpenCL/vendors/pocl.icd "$crisol_build/icd/"
  say "Testing with $sanitizers (log: $crisol_build/tests.log)"
  status=0
  env OCL_ICD_VENDORS="$crisol_build/icd" CRISOL_CACHE_DIR="$crisol_build/cache" \
    CRISOL_TEST_EXPECT_PLATFORM="Portable Computing Language" \
    UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS="suppressions=$supp/leak.supp:print_suppressions=0" \
    TSAN_OPTIONS="suppressions=$supp/thread.supp:second_deadlock_stack=1" \
    "$crisol_build/bin/crisol_tests" "--source-file-exclude=$compiling" "--test-case-exclude=$crashing" "${doctest_arguments[@]}" </dev/null >"$crisol_build/tests.log" 2>&1 || status=$?
  read -r passed failed _ < <(sed -n 's/^crisol_tests: \([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' \
    "$crisol_build/tests.log" | tail -n 1; echo "0 0")
  reports=$(grep -acE '(Sanitizer|runtime error): ' -- "$crisol_build/tests.log") || true
  grep -aE '^\[(failed|skipped)\] ' -- "$crisol_build/tests.log" || true
  say "$sanitizers: $passed passed, $failed failed, $reports reports, exit code $status"
  if [ "$status" -ne 0 ] || [ "$reports" -ne 0 ]; then
    [ "$failed" -gt 0 ] || failed=1
  fi
  total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
done
echo "$total_passed passed, $total_failed failed"
[ $total_failed -eq 0 ] && [ $total_passed -gt 0 ]
