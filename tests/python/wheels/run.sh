#!/usr/bin/env bash
# tests/python/wheels/run.sh [--no-build]
#
# Makes the wheels (tools/wheel.sh), and tests each one in a bare root in build/wheel, as a user who is not root: the one for
# Python 3.11 in Debian 12, the one for 3.12 and later in Debian 13. The roots have Python and no compiler. In each:
#   1. Without an OpenCL driver, the error says what to install.
#   2. crisol[cpu] finds Intel's runtime from PyPI. The wheel's own loader loads it.
#   3. With PoCL and the loader of Debian, both PoCL and Intel's runtime show their devices.
#   4. Without the extra, the wheel runs on PoCL.
#   5. The command `crisol` of the environment runs.
#   6. ONNX Runtime from PyPI computes with the provider's wheel.
#   7. All Python tests pass on Intel's runtime, with the installed wheel.
# --no-build tests the wheels that build/wheels holds. Ends with "python: N passed, N failed, N skipped", and with 3 if
# something is missing.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/../../../tools/setup.sh"
source "$crisol_root/tests/python/python.sh"
source "$crisol_root/tests/onnx/python.sh"
wheels=$crisol_build/wheels
work=$crisol_build/wheel
case ${1:-} in
  -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 0 ;;
  --no-build) ;;
  *) "$crisol_root/tools/wheel.sh" "$wheels" ;;
esac
reason=
install_python || { say "no tests of wheels: $reason"; exit 3; }

# inside ROOT COMMAND…: runs a command in a root as root. /crisol is the checkout.
inside() {
  unshare --mount bash -ec '
    root=$1; shift
    mkdir -p -- "$root/crisol"
    for folder in proc sys dev; do mount --rbind "/$folder" "$root/$folder"; done
    mount --rbind "$0" "$root/crisol"
    exec chroot -- "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root "$@"' \
    "$crisol_root" "$@"
}
as_user() { inside "$1" setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/home/user "${@:2}"; }

passed=0 failed=0
# check TEXT COMMAND…: one test case.
check() {
  echo "== $1"
  if "${@:2}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "[failed] $1"
  fi
}

# download PYTHON FOLDER: downloads the packages that the root installs, because the root has no certificates for PyPI.
download() {
  [ ! -e "$2/complete" ] || return 0
  mkdir -p -- "$2"
  run_logged "wheel-download-$1" "Downloading packages for Python $1 from PyPI" \
    "$python_of_tests" -m pip download --disable-pip-version-check --only-binary=:all: --python-version "$1" \
    --dest "$2" intel-opencl-rt intel-cmplr-lib-rt "onnxruntime==$onnxruntime_version" -r "$crisol_root/tests/python/requirements.txt" || exit 3
  : >"$2/complete"
}

# environment ROOT NAME PACKAGE…: a fresh Python environment /home/user/NAME with these packages.
environment() {
  as_user "$1" sh -ec 'rm -rf "/home/user/$0"; python3 -m venv "/home/user/$0"; name=$0
    "/home/user/$name/bin/pip" install --quiet --no-index --find-links /home/user/packages --find-links /crisol/build/wheels "$@"' \
    "${@:2}"
}

# show ROOT NAME PLATFORM…: a program in environment NAME must see exactly these platforms.
show() { as_user "$1" "/home/user/$2/bin/python" /crisol/tests/python/wheels/wheel_program.py "${@:3}"; }

test_suite() {
  as_user "$1" sh -ec 'cd /home/user; rm -rf tests; cp -r /crisol/tests/python tests; mkdir -p cache
    exec env PYTHONPATH=tests CRISOL_CACHE_DIR=/home/user/cache CRISOL_TEST_EXPECT_PLATFORM="Intel(R) OpenCL" \
      CRISOL_DEVICE="Intel(R) OpenCL" CRISOL_TEST_ROOT=/crisol \
      full/bin/python -m pytest -q -rN -p no:cacheprovider -p results_plugin tests'
}

# test_root SUITE PYTHON: all test cases in one root.
test_root() {
  local suite=$1 root=$work/$1
  [ -e "$root" ] || run_logged "wheel-$suite" "Making a root of Debian (build/wheel/$suite)" \
    make_debian_root "$suite" "$root" python3-venv || exit 3
  download "$2" "$work/packages-$2"
  # A run that was ended may have left packages half installed.
  inside "$root" sh -ec 'dpkg --configure -a; apt-get -q update
    apt-get -q -y purge --auto-remove pocl-opencl-icd ocl-icd-libopencl1 || true
    mkdir -p /home/user; chown 1000:1000 /home/user' >"$crisol_build/wheel-$suite-purge.log" 2>&1
  rm -rf -- "$root/home/user/packages"
  cp -rl -- "$work/packages-$2" "$root/home/user/packages"
  ! inside "$root" sh -c 'command -v cc c++ g++ clang' || die "the root has a compiler"
  check "$suite: installing the wheel" environment "$root" plain crisol
  check "$suite: without a driver, the error says what to install" show "$root" plain
  check "$suite: installing crisol[cpu]" environment "$root" cpu "crisol[cpu]"
  check "$suite: Intel's runtime by the wheel's loader" show "$root" cpu "Intel(R) OpenCL"
  check "$suite: installing Debian's PoCL" inside "$root" apt-get -q -y install --no-install-recommends pocl-opencl-icd
  check "$suite: Intel's runtime beside PoCL" show "$root" cpu "Intel(R) OpenCL" "Portable Computing Language"
  check "$suite: PoCL alone" show "$root" plain "Portable Computing Language"
  check "$suite: the command" as_user "$root" /home/user/plain/bin/crisol devices
  check "$suite: installing ONNX Runtime and the provider" environment "$root" ort onnxruntime onnxruntime-ep-crisol "crisol[cpu]"
  check "$suite: ONNX Runtime with the provider" as_user "$root" /home/user/ort/bin/python /crisol/tests/python/wheels/provider_program.py
  check "$suite: installing what the tests need" environment "$root" full "crisol[cpu]" -r /crisol/tests/python/requirements.txt
  check "$suite: all Python tests" test_suite "$root"
}

test_root bookworm 3.11
test_root trixie 3.13
echo "python: $passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
