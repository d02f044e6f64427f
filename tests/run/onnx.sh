# shellcheck shell=bash
# Sourced by tests/run.sh: the rows "onnx", "onnx-models", "onnx-fitted" and "ort", on PoCL.

source "$crisol_root/tests/onnx/python.sh"

prepare_onnx() {
  prepare_pocl && install_python_packages "onnx==$onnx_version" "onnxruntime==$onnxruntime_version"
}
prepare_onnx-models() {
  prepare_onnx && download_onnx_models
}
prepare_onnx-fitted() {
  prepare_onnx && install_python_packages "${onnx_fitted_packages[@]}"
}

prepare_ort() {
  prepare_onnx && install_python_packages "pillow==$pillow_version" &&
    onnx_python=$oldest_onnx_python install_python_packages "onnx==$onnx_version" "onnxruntime==$oldest_onnxruntime_version"
}

# run_onnx_python NAME PROGRAM ARGUMENT…: a Python program on PoCL. Its output is appended to NAME.log.
run_onnx_python() {
  local clean
  mapfile -t clean < <(foreign_variables)
  watched "$work/$1.progress" env "${clean[@]}" -u OCL_ICD_FILENAMES "OCL_ICD_VENDORS=$work/icd/pocl" \
    "CRISOL_CACHE_DIR=$(cache_of "$1")" "${pocl_variables[@]}" "$onnx_python" "$crisol_root/tests/$2" "${@:3}" \
    </dev/null >>"$work/$1.log" 2>&1
}

# run_onnx_program NAME PROGRAM ARGUMENT…: a program of tests/onnx/programs on PoCL.
run_onnx_program() {
  local start=$SECONDS status=0
  run_onnx_python "$1" "onnx/programs/$2" --library "$crisol_build/lib/libcrisol.so" --json "$work/$1.json" "${@:3}" ||
    status=$?
  take_counts "$1" "$status" "$start" onnx
}
run_onnx() { run_onnx_program onnx conformance.py --least "$onnx_least_passed"; }
run_onnx-models() { run_onnx_program onnx-models real_models.py --least "$onnx_least_models"; }
run_onnx-fitted() { run_onnx_program onnx-fitted fitted_models.py --least "$onnx_least_fitted"; }
run_ort() {
  local start=$SECONDS status=0 library=$crisol_build/lib/libcrisol_ort.so part=0/1 sessions=1000
  if [ -n "$plain" ]; then
    part=$((commit_number % 16))/16 sessions=200
    say "ort: part $part of ONNX's own tests, $sessions sessions; --only ort and --long run all, and 1,000 sessions"
  fi
  run_onnx_python ort onnxruntime/sessions.py --library "$library" --sessions "$sessions" || status=$?
  onnx_python=$oldest_onnx_python run_onnx_python ort onnxruntime/sessions.py --library "$library" \
    --sessions "$sessions" || status=$?
  run_onnx_python ort onnxruntime/conformance_with_provider.py --library "$library" --part "$part" \
    --least-share 0.8 || status=$?
  # Three programs, three lines of counts.
  awk '/^ort: [0-9]+ passed, [0-9]+ failed/ { p += $2; f += $4; s += $6 } END { printf "all-ort: %d passed, %d failed, %d skipped\n", p, f, s }' \
    "$work/ort.log" >>"$work/ort.log"
  take_counts ort "$status" "$start" all-ort
}
