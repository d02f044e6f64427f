# `cpack -G ZIP` makes a folder from which the programs run. It holds the commands, the samples, the library, the files
# to build programs with it, and the licences. It does not hold OpenCL.dll, because drivers install it.
set(CPACK_GENERATOR ZIP)
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_PACKAGE_FILE_NAME crisol-${PROJECT_VERSION}-windows-x86_64)
install(FILES ${CRISOL_RUNTIME_LIBRARIES} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
if(CRISOL_BUILD_SAMPLES)
  install(TARGETS ${CRISOL_SAMPLES} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION . RENAME LICENSE.txt COMPONENT runtime)
install(FILES ${PROJECT_SOURCE_DIR}/docs/windows-and-arm.md DESTINATION . RENAME README.md COMPONENT runtime)
# The licences of linked and shipped libraries, if Debian's packages provide them.
foreach(package gcc-mingw-w64-base mingw-w64-common libz-mingw-w64-dev nlohmann-json3-dev libcli11-dev libstb-dev
        opencl-clhpp-headers)
  if(EXISTS /usr/share/doc/${package}/copyright)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION licences RENAME ${package}.txt COMPONENT runtime)
  endif()
endforeach()
