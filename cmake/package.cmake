# `cpack -G DEB` makes one Debian package with the library, its headers and the command.
set(CPACK_PACKAGE_NAME crisol)
set(CPACK_PACKAGE_VENDOR crisol)
set(CPACK_PACKAGE_CONTACT "crisol's developers <crisol@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION
    "A library that trains and runs neural networks on any OpenCL device: NVIDIA, AMD, Intel, or a plain CPU.\nThis package holds the shared library, what programs are built with, and the command crisol.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
if(WIN32)
  include(cmake/windows/package.cmake)
  include(CPack)
  return()
endif()

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
if(CRISOL_AARCH64_ROOT)
  # CPack would ask this machine for the architecture and for the packages that contain the libraries.
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  file(CONFIGURE OUTPUT ${generated}/dpkg-shlibdeps @ONLY CONTENT [[#!/bin/sh
DEB_HOST_ARCH=arm64 exec dpkg-shlibdeps --admindir='@CRISOL_AARCH64_ROOT@/var/lib/dpkg' \
  -l'@CRISOL_AARCH64_ROOT@/usr/lib/aarch64-linux-gnu' -l'@CRISOL_AARCH64_ROOT@/lib/aarch64-linux-gnu' "$@"
]])
  file(CHMOD ${generated}/dpkg-shlibdeps PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  file(WRITE ${generated}/package.cmake "set(SHLIBDEPS_EXECUTABLE \"${generated}/dpkg-shlibdeps\")\n")
  set(CPACK_PROJECT_CONFIG_FILE ${generated}/package.cmake)
endif()
# An OpenCL implementation is the user's choice; PoCL serves any CPU.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(DPKG_SHLIBDEPS)
if(DPKG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
else()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6, libgcc-s1, libstdc++6, ocl-icd-libopencl1 | libopencl1, zlib1g")
endif()
# Renews the cache of Debian's loader. CMake itself does so only for libraries directly in /usr/lib.
file(WRITE ${PROJECT_BINARY_DIR}/generated/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/generated/triggers)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT runtime)

include(CPack)
