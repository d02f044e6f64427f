#!/usr/bin/env bash
# tests/run.sh [--long] [--only NAME,…] [-- arguments of doctest]
#
# Installs what is missing, builds everything in build/, and runs the tests. A plain run tests:
#   gpu                   each GPU that the drivers of this machine show: all tests
#   pocl                  an OpenCL implementation on the CPU: all ops, half of the layers above the ops, a sixteenth of
#                         the long tests, and the tests that need no driver. For fifteen of sixteen test files it compiles
#                         kernels without optimization
#   intel                 another implementation on the CPU: a quarter of the test files of the ops, the other half of the
#                         layers above the ops, another sixteenth of the long tests, and the tests of drivers
#   rusticl               another implementation on the CPU: a sixteenth of the test files that run kernels
#   oclgrind              a simulator that reports invalid accesses and races: another sixteenth of them
#   pocl-6 rusticl-25     the implementations of Debian 13, in a root below build/: all ops by crisol selftest, and half of
#                         the test files of products, convolutions, recurrent layers, reductions, softmax and losses
#   as-nvidia             a CPU that poses as NVIDIA's GPU: an eighth of the test files of the ops
#   dist                  training on two and three ranks of MPI, on PoCL (tests/dist/run.sh)
#   onnx                  ONNX's own tests on PoCL, from its Python package (tests/onnx/run.sh)
#   onnx-models           models that packages of PyPI bring, compared with ONNX Runtime (tests/onnx/run.sh --real)
#   onnx-fitted           models that scikit-learn, LightGBM and XGBoost fit, compared likewise (tests/onnx/run.sh --fitted)
#   ort                   ONNX Runtime with crisol's provider, on PoCL (tests/onnxruntime/run.sh): sessions in its oldest and
#                         its newest version, and a sixteenth of ONNX's own tests. --only and --long run all of these tests,
#                         and 1,000 sessions in the test of leaks instead of 200
#   python python-intel   the Python package (tests/python): half of the test files on PoCL, the others on Intel's runtime
#   torch                 the device of PyTorch on PoCL, where CRISOL_TORCH_PYTHON names a Python that has PyTorch
#   array-api             the Array API standard's own tests on Intel's runtime, where CRISOL_ARRAY_API_TESTS names them
#   fuzz-python           random programs of the Python package and random ONNX models, on PoCL; --only and --long run it
#   windows aarch64       builds for Windows (by Wine) and for 64-bit ARM (by qemu): some ops by crisol selftest
#   offline               the vendors' compilers for GPUs that are not here: one target of one vendor, by the commit's hash
# The commit's hash chooses the parts and the sixteenths above. So a run ends soon, and a few commits test everything. The
# long tests are the suite "long" of the test program. The hash also chooses which kernels PoCL compiles with
# optimization: those of a sixteenth of the test files. For dist, onnx, onnx-models, onnx-fitted and python, PoCL compiles
# all kernels without it. Of pocl-6, rusticl-25, windows and aarch64 the hash chooses one. windows and aarch64 are whole
# builds. If it is none of these two, the hash also chooses one of rusticl and oclgrind.
# --only NAME,… runs only the implementations of these names. Each runs all its tests, long ones too, with optimization.
# Only windows and aarch64 compile kernels without it. as-amd, as-intel and wheel run only with --only or --long. wheel
# makes the Python wheels, and tests them in roots of Debian 12 and 13.
# --long runs all tests on intel, rusticl, oclgrind, pocl-6, rusticl-25 and the posing CPUs, all ops on windows, some on
# aarch64, and all offline targets. A release needs such a run.
#
# Prints a table and ends with "N passed, N failed". The numbers count test cases, summed over all runs. For windows and
# aarch64 they count ops, and for offline they count targets. For onnx, onnx-models and onnx-fitted they count models, and
# models that the library refuses count as skipped. An implementation that is missing and cannot be installed is left
# out, and the table says why. Only PoCL is required. Fails when a test failed or a run crashed. Also fails when PoCL was
# wanted and not tested, or when --only named a GPU and none was tested. Logs: build/tests/.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/../tools/setup.sh"

all_implementations=(gpu pocl intel rusticl oclgrind pocl-6 rusticl-25 as-nvidia as-amd as-intel dist onnx onnx-models onnx-fitted ort python python-intel torch array-api fuzz-python wheel windows aarch64 offline)
work=$crisol_build/tests # Logs, caches, and for each implementation a folder of .icd files that names only it.

selected=("${all_implementations[@]}")
named= # Whether the user names what to test.
long=  # Whether the user wants the slow parts too.
doctest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --only) [ $# -ge 2 ] || die "--only wants names: ${all_implementations[*]}"
      IFS=, read -ra selected <<<"$2"; named=yes; shift 2 ;;
    --only=*) IFS=, read -ra selected <<<"${1#*=}"; named=yes; shift ;;
    --long) long=yes; shift ;;
    --) shift; doctest_arguments=("$@"); break ;;
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 0 ;;
    *) die "unknown argument $1 (see --help)" ;;
  esac
done
for name in "${selected[@]}"; do
  [[ " ${all_implementations[*]} " == *" $name "* ]] || die "unknown implementation $name; there are: ${all_implementations[*]}"
done

for part in run/turns run/implementations run/results run/table run/onnx gpu/offline watch platforms/debian13 \
  platforms/aarch64 platforms/windows platforms/pose dist/run python/rows torch_device/rows; do
  source "$crisol_root/tests/$part.sh"
done

mkdir -p -- "$work"
rm -f -- "$work"/*.log
install_build_tools doctest/doctest.h
for tool in make pkg-config; do # For programs that are built with the installed library.
  need_package "$tool" have_command "$tool" || die "$reason"
done
# What is built depends on MPI and on Python's packages. Everything else is installed during the build.
if is_selected dist; then install_mpi || true; fi
if is_selected dist python python-intel torch array-api fuzz-python wheel; then install_python || true; fi
build_options=(CRISOL_BUILD_TESTS=ON CRISOL_BUILD_CLI=ON CRISOL_BUILD_SAMPLES=ON)
if [ -e "$python_tests/installed.txt" ]; then build_options+=("${python_options[@]}"); else build_options+=(CRISOL_BUILD_PYTHON=OFF); fi
if is_selected torch; then mapfile -t -O ${#build_options[@]} build_options < <(torch_options); fi
configure "${build_options[@]}"
end_stage "install for the build"
build &
build_job=$!
for tool in clang-format doxygen; do # Without them, the tests of formatting and of the API reference are skipped.
  need_package "$tool" have_command "$tool" || say "note: $reason"
done
prepare "${all_implementations[@]}"
wait "$build_job" || exit 1
end_stage "build, and install for the tests"
if is_selected gpu; then find_gpus; fi
[ -z "$plain" ] || divide_tests

# Python keeps what it compiles of packages and tests, but not beside the sources.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=$python_bytecode

for name in "${selected[@]}"; do
  rm -rf -- "$(cache_of "$name")"
  mkdir -p -- "$(cache_of "$name")"
done

# Tests mostly wait for a driver's compiler, which uses one core, and now and then for other processes. So one
# implementation more than there are cores runs at a time. The slowest ones start first.
running=0
for name in "${!gpu_number[@]}" windows aarch64 pocl rusticl rusticl-25 oclgrind "${!posed_file[@]}" intel wheel fuzz-python dist onnx onnx-models onnx-fitted ort torch python python-intel array-api pocl-6 offline; do
  is_selected "$name" && [ -z "${left_out[$name]:-}" ] || continue
  if [ $running -gt "$(nproc 2>/dev/null || echo 2)" ]; then
    wait -n || true
    running=$((running - 1))
  fi
  rm -f -- "$work/$name.results"
  say "Testing: $name (build/tests/$name.log)"
  run_beside "$name" &
  running=$((running + 1))
done
wait
for name in "${selected[@]}"; do
  [ -z "${left_out[$name]:-}" ] || continue
  cat -- "$work/$name.log" 2>/dev/null || cat -- "$work/$name.output"
  take_results "$name"
  say "[time] $name: ${seconds[$name]:-?} s, ${used[$name]:-?} s of processors"
done
end_stage "all tests"

print_skips
print_table
print_failures
total_passed=0 total_failed=0 status=0
for name in "${selected[@]}"; do
  total_passed=$((total_passed + ${passed[$name]:-0}))
  total_failed=$((total_failed + ${failed[$name]:-0}))
done
if [ -n "${left_out[pocl]:-}" ]; then
  echo "PoCL must be tested, and was not."
  status=1
fi
if [ -n "$named" ] && [ -n "${left_out[gpu]:-}" ]; then
  echo "A GPU was to be tested, and there is none."
  status=1
fi
[ $total_failed -eq 0 ] && [ $total_passed -gt 0 ] || status=1
echo "$total_passed passed, $total_failed failed"
exit $status
