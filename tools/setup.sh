# shellcheck shell=bash
# Sourced by samples/run.sh and tests/run.sh: installs what is missing, configures, builds.
# Nothing here changes the working directory, so relative paths in a user's arguments keep their meaning.

crisol_root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
crisol_build=$crisol_root/build

say() { printf '%s\n' "$*" >&2; }
die() {
  say "error: $*"
  exit 1
}

# run_logged NAME TEXT COMMAND…: says TEXT, runs COMMAND with its output in build/NAME.log, shows that log on failure.
# Where log_reader names a command, this command reads the output meanwhile.
run_logged() {
  local log=$crisol_build/$1.log text=$2 start=$SECONDS status=0
  shift 2
  mkdir -p -- "$crisol_build" || die "cannot write to $crisol_build"
  say "$text"
  if [ -n "${log_reader:-}" ]; then
    "$@" 2>&1 </dev/null | tee -- "$log" | "$log_reader" || status=$?
  else
    "$@" >"$log" 2>&1 </dev/null || status=$?
  fi
  if [ $status -ne 0 ]; then
    tail -n 150 -- "$log" >&2
    say "error: failed after $((SECONDS - start)) s (exit code $status); the whole log: $log"
  fi
  return $status
}

# ---- What is missing -------------------------------------------------------------------------------------------------

have_command() { command -v "$1" >/dev/null 2>&1; }

read -ra crisol_cxx <<<"${CXX:-c++}"

# One line a header that the compiler does not find; all of them without a compiler.
missing_headers() {
  local header
  for header in "$@"; do
    printf '#if !__has_include(<%s>)\nmissing %s\n#endif\n' "$header" "$header"
  done | if have_command "${crisol_cxx[0]}"; then "${crisol_cxx[@]}" -E -P -x c++ - 2>/dev/null; else cat; fi | sed -n 's/^missing //p'
}

links_with() { echo 'int main() {}' | "${crisol_cxx[@]}" -x c++ - "-l$1" -o /dev/null 2>/dev/null; }

# Debian's packages for the parts of the build that this machine lacks, one a line. Looks for the things themselves
# rather than for packages: a vendor's OpenCL SDK or a cmake from elsewhere serves as well.
missing_build_packages() {
  have_command "${crisol_cxx[0]}" || echo g++
  have_command cmake || echo cmake
  have_command ninja || have_command make || echo ninja-build
  local header
  missing_headers CL/cl.h CL/opencl.hpp zlib.h nlohmann/json.hpp CLI/CLI.hpp stb/stb_image.h \
    protozero/pbf_reader.hpp "$@" |
    while read -r header; do
      case $header in
        CL/cl.h) echo opencl-c-headers ;;
        CL/opencl.hpp) echo opencl-clhpp-headers ;;
        zlib.h) echo zlib1g-dev ;;
        nlohmann/json.hpp) echo nlohmann-json3-dev ;;
        CLI/CLI.hpp) echo libcli11-dev ;;
        stb/stb_image.h) echo libstb-dev ;;
        protozero/pbf_reader.hpp) echo libprotozero-dev ;;
        doctest/doctest.h) echo doctest-dev ;;
      esac
    done
  links_with OpenCL || echo ocl-icd-opencl-dev
  links_with z || echo zlib1g-dev
}

# An OpenCL implementation is registered, or the user names one.
have_opencl_platform() {
  [ -n "${OCL_ICD_VENDORS:-}${OCL_ICD_FILENAMES:-}" ] || compgen -G '/etc/OpenCL/vendors/*.icd' >/dev/null
}

nvidia_library() {
  local found
  found=$(ldconfig -p 2>/dev/null | awk '$1 == "libnvidia-opencl.so.1" { print $NF; exit }') || true
  for found in "$found" /usr/local/nvidia/lib64/libnvidia-opencl.so.1; do
    [ -e "$found" ] || continue
    printf '%s\n' "$found"
    return 0
  done
  return 1
}

# Containers often hold NVIDIA's driver without the file that tells OpenCL's loader of it: then the loader is sent to a
# folder that has this file beside the others.
show_nvidia() {
  local library folder=$crisol_build/nvidia-icd
  [ -z "${OCL_ICD_VENDORS:-}${OCL_ICD_FILENAMES:-}" ] || return 0
  ! grep -qs nvidia /etc/OpenCL/vendors/*.icd || return 0
  library=$(nvidia_library) || return 0
  mkdir -p -- "$folder" || die "cannot write to $crisol_build"
  cp -- /etc/OpenCL/vendors/*.icd "$folder" 2>/dev/null || true
  printf '%s\n' "$library" >"$folder/nvidia.icd"
  export OCL_ICD_VENDORS=$folder
  say "note: no file in /etc/OpenCL/vendors names $library; using OCL_ICD_VENDORS=$folder"
}

# ---- Installing ------------------------------------------------------------------------------------------------------

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo -- "$@"
  fi
}

# Why packages cannot be installed here; empty when they can.
why_no_install() {
  if ! have_command apt-get; then
    echo "this system has no apt-get"
  elif [ "$(id -u)" -ne 0 ] && ! have_command sudo; then
    echo "neither root nor sudo"
  fi
}

apt_updated=
apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@"
}

# install_packages PACKAGE…: by apt, from fresh lists. Returns 1 on failure.
install_packages() {
  # sudo asks for its password here rather than into a log.
  [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null || sudo -v || return 1
  if [ -z "$apt_updated" ]; then
    # A source that cannot be reached may not matter for the wanted packages. Only the installation tells.
    run_logged apt-update "Updating the package lists" apt_get update || say "going on with the lists that are there"
    apt_updated=yes
  fi
  run_logged apt-install "Installing $*" apt_get install --no-install-recommends "$@"
}

# The mirror of Debian that apt uses on this machine.
debian_mirror() {
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Created-By: Packages' 2>/dev/null | head -n 1)
  printf '%s\n' "${mirror:-http://deb.debian.org/debian}"
}

# make_debian_root SUITE FOLDER PACKAGE,…: makes a minimal Debian with these packages by debootstrap, as root. An unfinished
# root is called FOLDER.new, and the next call makes it anew. The mounts of debootstrap end with their namespace.
make_debian_root() {
  rm -rf --one-file-system -- "$2.new" "$2" || return 1
  unshare --mount debootstrap --variant=minbase --include="$3" "$1" "$2.new" "$(debian_mirror)" || return 1
  rm -f -- "$2.new"/var/cache/apt/archives/*.deb
  mv -- "$2.new" "$2"
}

# Installs the packages that the build lacks: the packages of the given headers, and the packages that the library and
# the programs need. Before the first build it also tries CLBlast, which the build can do without.
install_build_tools() {
  local packages why
  mapfile -t packages < <(missing_build_packages "$@" | sort -u)
  why=$(why_no_install)
  if [ ${#packages[@]} -gt 0 ]; then
    if [ -n "$why" ]; then
      die "missing for the build, and not to be installed ($why). In Debian's packages: ${packages[*]}"
    fi
    install_packages "${packages[@]}" || die "could not install: ${packages[*]}"
  fi
  if [ -z "$why" ] && [ ! -e "$crisol_build/CMakeCache.txt" ] && [ -n "$(missing_headers clblast_c.h)" ]; then
    install_packages libclblast-dev || say "note: going on without CLBlast"
  fi
}

# A first OpenCL implementation, on the CPU, for machines that have none at all.
install_any_opencl() {
  have_opencl_platform && return 0
  local why
  why=$(why_no_install)
  if [ -n "$why" ]; then
    say "note: no OpenCL implementation in /etc/OpenCL/vendors, and none can be installed ($why)." \
      "Install your device's driver, or PoCL for the CPU (Debian: pocl-opencl-icd)."
  else
    install_packages pocl-opencl-icd || die "could not install pocl-opencl-icd"
  fi
}

# ---- Building --------------------------------------------------------------------------------------------------------

# configure NAME=VALUE…: a Release tree in $crisol_build with these options; does nothing when it is there.
configure() {
  local cache=$crisol_build/CMakeCache.txt stamp=$crisol_build/configured option known=yes generator=()
  [ -e "$stamp" ] || known= # Files of CMake lie there after it failed, too.
  for option in CMAKE_BUILD_TYPE=Release "$@"; do
    grep -qs "^${option%%=*}:[A-Z]*=${option#*=}\$" -- "$cache" || known=
  done
  [ -z "$known" ] || return 0
  if [ ! -e "$cache" ] && have_command ninja; then generator=(-G Ninja); fi
  rm -f -- "$stamp"
  run_logged configure "Configuring (${crisol_build#"$crisol_root"/}/)" \
    cmake -S "$crisol_root" -B "$crisol_build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release "${@/#/-D}" || exit 1
  : >"$stamp"
}

# show_progress: reads the output of a build, and says on standard error how much is built and how long the rest will
# take: on a terminal in a line that it writes again and again, elsewhere in a line every 15 seconds. The time is
# known after a tenth, because the first files tell little about the others.
show_progress() {
  local line built all text start=$SECONDS next=$((SECONDS + 5)) seconds
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (Building|Linking|Generating|Creating) ]]; then # Ninja
      built=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
    elif [[ $line =~ ^\[\ *([0-9]+)%\] ]]; then # Make
      built=${BASH_REMATCH[1]} all=100
    else
      continue
    fi
    if [ "$built" -eq 0 ] || { [ ! -t 2 ] && [ $SECONDS -lt $next ]; }; then continue; fi
    seconds=$(((SECONDS - start) * (all - built) / built))
    printf -v text '  %d %% built' $((100 * built / all))
    [ $((10 * built)) -lt "$all" ] || printf -v text '%s, about %d:%02d left' "$text" $((seconds / 60)) $((seconds % 60))
    if [ -t 2 ]; then
      printf '%s\e[K\r' "$text" >&2
    else
      say "$text"
      next=$((SECONDS + 15))
    fi
  done
  if [ -t 2 ]; then printf '\e[K' >&2; fi
}

# build TARGET…: these targets, or all.
build() {
  local log_reader=show_progress
  run_logged build "Building ${*:-everything} (log: ${crisol_build#"$crisol_root"/}/build.log)" \
    cmake --build "$crisol_build" --parallel "$(nproc 2>/dev/null || echo 2)" ${1:+--target "$@"} || exit 1
}
