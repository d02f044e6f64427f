# shellcheck shell=bash
# Debian 12 on 64-bit ARM by Debian's cross compiler: see tools/cross/common.sh.

aarch64_root=$crisol_host_build/cross-aarch64 # A Debian for arm64 with the libraries and PoCL.
