#!/usr/bin/env bash
# tests/mutate.sh [--only OP,…] [--after N] [-- arguments of doctest]
#
# Shows that the tests notice a variant that refuses every problem. First runs the tests of ops and functions on the
# default device, or the tests that the arguments select. In this run each case states which variants it must run. Then
# lets one variant after the other refuse everything, and runs its cases until one fails. Prints a line for each variant
# that the device could take: "red" and the case that failed, or "NOT NOTICED". Ends with "N red, N not noticed", and
# fails when a variant was not noticed. --only OP,… takes only the variants of these ops. --after N lets each variant
# take N problems of a case before it refuses the others. Then a case with at most N problems cannot fail. Logs:
# build/mutate/. OCL_ICD_VENDORS and CRISOL_DEVICE choose another device. Takes half an hour on PoCL, so it is no part
# of tests/run.sh.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/../tools/setup.sh"

only=  # Ops between commas, or nothing for all ops.
after=0 # Problems that a variant takes before it refuses.
doctest_arguments=('--source-file=*/tests/ops/*,*/tests/functions/*')
while [ $# -gt 0 ]; do
  case $1 in
    --only) [ $# -ge 2 ] || die "--only wants names of ops"; only=,$2,; shift 2 ;;
    --after) [ $# -ge 2 ] || die "--after wants a number"; after=$2; shift 2 ;;
    --) shift; doctest_arguments=("$@"); break ;;
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 0 ;;
    *) die "unknown argument $1 (see --help)" ;;
  esac
done

install_build_tools doctest/doctest.h
configure CRISOL_BUILD_TESTS=ON CRISOL_BUILD_CLI=ON CRISOL_BUILD_SAMPLES=ON
build
work=$crisol_build/mutate statements=$crisol_build/mutate/statements
mkdir -p -- "$work"
rm -f -- "$work"/*.log "$statements"
export CRISOL_CACHE_DIR=${CRISOL_CACHE_DIR:-$work/cache}

tests() { "$crisol_build/bin/crisol_tests" "$@" </dev/null; }

say "Running the tests once (log: $work/tests.log)"
CRISOL_TEST_STATEMENTS=$statements tests "${doctest_arguments[@]}" >"$work/tests.log" 2>&1 ||
  die "these tests fail without a change: $(grep -a '^\[failed\]' -- "$work/tests.log" || echo "see $work/tests.log")"

# notices VARIANT CASE: whether the case fails when the variant refuses everything. Filters split names at commas.
notices() {
  local log=$work/${1/:/-}.log
  CRISOL_TEST_REFUSE=$1:$after tests "--test-case=${2//,/?}" >>"$log" 2>&1 || true
  grep -qaxF "[failed] $2" -- "$log"
}

red=0 missed=0
while read -r variant; do
  [ -z "$only" ] || [[ "$only" == *",${variant%%:*},"* ]] || continue
  noticed=
  mapfile -t cases < <(awk -F'\t' -v variant="$variant" '$1 == variant && NF == 2 { print $2 }' "$statements")
  for case in "${cases[@]}"; do
    if notices "$variant" "$case"; then noticed=$case; break; fi
  done
  if [ -n "$noticed" ]; then
    red=$((red + 1))
    printf '%-40s red: %s\n' "$variant" "$noticed"
  else
    missed=$((missed + 1))
    printf '%-40s NOT NOTICED, %s\n' "$variant" "$([ ${#cases[@]} -eq 0 ] && echo "no case must run it here" || echo "by ${#cases[@]} cases")"
  fi
done < <(grep -v $'\t' -- "$statements" | sort -u)
echo "$red red, $missed not noticed"
[ $missed -eq 0 ] && [ $red -gt 0 ]
