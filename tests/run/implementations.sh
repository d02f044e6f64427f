# shellcheck shell=bash
# Sourced by tests/run.sh: the OpenCL implementations. Each prepare_NAME registers one, or fails and says why in `reason`.

declare -A platform=([pocl]="Portable Computing Language" [intel]="Intel(R) OpenCL" [rusticl]="rusticl"
  [oclgrind]="Oclgrind" [offline]="none" [gpu]="of each GPU" [aarch64]="Portable Computing Language"
  [windows]="Portable Computing Language" [onnx]="Portable Computing Language" [onnx-models]="Portable Computing Language"
  [onnx-fitted]="Portable Computing Language" [ort]="Portable Computing Language")
declare -A left_out=() variables=()

# register NAME LIBRARY: makes a folder of .icd files in which the OpenCL loader finds only this implementation.
register() {
  mkdir -p -- "$work/icd/$1"
  printf '%s\n' "$2" >"$work/icd/$1/$1.icd"
}

# need_package PACKAGE TEST…: installs PACKAGE if the command TEST fails. Fails if TEST still fails after that.
need_package() {
  local package=$1
  shift
  if "$@"; then return 0; fi
  reason=$(why_no_install)
  if [ -n "$reason" ]; then
    reason="$package is missing, $reason"
  elif ! install_packages "$package"; then
    reason="$package cannot be installed"
  else
    reason="$package does not bring what is needed"
    "$@"
    return
  fi
  return 1
}

prepare_from_vendors() {
  local name=$1 package=$2
  need_package "$package" test -s "/etc/OpenCL/vendors/$name.icd" || return 1
  register "$name" "$(cat "/etc/OpenCL/vendors/$name.icd")"
}

prepare_pocl() { prepare_from_vendors pocl pocl-opencl-icd; }
prepare_rusticl() { prepare_from_vendors rusticl mesa-opencl-icd; }

oclgrind_library() {
  local program
  program=$(command -v oclgrind) || return 1
  readlink -e -- "$(dirname -- "$(readlink -f -- "$program")")/../lib/oclgrind/liboclgrind-rt-icd.so"
}
have_oclgrind() { oclgrind_library >/dev/null; }
prepare_oclgrind() {
  need_package oclgrind have_oclgrind || return 1
  register oclgrind "$(oclgrind_library)"
}

have_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null; }
install_intel() {
  local venv=$1
  need_package python3-venv have_venv || return 1
  rm -rf -- "$venv"
  reason="python3 -m venv failed"
  run_logged intel-venv "Making a Python environment for Intel's OpenCL runtime" python3 -m venv -- "$venv" || return 1
  reason="intel-opencl-rt cannot be installed from PyPI"
  run_logged intel-pip "Installing intel-opencl-rt from PyPI" \
    "$venv/bin/python" -m pip install --disable-pip-version-check intel-opencl-rt intel-cmplr-lib-rt || return 1
  reason="intel-opencl-rt has no libintelocl.so"
  [ -e "$venv/lib/libintelocl.so" ] || return 1
  : >"$venv/complete"
}
prepare_intel() {
  local venv=$crisol_build/intel-opencl
  reason="for x86-64 only, this is $(uname -m)"
  [ "$(uname -m)" = x86_64 ] || return 1
  [ -e "$venv/complete" ] || install_intel "$venv" || return 1
  register intel "$venv/lib/libintelocl.so"
}

# GPUs are tested with the drivers that the user's own environment shows. No driver is installed here.
prepare_gpu() { show_nvidia; }

# Prints options of env that remove the user's variables which the library and its tests would read.
foreign_variables() {
  local variable
  for variable in ${!CRISOL_@}; do
    [ "$variable" = CRISOL_TEST_DATA ] || printf -- '-u\n%s\n' "$variable"
  done
}

# list_gpus: prints a line "number, platform, name" for each GPU, numbered as in CRISOL_DEVICE=gpu:NUMBER. Leaves
# simulators out.
list_gpus() {
  local clean
  mapfile -t clean < <(foreign_variables)
  env "${clean[@]}" "$crisol_build/bin/crisol" devices --json 2>"$work/gpu.log" |
    awk -F'"' '$2 ~ /^(name|platform|type)$/ { its[$2] = $4 }
      $2 == "type" && $4 == "gpu" {
        if (its["platform"] != "Oclgrind") print count + 0 "\t" its["platform"] "\t" its["name"]
        ++count
      }'
}

declare -A gpu_number=() gpu_name=()
# find_gpus: replaces "gpu" by a name for each GPU: gpu-0, gpu-1 and so on. Needs the built programs.
find_gpus() {
  local number of device name found=() rest=()
  while IFS=$'\t' read -r number of device; do
    name=gpu-$number
    found+=("$name")
    gpu_number[$name]=$number gpu_name[$name]="$device ($of)" platform[$name]=$of
  done < <(list_gpus)
  if [ ${#found[@]} -eq 0 ]; then
    left_out[gpu]="no driver here shows a GPU"
    return
  fi
  for name in "${selected[@]}"; do [ "$name" = gpu ] || rest+=("$name"); done
  selected=("${found[@]}" "${rest[@]}")
}

variables[intel]="LD_LIBRARY_PATH=$crisol_build/intel-opencl/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
variables[rusticl]="RUSTICL_ENABLE=llvmpipe"
variables[oclgrind]="OCLGRIND_DATA_RACES=1"
# Without optimization, PoCL compiles in a third of the time. The kernels are tested with optimization elsewhere. A
# program in Wine cannot change the variables that PoCL sees.
without_optimization="POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable"
# PoCL shows no device if it cannot write to the home folder, so its cache has a place. All rows on PoCL share it.
pocl_variables=("POCL_CACHE_DIR=$work/pocl-cache" ${plain:+"$without_optimization"})
variables[pocl]=$(printf '%s\n' "${pocl_variables[@]}" CRISOL_KERNEL_WARNINGS=error ${plain:+"CRISOL_TEST_OPTIMIZED=$((commit_number % 16))/16"})
variables[windows]=$without_optimization
variables[aarch64]="CRISOL_TEST_SLOW=1"$'\n'"$without_optimization"

# is_selected NAME…: whether the user wants one of them.
is_selected() {
  local name
  for name in "$@"; do
    [[ " ${selected[*]} " != *" $name "* ]] || return 0
  done
  return 1
}

# prepare NAME…: those of the names that this run tests.
prepare() {
  local name
  for name in "$@"; do
    is_selected "$name" || continue
    reason=
    has_turn "$name" && "prepare_$name" || left_out[$name]=$reason
  done
}
