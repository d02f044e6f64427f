# Debian 12 on 64-bit ARM, built by Debian's cross compiler against a root of that Debian: see tools/cross.sh.
# CRISOL_AARCH64_ROOT: where the root is.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# The checks of the compiler configure projects of their own, which read this file too.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CRISOL_AARCH64_ROOT)
# The C and C++ libraries come with the compiler. OpenCL's loader and zlib come from the root, and so do the libraries that
# they are linked with.
set(CMAKE_FIND_ROOT_PATH ${CRISOL_AARCH64_ROOT} ${CMAKE_PREFIX_PATH})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
