#!/usr/bin/env bash
# tests/onnx/run.sh [--json FILE] [--summary FILE] [--only TEXT] [--sets LIST] [--verbose]
# tests/onnx/run.sh --real [--json FILE] [--only TEXT] [--time] [--memory] [--first] [--torch PYTHON]
# tests/onnx/run.sh --fitted [--json FILE] [--only TEXT] [--time ROWS…]
#
# Runs ONNX's own tests on the default device: the tests of single nodes, and the models that the onnx package brings.
# Prints a table by op and one by set: passed, refused when the model was loaded, refused when it ran, wrong. --json
# writes the outcome of each test, --summary the counts as docs/results/onnx/crisol.json has them. --only takes tests
# whose names contain a text, --sets some of node,simple,light,pytorch-converted,pytorch-operator. --verbose says why
# tests did not pass.
# --real downloads packages of PyPI with models, some 130 MB, and compares crisol with ONNX Runtime on them. With --time it
# measures both, in turns of half a second. With --memory it measures the peak of memory of both, and with --first the
# time to the first result, each in a process of its own. --torch takes networks of torchvision too, which a Python with
# torch, torchvision, onnx and onnxscript exports (tests/onnx/programs/export_models.py).
# --fitted fits models with scikit-learn, LightGBM and XGBoost, and compares crisol with ONNX Runtime on them. With --time
# it measures both, with batches of these numbers of rows.
# Installs Python's packages in build/onnx/. Ends with 1 if an output was wrong or too few tests passed, and with 3 if
# Python or a package is missing and cannot be installed.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/../../tools/setup.sh"
source "$crisol_root/tests/onnx/python.sh"

program=conformance.py least=$onnx_least_passed
packages=("onnx==$onnx_version" "onnxruntime==$onnxruntime_version")
case ${1:-} in
  -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 0 ;;
  --real) shift; program=real_models.py least=$onnx_least_models ;;
  --fitted) shift; program=fitted_models.py least=$onnx_least_fitted; packages+=("${onnx_fitted_packages[@]}") ;;
esac
[[ "$*" == *--only* || "$*" == *--sets* ]] || set -- --least "$least" "$@"
if ! install_python_packages "${packages[@]}" || { [ $program = real_models.py ] && ! download_onnx_models; }; then
  say "no tests of ONNX: $reason"
  exit 3
fi
install_build_tools
install_any_opencl
configure
build crisol
exec "$onnx_python" "$crisol_root/tests/onnx/programs/$program" --library "$crisol_build/lib/libcrisol.so" "$@"
