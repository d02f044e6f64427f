# shellcheck shell=bash
# Sourced by tests/run.sh: the row "torch", the device of PyTorch on PoCL. CRISOL_TORCH_PYTHON names a Python that has
# PyTorch and pytest. The row is left out without it, because PyTorch's packages take 5 GB.

platform[torch]=${platform[pocl]}
torch_python=${CRISOL_TORCH_PYTHON:-}

have_torch() { [ -n "$torch_python" ] && "$torch_python" -c 'import pytest, torch' 2>/dev/null; }
# Options with which CMake builds the device.
torch_options() {
  if have_torch && [ -e "$python_tests/installed.txt" ]; then
    printf '%s\n' CRISOL_BUILD_TORCH=ON "CRISOL_TORCH_PYTHON=$torch_python"
  fi
}

prepare_torch() {
  reason="CRISOL_TORCH_PYTHON names no Python that has PyTorch and pytest"
  have_torch || return 1
  prepare_pocl && install_python
}
run_torch() {
  run_python_command torch pocl "PYTHONPATH=$crisol_build/python:$crisol_root/tests/python:$crisol_root/tests/torch_device" \
    "$torch_python" "${pytest_arguments[@]}" "$crisol_root/tests/torch_device"
}
