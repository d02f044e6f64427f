# shellcheck shell=bash
# Sourced after tools/setup.sh, by tools/cross.sh and by tests/platforms/. Each tools/cross/SYSTEM.sh defines
#   prepare_cross_SYSTEM   installs compiler and libraries; fails if that is impossible, and says why in `reason`
#   cross_options_SYSTEM   prints options of CMake, NAME=VALUE, one a line

crisol_host_build=$crisol_build                 # The tree for this machine.
cross_headers=$crisol_host_build/cross-headers # A prefix with headers that serve every system.

# cross_packages PACKAGE=FILE…: installs each package whose file is missing. Fails and says why in `reason`.
cross_packages() {
  local pair missing=()
  for pair in "$@"; do
    [ -e "${pair#*=}" ] || missing+=("${pair%%=*}")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  reason=$(why_no_install)
  if [ -n "$reason" ]; then
    reason="${missing[*]} missing, $reason"
  elif ! install_packages "${missing[@]}"; then
    reason="${missing[*]} cannot be installed"
  else
    return 0
  fi
  return 1
}

# The host's packages of headers alone, without the rest of /usr/include: links below a prefix of their own.
link_headers() {
  local name
  rm -rf -- "$cross_headers"
  mkdir -p -- "$cross_headers/include" "$cross_headers/share/cmake"
  for name in CL nlohmann CLI doctest stb protozero clblast_c.h; do
    [ ! -e "/usr/include/$name" ] || ln -s -- "/usr/include/$name" "$cross_headers/include/$name"
  done
  # Copied, because CMake would follow a link and find /usr/include beside it.
  for name in /usr/share/cmake/nlohmann_json /usr/share/cmake/CLI11 /usr/lib/cmake/doctest; do
    [ ! -d "$name" ] || cp -r -- "$name" "$cross_headers/share/cmake/"
  done
  # doctest's file contains the path /usr.
  sed -i "s|^set(_IMPORT_PREFIX \"/usr\")|set(_IMPORT_PREFIX \"$cross_headers\")|" "$cross_headers"/share/cmake/*/*.cmake
}

# prepare_cross SYSTEM: all that a build for it needs. Fails if that is impossible, and says why in `reason`.
prepare_cross() {
  if ! have_command cmake || ! have_command ninja; then
    cross_packages cmake=/usr/bin/cmake ninja-build=/usr/bin/ninja || return 1
  fi
  cross_packages opencl-c-headers=/usr/include/CL/cl.h opencl-clhpp-headers=/usr/include/CL/opencl.hpp \
    nlohmann-json3-dev=/usr/include/nlohmann/json.hpp libcli11-dev=/usr/include/CLI/CLI.hpp \
    doctest-dev=/usr/include/doctest/doctest.h libstb-dev=/usr/include/stb/stb_image.h \
    libprotozero-dev=/usr/include/protozero/pbf_reader.hpp || return 1
  # shellcheck source=/dev/null
  source "$crisol_root/tools/cross/$1.sh"
  link_headers
  "prepare_cross_$1"
}

# cross_build SYSTEM "OPTION…" TARGET…: configures build/SYSTEM, or $cross_folder, with these options besides the
# system's own, and builds these targets, or all.
cross_build() {
  local system=$1 crisol_build=${cross_folder:-$crisol_host_build/$1} options=() extra
  read -ra extra <<<"$2"
  shift 2
  mapfile -t options < <("cross_options_$system")
  configure "CMAKE_TOOLCHAIN_FILE=$crisol_root/cmake/toolchains/$system.cmake" "CMAKE_PREFIX_PATH=$cross_headers" \
    CRISOL_BUILD_TESTS=ON CRISOL_BUILD_CLI=ON CRISOL_BUILD_SAMPLES=ON "${options[@]}" "${extra[@]}"
  build "$@"
}
