# shellcheck shell=bash
# Sourced by tests/run.sh. "offline" is no OpenCL implementation: `crisol kernels` writes the programs that the library
# would build for every device in devices/. The vendors' compilers, if they can be installed, check the programs.

gpu_tools=$crisol_build/gpu-tools
# Devices by vendor, one for each target worth a check. Similar targets are left out (gfx1030 is close to gfx1100,
# gfx90a to gfx942). A target takes about a minute on two cores. So an ordinary run takes one device of one vendor,
# chosen by the commit's hash. A run with --long, or with "offline" in --only, takes all devices.
offline_devices=("nvidia-gtx-1660 nvidia-a100 nvidia-h100" "amd-rx-7900-xtx amd-mi300x" "intel-uhd-620 intel-arc-a770")

# The names of the devices of this run, on one line.
chosen_devices() {
  local devices
  if [ -n "$long" ] || [ -n "$named" ]; then
    echo "${offline_devices[*]}"
    return
  fi
  read -ra devices <<<"${offline_devices[$((commit_number % ${#offline_devices[@]}))]}"
  echo "${devices[$((commit_number / 3 % ${#devices[@]}))]}"
}

have_nvidia_tools() {
  PATH=$PATH:/usr/local/cuda/bin:$gpu_tools/triton/triton/backends/nvidia/bin
  have_command ptxas && have_command cuobjdump && have_command nvdisasm
}

# libclc-19 conflicts with the libclc that Mesa's rusticl needs, so its files are unpacked and never installed.
unpack_libclc() {
  [ ! -e "$gpu_tools/libclc" ] || return 0
  local package
  (cd -- "$gpu_tools" && apt-get -q download libclc-19) || return 1
  for package in "$gpu_tools"/libclc-19_*.deb; do
    dpkg -x "$package" "$gpu_tools/libclc.new" || return 1
  done
  mv -- "$gpu_tools/libclc.new" "$gpu_tools/libclc" && rm -- "$gpu_tools"/libclc-19_*.deb
}

# Unpacks NVIDIA's assembler, disassembler and function library from the wheel of triton, and nothing else.
unpack_nvidia_tools() {
  (have_nvidia_tools) && return 0
  local wheels=$gpu_tools/wheels
  python3 -m venv -- "$gpu_tools/venv" &&
    "$gpu_tools/venv/bin/python" -m pip download --disable-pip-version-check --no-deps -d "$wheels" triton &&
    python3 - "$wheels" "$gpu_tools/triton" <<'PYTHON' && rm -r -- "$wheels"
import glob, os, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + "/triton-*.whl")[0])
for name in wheel.namelist():
    if name.startswith(("triton/backends/nvidia/bin/", "triton/backends/nvidia/lib/libdevice")) and name[-1] != "/":
        os.chmod(wheel.extract(name, sys.argv[2]), 0o755)
PYTHON
}

# A tool that cannot be installed is left out, and offline_check reports this. Only Python is required.
prepare_offline() {
  need_package python3 have_command python3 || return 1
  mkdir -p -- "$gpu_tools"
  need_package clang-19 have_command clang-19 || say "note: $reason"
  need_package rocm-device-libs test -d /usr/lib/x86_64-linux-gnu/amdgcn/bitcode || say "note: $reason"
  need_package intel-opencl-icd have_command ocloc || say "note: $reason"
  run_logged libclc "Unpacking libclc-19" unpack_libclc || say "note: libclc-19 cannot be had"
  need_package python3-venv have_venv || say "note: $reason"
  run_logged nvidia-tools "Looking for NVIDIA's assembler" unpack_nvidia_tools || say "note: no ptxas and cuobjdump"
  reason=
}

# The counts are numbers of targets. A device counts as failed if its kernels cannot be written.
run_offline() {
  local log=$work/offline.log start=$SECONDS file name dumps=() undumped=0 line count chosen
  chosen=$(chosen_devices)
  echo "devices of this run: $chosen" >"$log"
  python3 "$crisol_root/tests/gpu/selftest.py" >>"$log" 2>&1 || note[offline]="tests/gpu/selftest.py failed"
  for file in "$crisol_root"/devices/*.json; do
    name=$(basename -- "$file" .json)
    if ! "$crisol_build/bin/crisol" kernels --for "$file" --dump "$work/kernels/$name" >>"$log" 2>&1; then
      say "crisol kernels --for $file failed"
      undumped=$((undumped + 1))
    elif [[ " $chosen " == *" $name "* ]]; then
      dumps+=("$work/kernels/$name")
    fi
  done
  "$crisol_root/tests/gpu/offline_check" "${dumps[@]}" --json "$work/offline.json" >>"$log" 2>&1 || true
  grep -aE '^(wrong|not checked): ' -- "$log" >&2 || true
  line=$(grep -aE '^offline_check: [0-9]+ targets right, [0-9]+ wrong, [0-9]+ left out$' -- "$log") || true
  read -r "passed[offline]" count "skipped[offline]" < <(tr -dc '0-9 \n' <<<"${line:-0 1 0}")
  [ -n "$line" ] || note[offline]="offline_check came to no end"
  failed[offline]=$((count + undumped))
  [ -z "${note[offline]:-}" ] || [ "${failed[offline]}" -gt 0 ] || failed[offline]=1
  seconds[offline]=$((SECONDS - start))
}
