# shellcheck shell=bash
# Sourced by tests/run.sh: the rows "python" (PoCL), "python-intel", "array-api" (Intel's runtime), "fuzz-python" (PoCL)
# and "wheel".

source "$crisol_root/tests/python/python.sh"
platform[python]=${platform[pocl]} platform[python-intel]=${platform[intel]} platform[array-api]=${platform[intel]}
platform[fuzz-python]=${platform[pocl]}

prepare_python() { prepare_pocl && install_python; }
prepare_python-intel() { prepare_intel && install_python; }
prepare_array-api() { find_array_api_tests && prepare_intel && install_python; }
prepare_fuzz-python() {
  reason="takes minutes; --only and --long run it"
  [ -n "$named$long" ] || return 1
  prepare_pocl && install_python || return 1
  onnx_python=$python_of_tests install_python_packages "onnx==$onnx_version" "onnxruntime==$onnxruntime_version"
}
prepare_wheel() {
  reason="takes minutes; --only and --long test it"
  [ -n "$named$long" ] || return 1
  reason="roots of Debian need root"
  [ "$(id -u)" -eq 0 ] || return 1
  install_python
}

# run_python_command NAME ICD COMMAND…: a command with the built package on one implementation. The command ends with a
# line "python: N passed, N failed, N skipped".
run_python_command() {
  local name=$1 icd=$2 log=$work/$1.log clean its_variables start=$SECONDS status=0
  mapfile -t clean < <(foreign_variables)
  mapfile -t its_variables < <(grep . <<<"${variables[$icd]:-}")
  watched "$work/$name.progress" env "${clean[@]}" -u OCL_ICD_FILENAMES "OCL_ICD_VENDORS=$work/icd/$icd" \
    "CRISOL_CACHE_DIR=$(cache_of "$name")" "CRISOL_TEST_EXPECT_PLATFORM=${platform[$name]:-}" "${its_variables[@]}" \
    "PYTHONPATH=$crisol_build/python:$crisol_root/tests/python" "${@:3}" </dev/null >"$log" 2>&1 || status=$?
  take_counts "$name" "$status" "$start" python
}

# run_python_suite NAME ICD OTHER NUMBER: all tests of the package. A plain run takes every second test file, from NUMBER
# on, if the row OTHER runs too.
run_python_suite() {
  local files=("$crisol_root/tests/python")
  [ -z "$plain" ] || [ -n "${left_out[$3]:-}" ] || mapfile -t files < <(
    find "$crisol_root/tests/python" -name 'test_*.py' | LC_ALL=C sort | awk -v number="$4" 'NR % 2 == number % 2'
  )
  run_python_command "$1" "$2" "$python_of_tests" "${pytest_arguments[@]}" "${files[@]}"
}
run_python() { run_python_suite python pocl python-intel "$turn"; }
run_python-intel() { run_python_suite python-intel intel python $((turn + 1)); }
run_array-api() {
  run_python_command array-api intel "CRISOL_ARRAY_API_TESTS=$CRISOL_ARRAY_API_TESTS" \
    "$crisol_root/tests/python/array_api/run.sh" --examples 5
}
run_fuzz-python() {
  run_python_command fuzz-python pocl "$python_of_tests" "$crisol_root/tests/python/fuzz" --seconds 1200
}
run_wheel() { run_python_command wheel none "$crisol_root/tests/python/wheels/run.sh"; }
