# Debian 12 on 64-bit ARM, built by Debian's cross compiler: see tools/cross.sh. The folder CRISOL_AARCH64_ROOT holds
# the files of this ARM system.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# CMake checks the compiler in separate projects, which read this file again.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CRISOL_AARCH64_ROOT)
# The compiler has its own C and C++ libraries. OpenCL's loader and zlib come from the root. Nothing comes from the
# host.
set(CMAKE_FIND_ROOT_PATH ${CRISOL_AARCH64_ROOT} ${CMAKE_PREFIX_PATH})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
