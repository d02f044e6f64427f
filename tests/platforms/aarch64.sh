# shellcheck shell=bash
# Sourced by tests/run.sh: "aarch64", the build for 64-bit ARM, run by qemu on the PoCL of a Debian 12 for arm64. With
# --only it runs the tests of ops, recurrent layers and files at small sizes. It also installs the Debian package in a
# Debian for arm64. A plain run does crisol selftest with some of the ops, and counts ops.
source "$crisol_root/tools/cross/common.sh"

aarch64_build=$work/aarch64 # Apart from build/aarch64, which is optimised more.
aarch64_options="CMAKE_CXX_FLAGS_RELEASE=-O1 CRISOL_PRECOMPILE_HEADERS=ON"
aarch64_ops=leaky_relu,prelu,relu6,matmul # Each kernel takes seconds to compile under qemu.
# The test files of the row, for CMake. Others are not compiled, which saves half of the test program's objects.
aarch64_files='/tests/(ops|io)/|/tests/nn/.*rnn'
# Test files that do not run, each with the reason.
aarch64_left_out=(
  "ops/product/gemm_matrix_test.cpp: dozens of large programs for GPUs, which compile slowly under qemu"
  "ops/product/gemm_block_test.cpp: dozens of large programs for GPUs, which compile slowly under qemu"
  "ops/conv/conv2d_matrix_test.cpp: dozens of large programs for GPUs, which compile slowly under qemu")

# inside_aarch64 COMMAND…: in the root, with this checkout and the test data in their usual places. Needs root, or a
# kernel that gives users namespaces of their own.
inside_aarch64() {
  local as_user=()
  [ "$(id -u)" -eq 0 ] || as_user=(--map-root-user)
  unshare "${as_user[@]}" --mount bash -euc '
    root=$1
    for folder in /dev /proc /sys /tmp "$2" ${CRISOL_TEST_DATA:+"$CRISOL_TEST_DATA"}; do
      mkdir -p -- "$root$folder"
      mount --rbind "$folder" "$root$folder"
    done
    cd -- "$root"
    PATH=$PATH:/usr/sbin
    exec env PATH=/usr/bin "HOME=$2/build/tests" "$(command -v chroot)" "$root" "${@:3}"' \
    bash "$aarch64_root" "$crisol_root" "$@"
}

# PoCL runs the linker too, so the kernel of this machine must know what to do with programs for ARM.
run_aarch64_programs() { inside_aarch64 /usr/bin/ld --version; }
enable_aarch64_programs() {
  run_aarch64_programs && return
  [ -e /proc/sys/fs/binfmt_misc/register ] ||
    as_root mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc || return 1
  as_root update-binfmts --enable qemu-aarch64 && run_aarch64_programs
}

prepare_aarch64() {
  reason="this machine is one, and the other rows test it"
  [ "$(uname -m)" != aarch64 ] || return 1
  prepare_cross aarch64 || return 1
  need_package qemu-user-static have_command qemu-aarch64-static || return 1
  need_package binfmt-support have_command update-binfmts || return 1
  reason="no program for it can be run here (build/aarch64-qemu.log)"
  run_logged aarch64-qemu "Looking whether programs for 64-bit ARM run" enable_aarch64_programs || return 1
  register aarch64 "$(cat -- "$aarch64_root/etc/OpenCL/vendors/pocl.icd")"
}

# aarch64_script NAME: a program of the build for ARM as a program of this machine; prints its path.
aarch64_script() {
  local script=$aarch64_build/$1.sh
  {
    printf '#!/usr/bin/env bash\n'
    declare -p aarch64_root crisol_root
    declare -f inside_aarch64
    printf 'inside_aarch64 %q "$@"\n' "$aarch64_build/bin/$1"
  } >"$script"
  chmod +x -- "$script"
  printf '%s\n' "$script"
}

# Notes the tests that the row leaves out, in the format of the test program.
note_left_out() {
  printf '[skipped] test files of other folders: they take hours under qemu\n'
  printf '[skipped] %s\n' "${aarch64_left_out[@]}"
}

# install_aarch64_package: in a Debian for arm64 of its own, where apt brings what the package depends on.
install_aarch64_package() {
  rm -f -- "$aarch64_build"/*.deb
  (cd -- "$aarch64_build" && cpack -G DEB) || return 1
  as_root "$crisol_root/tests/clean_root.sh" "$aarch64_build"/crisol_*_arm64.deb "$crisol_host_build/clean-aarch64"
}

run_aarch64() {
  local start=$SECONDS
  if [ -z "$named" ]; then
    cross_folder=$aarch64_build cross_build aarch64 "$aarch64_options" crisol_cli
    run_selftest aarch64 "$(aarch64_script crisol)" --only "$aarch64_ops"
  else
    cross_folder=$aarch64_build cross_build aarch64 "$aarch64_options CRISOL_TEST_FILES=$aarch64_files" crisol_cli crisol_tests
    test_program[aarch64]=$(aarch64_script crisol_tests)
    [ ${#doctest_arguments[@]} -gt 0 ] || filter[aarch64]="--source-file-exclude=$(printf '*/tests/%s,' "${aarch64_left_out[@]%%:*}")"
    run_tests aarch64
    [ ${#doctest_arguments[@]} -gt 0 ] || note_left_out >>"$work/aarch64.log"
    if run_logged aarch64-package "Installing the package in a Debian for arm64" install_aarch64_package; then
      passed[aarch64]=$((passed[aarch64] + 1))
    else
      failed[aarch64]=$((failed[aarch64] + 1)) note[aarch64]="${note[aarch64]:+${note[aarch64]}, }the package cannot be installed"
    fi
  fi
  seconds[aarch64]=$((SECONDS - start))
}
