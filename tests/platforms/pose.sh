# shellcheck shell=bash
# Sourced by tests/run.sh: a CPU that poses as a GPU of each vendor. The driver of faults reports a device of devices/ in
# the place of the true one, so that the tests run with the algorithms for GPUs. The true driver is Intel's CPU runtime, or
# PoCL with CRISOL_POSE_ON=pocl.

declare -A posed_file=([as-nvidia]=nvidia-rtx-4090 [as-amd]=amd-rx-7900-xtx [as-intel]=intel-arc-a770)
platform[as-nvidia]="NVIDIA CUDA"
platform[as-amd]="AMD Accelerated Parallel Processing"
platform[as-intel]="Intel(R) OpenCL Graphics"

prepare_pose() {
  local on=${CRISOL_POSE_ON:-intel}
  if [ "$1" != as-nvidia ] && [ -z "$named$long" ]; then
    reason="takes long; --long and --only do it"
    return 1
  fi
  case $on in
    intel | pocl) ;;
    *) reason="CRISOL_POSE_ON is $on, and must be intel or pocl"; return 1 ;;
  esac
  "prepare_$on" || return 1
  register "$1" "$crisol_build/lib/libcrisol_fault_driver.so"
  variables[$1]="CRISOL_FAULT_DRIVER=$(cat -- "$work/icd/$on/$on.icd")
CRISOL_POSE_DEVICE=$crisol_root/devices/${posed_file[$1]}.json
${variables[$on]:-}"
}
prepare_as-nvidia() { prepare_pose as-nvidia; }
prepare_as-amd() { prepare_pose as-amd; }
prepare_as-intel() { prepare_pose as-intel; }
