# shellcheck shell=bash
# Debian 12 on 64-bit ARM by Debian's cross compiler: see tools/cross/common.sh.

# The files of a Debian for arm64: OpenCL's loader and zlib to link with, PoCL to test with. Its packages are unpacked and
# not configured, because configuring them under qemu takes minutes.
aarch64_root=$crisol_host_build/cross-aarch64

# What mmdebstrap runs once it has unpacked the packages: notes them and their files where dpkg-shlibdeps looks.
register_aarch64_packages() {
  printf 'files=%q\n' "$aarch64_root"
  cat <<'HOOK'
cd -- "$1/var/lib/dpkg" && mkdir -p info && for deb in ../../cache/apt/archives/*.deb; do
  name=$(dpkg-deb -f "$deb" Package)
  dpkg-deb -e "$deb" control
  for file in symbols shlibs; do [ ! -e "control/$file" ] || mv "control/$file" "info/$name.$file"; done
  rm -r control
  dpkg-deb --fsys-tarfile "$deb" | tar -t | sed "s|^\.|$files|" >"info/$name.list"
  { dpkg-deb -f "$deb"; printf 'Status: install ok unpacked\n\n'; } >>status
done
HOOK
}

make_aarch64_root() {
  as_root rm -rf -- "$aarch64_root" "$aarch64_root.new" || return 1
  as_root mmdebstrap --mode=root --variant=extract --architectures=arm64 \
    --include=zlib1g-dev,ocl-icd-libopencl1,libstdc++6,pocl-opencl-icd --extract-hook="$(register_aarch64_packages)" \
    bookworm "$aarch64_root.new" "$(debian_mirror)" &&
    as_root mkdir -p -- "$aarch64_root.new"/{dev,proc,sys,tmp} "$aarch64_root.new$crisol_root" &&
    as_root mv -- "$aarch64_root.new" "$aarch64_root"
}

prepare_cross_aarch64() {
  cross_packages g++-aarch64-linux-gnu=/usr/bin/aarch64-linux-gnu-g++ mmdebstrap=/usr/bin/mmdebstrap || return 1
  [ ! -d "$aarch64_root" ] || return 0
  reason="mmdebstrap makes no root of Debian for arm64 (build/aarch64-root.log)"
  run_logged aarch64-root "Unpacking Debian 12 for arm64 (build/cross-aarch64)" make_aarch64_root
}

cross_options_aarch64() {
  local libraries=$aarch64_root/usr/lib/aarch64-linux-gnu
  # zlib's link for the linker names a file of the running system.
  printf '%s\n' "CRISOL_AARCH64_ROOT=$aarch64_root" "OpenCL_INCLUDE_DIR=$cross_headers/include" \
    "OpenCL_LIBRARY=$libraries/libOpenCL.so.1" "ZLIB_LIBRARY=$(readlink -m -- "$aarch64_root/$(readlink -- "$libraries/libz.so")")"
}
