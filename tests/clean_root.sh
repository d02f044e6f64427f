#!/usr/bin/env bash
# tests/clean_root.sh PACKAGE.deb FOLDER
#
# Makes a minimal Debian of the package's architecture in FOLDER, by debootstrap and as root. An existing FOLDER is used
# again. Installs the package there with apt, and PoCL. Then compiles README's first program with pkg-config, runs it,
# and runs `crisol selftest`. If the architecture is another one, qemu runs the programs and selftest runs few ops.
# Downloads some 600 MB and takes minutes. Ends with exit code 0 if everything worked.
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,/^set /s/^# \{0,1\}//p' -- "${BASH_SOURCE[0]}"; exit 2; }
package=$1 root=$2
checkout=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

architecture=$(dpkg-deb --field "$package" Architecture)
[ -x "$root/usr/bin/apt-get" ] ||
  debootstrap --arch="$architecture" --variant=minbase bookworm "$root" http://deb.debian.org/debian
cp -- "$package" "$root/root/crisol.deb"
# The first C++ block of README, which is a whole program.
awk '/^```/ { inside = $0 == "```cpp" && !done; next } inside { print; done = 1 }' "$checkout/README.md" \
  >"$root/root/program.cpp"
grep -q 'int main()' "$root/root/program.cpp"
# PoCL reads the CPU's properties there.
mounted=()
trap 'for folder in "${mounted[@]}"; do umount -- "$folder"; done' EXIT
for folder in proc sys; do
  mount --bind "/$folder" "$root/$folder"
  mounted+=("$root/$folder")
done

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
inside apt-get -q update
inside apt-get -q -y install --no-install-recommends --reinstall /root/crisol.deb pocl-opencl-icd g++ pkg-config
inside crisol --version
inside crisol devices
inside sh -c 'cd /root && g++ -std=c++17 program.cpp $(pkg-config --cflags --libs crisol) -o program && ./program'
few=()
[ "$architecture" = "$(dpkg --print-architecture)" ] || few=(--only add,softmax)
inside crisol selftest "${few[@]}"
