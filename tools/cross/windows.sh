# shellcheck shell=bash
# Windows on x86-64 by mingw-w64: see tools/cross/common.sh.

windows_libraries=$crisol_host_build/cross-windows # The import library of OpenCL.dll, which drivers bring.

prepare_cross_windows() {
  cross_packages g++-mingw-w64-x86-64-posix=/usr/bin/x86_64-w64-mingw32-g++-posix \
    libz-mingw-w64-dev=/usr/x86_64-w64-mingw32/include/zlib.h || return 1
  local folder=$windows_libraries/lib
  mkdir -p -- "$folder"
  {
    echo "LIBRARY OpenCL.dll"
    echo "EXPORTS"
    grep -ohE '\bcl[A-Z][A-Za-z0-9]+\(' /usr/include/CL/cl.h | tr -d '(' | sort -u
  } >"$folder/OpenCL.def"
  reason="dlltool makes no import library for OpenCL.dll"
  x86_64-w64-mingw32-dlltool --def "$folder/OpenCL.def" --output-lib "$folder/libOpenCL.dll.a"
}

cross_options_windows() {
  printf '%s\n' "OpenCL_INCLUDE_DIR=$cross_headers/include" "OpenCL_LIBRARY=$windows_libraries/lib/libOpenCL.dll.a" \
    "ZLIB_LIBRARY=/usr/x86_64-w64-mingw32/lib/libz.a"
}
