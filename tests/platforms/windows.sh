# shellcheck shell=bash
# Sourced by tests/run.sh: "windows", the build for Windows (mingw-w64) under Wine, whose OpenCL.dll calls the OpenCL
# loader of this machine, with PoCL. If --only names it, it runs all tests but the ones that need a compiler or POSIX,
# and names these. Otherwise it runs crisol selftest with one op of each family of kernels, or with all ops if --long is
# given. Then the counts are ops.
source "$crisol_root/tools/cross/common.sh"

windows_build=$work/windows # Apart from build/windows, which is optimised more.
windows_ops=mul,sum,softmax,matmul,conv2d,sort_topk,layer_norm,lstm,adam_step
windows_options="CMAKE_CXX_FLAGS_RELEASE=-O1 CRISOL_PRECOMPILE_HEADERS=ON"

wine_program() { command -v wine64 || { [ -x /usr/lib/wine/wine64 ] && echo /usr/lib/wine/wine64; }; }
have_wine() { wine_program >/dev/null; }

# wine PROGRAM ARGUMENT…: in a Wine of its own below build/. Names of files and variables are UTF-8.
wine() {
  env -u DISPLAY -u WAYLAND_DISPLAY LC_ALL=C.UTF-8 WINEPREFIX="$crisol_host_build/wine" WINEDEBUG=-all \
    WINEDLLOVERRIDES="mscoree,mshtml=" "$(wine_program)" "$@"
}

prepare_windows() {
  reason="Debian's Wine runs such programs on x86-64 only, this is $(uname -m)"
  [ "$(uname -m)" = x86_64 ] || return 1
  prepare_from_vendors pocl pocl-opencl-icd && register windows "$(cat /etc/OpenCL/vendors/pocl.icd)" || return 1
  need_package wine64 have_wine || return 1
  prepare_cross windows || return 1
  reason="Wine makes no folder for its settings (build/wine.log)"
  run_logged wine "Starting Wine" wine wineboot --init
}

# The names that tests/exported_symbols.txt lists and that the DLL does not export. Whole numbers of 64 bits are other
# types on Windows.
missing_exports() {
  local folder=$work/windows-exports
  mkdir -p -- "$folder"
  x86_64-w64-mingw32-objdump -p "$windows_build/bin/libcrisol.dll" |
    sed -nE '/^\[Ordinal\/Name Pointer\] Table/,/^$/s/^[[:space:]]*\[ *[0-9]+\] (\+base\[ *[0-9]+\] +[0-9a-f]+ )?//p' |
    c++filt | sed -E 's/\bunsigned long long\b/unsigned long/g; s/\blong long\b/long/g; s/([0-9]u?)ll\b/\1l/g
      s/std::__cxx11::/std::/g; s/std::basic_string<char, std::char_traits<char>, std::allocator<char> >/std::string/g
      s/std::basic_([io]stream)<char, std::char_traits<char> >/std::\1/g' | sort -u >"$folder/exported"
  sort -u -- "$crisol_root/tests/exported_symbols.txt" | comm -13 -- "$folder/exported" -
}

# GCC for Windows frees a thread_local object before it calls the object's destructor. lib/base/per_thread.h has no such
# object there, so no other part of the library may have one.
fault_of_threads() {
  ! x86_64-w64-mingw32-objdump -p "$windows_build/bin/libcrisol.dll" | grep __cxa_thread_atexit >/dev/null ||
    echo "libcrisol.dll has a thread_local object with a destructor (lib/base/per_thread.h)"
}

# Prints what is wrong with the zip of `cpack -G ZIP`. Its command must run in the folder of the unpacked zip. The zip
# must have the provider for ONNX Runtime.
fault_of_zip() {
  local folder=$work/windows-zip log=$work/windows-zip.log root
  rm -rf -- "$folder" "$windows_build"/crisol-*.zip
  mkdir -p -- "$folder"
  (cd -- "$windows_build" && cpack -G ZIP) >"$log" 2>&1 || { echo "cpack makes no zip ($log)"; return; }
  (cd -- "$folder" && cmake -E tar xf "$windows_build"/crisol-*.zip) >>"$log" 2>&1
  root=$(echo "$folder"/crisol-*)
  [ -s "$root/LICENSE.txt" ] && [ -s "$root/include/crisol/crisol.h" ] || echo "the zip lacks files"
  x86_64-w64-mingw32-objdump -p "$root/bin/libcrisol_ort.dll" 2>>"$log" | grep CreateEpFactories >/dev/null ||
    echo "the zip lacks the provider for ONNX Runtime"
  OCL_ICD_VENDORS=$work/icd/windows wine "$root/bin/crisol.exe" devices >>"$log" 2>&1 ||
    echo "crisol.exe from the zip does not run ($log)"
}

# fail_windows TEXT: counts one more failure, unless the text is empty.
fail_windows() {
  [ -n "$1" ] || return 0
  printf '%s\n' "$1" >>"$work/windows.log"
  note[windows]="${note[windows]:+${note[windows]}, }$(head -n 1 <<<"$1")"
  failed[windows]=$((failed[windows] + 1))
}

# wine_script NAME: a program of the build for Windows as a program of this machine; prints its path.
wine_script() {
  local script=$windows_build/$1.sh
  {
    printf '#!/usr/bin/env bash\n'
    declare -p crisol_host_build
    declare -f wine wine_program
    printf 'wine %q "$@" | tr -d "\\r"\nexit "${PIPESTATUS[0]}"\n' "$windows_build/bin/$1.exe" # Lines end with "\r\n".
  } >"$script"
  chmod +x -- "$script"
  printf '%s\n' "$script"
}

run_windows() {
  local start=$SECONDS missing ops
  if [ -n "$named" ]; then
    cross_folder=$windows_build cross_build windows "$windows_options"
    test_program[windows]=$(wine_script crisol_tests)
    run_tests windows
  else
    cross_folder=$windows_build cross_build windows "$windows_options" crisol_cli
    ops=(--only "$windows_ops")
    [ -z "$long" ] || ops=()
    run_selftest windows "$(wine_script crisol)" "${ops[@]}"
  fi
  missing=$(missing_exports)
  fail_windows "${missing:+libcrisol.dll does not export $(wc -l <<<"$missing") functions:
$missing}"
  fail_windows "$(fault_of_threads)"
  [ -z "$named" ] || fail_windows "$(fault_of_zip)"
  seconds[windows]=$((SECONDS - start))
}
