# shellcheck shell=bash
# Sourced by tests/run.sh and the scripts of this folder: the Python environment of the tests, in build/python-tests.

python_tests=$crisol_build/python-tests
python_of_tests=$python_tests/bin/python
python_bytecode=$python_tests/bytecode # None is written beside the sources.

have_python_headers() {
  python3 -c 'import os, sys, sysconfig
sys.exit(sys.version_info < (3, 11) or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' 2>/dev/null
}
have_python_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null; }

# install_python: Python with headers, and an environment with the packages of requirements.txt. Fails without one of them,
# and says why in `reason`. Python compiles the modules that it imports. To compile all takes half of the time of pip.
install_python() {
  local requirements=$crisol_root/tests/python/requirements.txt package
  cmp -s -- "$requirements" "$python_tests/installed.txt" && return 0
  for package in headers:python3-dev venv:python3-venv; do
    "have_python_${package%%:*}" && continue
    reason=$(why_no_install)
    [ -z "$reason" ] || { reason="${package##*:} is missing, $reason"; return 1; }
    reason="Python 3.11 or later with ${package##*:} cannot be installed"
    install_packages "${package##*:}" && "have_python_${package%%:*}" || return 1
  done
  reason="python3 -m venv failed"
  [ -x "$python_of_tests" ] || run_logged python-venv "Making a Python environment for tests" \
    python3 -m venv -- "$python_tests" || return 1
  reason="the packages of tests/python/requirements.txt cannot be installed from PyPI"
  run_logged python-pip "Installing packages for the Python tests from PyPI" \
    "$python_of_tests" -m pip install --disable-pip-version-check --no-compile -r "$requirements" || return 1
  cp -- "$requirements" "$python_tests/installed.txt"
}

# Options with which CMake builds the extension for that environment.
python_options=(CRISOL_BUILD_PYTHON=ON "Python_EXECUTABLE=$python_of_tests")

# The arguments of pytest that every run has. PYTHONPATH must name the built package and this folder.
pytest_arguments=(-m pytest -q -rN -p no:cacheprovider -p results_plugin)

# The folder of the Array API standard's test suite, which is not on PyPI.
find_array_api_tests() {
  reason="CRISOL_ARRAY_API_TESTS names no folder with the Array API standard's test suite (data-apis/array-api-tests)"
  [ -d "${CRISOL_ARRAY_API_TESTS:-}/array_api_tests" ]
}
