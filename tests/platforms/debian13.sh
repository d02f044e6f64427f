# shellcheck shell=bash
# Sourced by tests/run.sh: "pocl-6" and "rusticl-25", the implementations of Debian 13. They are installed in a root of
# their own below build/, and the programs of this machine's build run in it.

debian13=$crisol_build/debian-13
declare -A debian13_icd=([pocl-6]=pocl [rusticl-25]=rusticl)
platform[pocl-6]="Portable Computing Language"
platform[rusticl-25]="rusticl"
variables[rusticl-25]="RUSTICL_ENABLE=llvmpipe"

# The words before a command that is to run in the root: it sees the checkout and the temporary folder at their own
# paths. The mount namespace ends with the command, however the command ends. So no mount is left behind.
debian13_enter=(unshare --mount bash -ec '
  root=$1; shift
  while [ "$1" != -- ]; do
    mkdir -p -- "$root$1"
    mount --rbind -- "$1" "$root$1"
    shift
  done
  exec chroot -- "$root" "${@:2}"' enter-root "$debian13" /tmp /proc /sys /dev "$crisol_root"
  ${CRISOL_TEST_DATA:+"$CRISOL_TEST_DATA"})
# A sample is linked with libraries of CUDA where the build finds them.
[ ! -d /usr/local/cuda ] || debian13_enter+=(/usr/local/cuda)
debian13_enter+=(--)

prepare_from_debian13() {
  reason="for x86-64 only, this is $(uname -m)"
  [ "$(uname -m)" = x86_64 ] || return 1
  reason="a root of Debian 13 needs root"
  [ "$(id -u)" -eq 0 ] || return 1
  reason="a root of Debian 13 needs mounts and chroot, which are not allowed here"
  unshare --mount sh -c 'mount --bind /tmp /tmp && chroot / true' 2>/dev/null || return 1
  if [ ! -e "$debian13" ]; then
    need_package debootstrap have_command debootstrap || return 1
    reason="the root of Debian 13 could not be made (build/debian-13.log)"
    run_logged debian-13 "Making a root of Debian 13 (build/debian-13)" make_debian_root trixie "$debian13" \
      ocl-icd-libopencl1,zlib1g,libstdc++6,pocl-opencl-icd,mesa-opencl-icd || return 1
  fi
  local icd=$debian13/etc/OpenCL/vendors/${debian13_icd[$1]}.icd
  reason="build/debian-13 has no ${icd##*/}; remove that folder"
  [ -s "$icd" ] || return 1
  register "$1" "$(cat -- "$icd")"
}
prepare_pocl-6() { prepare_from_debian13 pocl-6; }
prepare_rusticl-25() { prepare_from_debian13 rusticl-25; }

# A plain run tests the kernels that a driver's compiler most likely gets wrong. It runs the tests of products,
# convolutions, recurrent layers, reductions, softmax and losses, and then all ops by `crisol selftest`. --only runs all
# tests, or the tests that the user names.
run_from_debian13() {
  local name=$1 log=$work/$1.log start=$SECONDS clean
  run_tests "$name"
  [ -n "${filter[$name]:-}" ] || return 0
  mapfile -t clean < <(foreign_variables)
  if watched "$work/$name.progress" "${debian13_enter[@]}" env "${clean[@]}" -u OCL_ICD_FILENAMES \
    "OCL_ICD_VENDORS=$work/icd/$name" "CRISOL_CACHE_DIR=$caches/$name" \
    ${variables[$name]:+"${variables[$name]}"} "$crisol_build/bin/crisol" selftest </dev/null >>"$log" 2>&1; then
    passed[$name]=$((passed[$name] + 1))
  else
    failed[$name]=$((failed[$name] + 1))
    note[$name]="${note[$name]:+${note[$name]}, }crisol selftest failed"
  fi
  seconds[$name]=$((SECONDS - start))
}
run_pocl-6() { run_from_debian13 pocl-6; }
run_rusticl-25() { run_from_debian13 rusticl-25; }
