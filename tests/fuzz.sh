#!/usr/bin/env bash
# tests/fuzz.sh [--seconds N] [NAME…]
#
# Builds fuzzers in build/fuzz/, by clang with its sanitizers, and runs each for N seconds (10). Inputs come from the
# seeds in tests/fuzz/seeds/ and from earlier runs (build/fuzz/corpus/).
# Names: csv idx image npy onnx safetensors device_spec disk_cache tuning are the default, because they need few of the
# library's sources.
# onnx_model and ops need all sources.
# Fails when a fuzzer finds something; the input is then in build/fuzz/findings/. Ends with 3 if clang is missing and
# cannot be installed.
set -euo pipefail
: "${CXX:=$(command -v clang++ clang++-14 | head -n 1)}"
export CXX
source "$(dirname -- "${BASH_SOURCE[0]}")/../tools/setup.sh"

seconds=10
names=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) [ $# -ge 2 ] || die "--seconds wants a number"; seconds=$2; shift 2 ;;
    csv | idx | image | npy | onnx | onnx_model | safetensors | device_spec | disk_cache | tuning | ops) names+=("$1"); shift ;;
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 0 ;;
    *) die "unknown argument $1 (see --help)" ;;
  esac
done
[ ${#names[@]} -gt 0 ] || names=(csv idx image npy onnx safetensors device_spec disk_cache tuning)

if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
  "${CXX:-clang++}" -x c++ -fsanitize=fuzzer,address,undefined -fuse-ld=lld - -o /dev/null 2>/dev/null; then
  why=$(why_no_install)
  if [ -n "$why" ] || ! install_packages clang-14 libclang-rt-14-dev lld; then
    say "no fuzzing: clang with libFuzzer is missing and cannot be installed${why:+, $why}"
    exit 3
  fi
  CXX=clang++-14
fi
install_build_tools
[ -s /etc/OpenCL/vendors/pocl.icd ] || install_packages pocl-opencl-icd || die "PoCL is missing"

crisol_build=$crisol_build/fuzz
configure CMAKE_CXX_FLAGS_RELEASE=-O1 CRISOL_BUILD_FUZZERS=ON CRISOL_SANITIZE=address,undefined CRISOL_BUILD_TESTS=OFF \
  CRISOL_BUILD_CLI=OFF CRISOL_BUILD_SAMPLES=OFF
build "${names[@]/#/fuzz_}"

mkdir -p -- "$crisol_build/icd" "$crisol_build/cache" "$crisol_build/findings"
cp -- /etc/OpenCL/vendors/pocl.icd "$crisol_build/icd/"
fuzz() {
  local name=$1
  mkdir -p -- "$crisol_build/corpus/$name"
  env OCL_ICD_VENDORS="$crisol_build/icd" CRISOL_CACHE_DIR="$crisol_build/cache" UBSAN_OPTIONS=print_stacktrace=1 \
    LSAN_OPTIONS="suppressions=$crisol_root/tests/sanitizers/leak.supp:print_suppressions=0" \
    "$crisol_build/bin/fuzz_$name" -max_total_time="$seconds" -timeout=60 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$crisol_build/findings/$name-" "$crisol_build/corpus/$name" "$crisol_root/tests/fuzz/seeds/$name" \
    </dev/null >"$crisol_build/$name.log" 2>&1
}
# All run at once, because they wait for files and for PoCL as much as they compute.
declare -A process=()
for name in "${names[@]}"; do
  fuzz "$name" &
  process[$name]=$!
done
status=0
for name in "${names[@]}"; do
  if wait "${process[$name]}"; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' -- "$crisol_build/$name.log")
    say "fuzz_$name: $runs inputs in $seconds s, nothing found"
  else
    tail -n 60 -- "$crisol_build/$name.log" >&2
    say "fuzz_$name: found something (build/fuzz/$name.log)"
    status=1
  fi
done
exit $status
