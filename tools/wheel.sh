#!/usr/bin/env bash
# tools/wheel.sh [FOLDER]
#
# Makes the Python wheels in FOLDER, by default in build/wheels:
#   crisol-…-cp311-cp311-manylinux_….whl   for Python 3.11, with the headers of python3 of this machine
#   crisol-…-cp312-abi3-manylinux_….whl    for Python 3.12 and later, with the headers of Debian 13's Python 3.13
#   onnxruntime_ep_crisol-…-py3-none-manylinux_….whl    the provider for ONNX Runtime, for every Python
#   torch_crisol-…-cp311-cp311-manylinux_….whl    the device of PyTorch for Python 3.11, if CRISOL_TORCH_PYTHON names one
#     or several Pythons that have PyTorch, separated by semicolons
# All are built by this machine's compiler, so they run where the C and C++ libraries are as new as here. Debian 12 gives
# manylinux_2_36 or older. The second wheel needs root for debootstrap, which makes a root of Debian 13 in build/wheel.
# They leave crisol.distributed out, because it would fit one MPI only. Checks the files in the wheels, their size (at most 15
# MB), and their platform (by auditwheel). Needs network for PyPI. Ends with 3 if something is missing that cannot be
# installed.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"
case ${1:-} in -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 0 ;; esac
wheels=$(realpath -m -- "${1:-$crisol_build/wheels}")
work=$crisol_build/wheel
venv=$work/venv
trixie=$work/trixie

give_up() {
  say "no wheels: $*"
  exit 3
}

[ "$(uname -m)" = x86_64 ] || give_up "for x86-64 only, this is $(uname -m)"
if ! python3 -c 'import sys, ensurepip, venv; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
  give_up "python3 is not Python 3.11 with venv (Debian 12: apt install python3-dev python3-venv)"
fi
install_build_tools
if [ ! -e "$venv/complete" ]; then
  mkdir -p -- "$work"
  rm -rf -- "$venv" "$work/backend"
  run_logged wheel-venv "Making a Python environment for wheels" python3 -m venv -- "$venv" || give_up "python3 -m venv failed"
  run_logged wheel-pip "Installing tools for wheels from PyPI" \
    "$venv/bin/python" -m pip install --disable-pip-version-check 'pip>=25.1' 'auditwheel>=6' 'wheel>=0.45' ||
    give_up "auditwheel cannot be installed from PyPI"
  mapfile -t backend < <("$venv/bin/python" -c 'import sys, tomllib
print(*tomllib.load(open(sys.argv[1], "rb"))["build-system"]["requires"], sep="\n")' "$crisol_root/pyproject.toml")
  run_logged wheel-backend "Installing ${backend[*]} from PyPI" \
    "$venv/bin/python" -m pip install --disable-pip-version-check --target "$work/backend" "${backend[@]}" ||
    give_up "${backend[*]} cannot be installed from PyPI"
  : >"$venv/complete"
fi

# Python 3.13 and its headers from Debian 13. Debian 13's own dynamic linker runs it on this machine, so that this
# machine's compiler makes the wheel.
prepare_python313() {
  [ "$(id -u)" -eq 0 ] || give_up "a root of Debian 13 needs root"
  if [ ! -e "$trixie" ]; then
    have_command debootstrap || install_packages debootstrap || give_up "debootstrap cannot be installed"
    run_logged wheel-trixie "Making a root of Debian 13 (build/wheel/trixie)" make_debian_root trixie "$trixie" \
      python3-venv || give_up "the root of Debian 13 could not be made (build/wheel-trixie.log)"
  fi
  if [ ! -e "$trixie/usr/include/python3.13/Python.h" ]; then
    # Unpacked only: installing the package would bring libraries to build with, and the root is also for tests without.
    # pyconfig.h includes a file of /usr/include/x86_64-linux-gnu, which belongs to this machine, so that file replaces it.
    run_logged wheel-headers "Taking Python's headers from Debian 13" chroot "$trixie" sh -ec '
      cd /root; apt-get -q update; apt-get -q download libpython3.13-dev
      dpkg-deb -x libpython3.13-dev_*.deb /; rm libpython3.13-dev_*.deb
      cp /usr/include/x86_64-linux-gnu/python3.13/pyconfig.h /usr/include/python3.13/' || give_up "libpython3.13-dev cannot be downloaded"
  fi
  python313=$trixie/usr/bin/python3.13-outside
  cat >"$python313" <<END
#!/bin/sh
exec '$trixie/lib64/ld-linux-x86-64.so.2' --argv0 "\$0" \\
  --library-path '$trixie/usr/lib/x86_64-linux-gnu':/usr/lib/x86_64-linux-gnu '$trixie/usr/bin/python3.13' "\$@"
END
  chmod +x -- "$python313"
}

# make_wheel PYTHON NAME FOLDER: builds the wheel of a folder in $work/NAME. All have one build folder, so the library is
# compiled once. It would be compiled twice if each Python had its own scikit-build-core, or named the compiler that
# built itself (CXX).
make_wheel() {
  rm -rf -- "${work:?}/$2"
  CXX=${CXX:-c++} PYTHONPATH=$work/backend run_logged "wheel-$2" "Building the wheel for $2 (log: build/wheel-$2.log)" \
    "$venv/bin/python" -m pip --disable-pip-version-check --python "$1" wheel --verbose --no-deps --no-build-isolation \
    --wheel-dir "$work/$2" --config-settings build-dir="$work/build" \
    --config-settings cmake.define.CRISOL_WITH_MPI=OFF "$3" || exit 1
}

# check_wheel FILE NEEDED…: its contents, size and platform. Gives it the name of the platform, and moves it to $wheels. The
# provider and the device of PyTorch need a library of another wheel, so auditwheel knows no platform for them. But it says
# what their symbols allow.
check_wheel() {
  local size contents report platform needed
  size=$(stat -c %s -- "$1")
  [ "$size" -le 15000000 ] || die "$1 has $size bytes, more than 15 MB"
  contents=$("$venv/bin/python" -m zipfile --list "$1")
  for needed in "${@:2}" licenses/LICENSE; do
    grep -qF -- "$needed" <<<"$contents" || die "$1 does not contain $needed"
  done
  ! grep -q 'libcrisol_dist\|crisol/_dist' <<<"$contents" || die "$1 contains libcrisol_dist, which fits one MPI only"
  report=$("$venv/bin/auditwheel" show "$1" | tr '\n' ' ')
  platform=$(sed -nE 's/.*following platform tag: *"([^"]+)".*/\1/p' <<<"$report")
  [[ "$1" != */@(onnxruntime_ep|torch)_crisol-* ]] ||
    platform=$(sed -nE 's/.*constrains the platform tag to "([^"]+)".*/\1/p' <<<"$report")
  [[ "$platform" =~ ^manylinux_2_([0-9]+)_x86_64$ && ${BASH_REMATCH[1]} -le 36 ]] ||
    die "$1 is for ${platform:-no platform that auditwheel knows}, which is newer than manylinux_2_36"
  "$venv/bin/python" -m wheel tags --remove --platform-tag "$platform" "$1" >/dev/null
  mkdir -p -- "$wheels"
  cp -- "$(dirname -- "$1")"/*.whl "$wheels"
  say "$(basename -- "$(dirname -- "$1")"/*.whl): $((size / 1000)) kB, $platform"
}

prepare_python313
make_wheel "$venv/bin/python" cp311 "$crisol_root"
make_wheel "$venv/bin/python" onnxruntime "$crisol_root/onnxruntime"
make_wheel "$python313" abi3 "$crisol_root"
rm -f -- "$wheels"/crisol-*.whl "$wheels"/onnxruntime_ep_crisol-*.whl
for name in cp311 abi3; do
  check_wheel "$work/$name"/*.whl crisol/__init__.py crisol/py.typed crisol/_crisol/__init__.pyi crisol/libcrisol.so.0.2 \
    crisol/opencl/libOpenCL.so.1 crisol/bin/crisol crisol/__main__.py entry_points.txt \
    licenses/licences/{cli11,nanobind,ocl-icd,robin-map,stb}.txt
done
check_wheel "$work/onnxruntime"/*.whl onnxruntime_ep_crisol/__init__.py onnxruntime_ep_crisol/libcrisol_ort.so
if [ -n "${CRISOL_TORCH_PYTHON:-}" ]; then
  make_wheel "$venv/bin/python" torch "$crisol_root/python/torch"
  rm -f -- "$wheels"/torch_crisol-*.whl
  check_wheel "$work/torch"/*.whl torch_crisol/__init__.py torch_crisol_autoload.py /_device.cpython-311 entry_points.txt
fi
