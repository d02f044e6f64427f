#!/usr/bin/env bash
# tests/onnx/run.sh [--json FILE] [--only TEXT] [--verbose]
#
# Runs the node tests of ONNX, which its Python package brings, on the default device. Prints a table by op: passed,
# refused when the model was loaded, refused when it ran, wrong. --json writes the outcome of each test, --only takes tests
# whose names contain a text, --verbose says why tests did not pass.
# Installs onnx in build/onnx/, and onnxruntime for the tests of onnx::save (tests/onnx/save_test.cpp). Ends with 1 if an output was wrong, and with 3 if Python or the package is missing and
# cannot be installed.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/../../tools/setup.sh"

case ${1:-} in
  -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 0 ;;
esac
version=1.23.2
python=$crisol_build/onnx/bin/python
mkdir -p -- "$crisol_build"
if ! "$python" -c "import onnx, sys; sys.exit(onnx.__version__ != '$version')" 2>/dev/null; then
  if ! { python3 -m venv "$crisol_build/onnx" && "$python" -m pip install "onnx==$version"; } >"$crisol_build/onnx.log" 2>&1; then
    say "no node tests of ONNX: onnx $version cannot be installed ($crisol_build/onnx.log)"
    exit 3
  fi
fi
if ! "$python" -c "import onnxruntime" 2>/dev/null; then
  "$python" -m pip install onnxruntime >>"$crisol_build/onnx.log" 2>&1 ||
    say "no ONNX Runtime for the tests of onnx::save ($crisol_build/onnx.log)"
fi
install_build_tools
install_any_opencl
configure
build crisol
exec "$python" "$crisol_root/tests/onnx/conformance.py" --library "$crisol_build/lib/libcrisol.so" "$@"
