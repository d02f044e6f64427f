# `cmake --install` installs headers, library, CMake package, pkg-config file and command. This file says where.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS crisol EXPORT crisolTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
if(CRISOL_BUILD_CLI)
  # With this path the command finds the library in any prefix, also when the loader does not search there.
  file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(crisol_cli PROPERTIES INSTALL_RPATH $ORIGIN/${to_libraries})
  install(TARGETS crisol_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
  if(TARGET crisol_null_driver)
    install(TARGETS crisol_null_driver LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/crisol COMPONENT runtime)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/devices DESTINATION ${CMAKE_INSTALL_DATADIR}/crisol COMPONENT runtime)
  endif()
  if(UNIX)
    install(FILES ${PROJECT_SOURCE_DIR}/docs/crisol.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
    set(completions ${PROJECT_SOURCE_DIR}/tools/cli/completions)
    install(FILES ${completions}/crisol.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
            RENAME crisol COMPONENT runtime)
    install(FILES ${completions}/_crisol DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT runtime)
    install(FILES ${completions}/crisol.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
            COMPONENT runtime)
  endif()
endif()
# The pages and samples have the places that they have in the repository, so that links between them lead somewhere.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
              ${PROJECT_SOURCE_DIR}/SECURITY.md ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN verified EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/licences DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/samples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development
        PATTERN run.sh EXCLUDE)  # It builds the whole repository.
# What samples/CMakeLists.txt needs where crisol is installed.
install(FILES ${PROJECT_SOURCE_DIR}/cmake/platform.cmake DESTINATION ${CMAKE_INSTALL_DOCDIR}/cmake COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/cmake/windows DESTINATION ${CMAKE_INSTALL_DOCDIR}/cmake COMPONENT development
        FILES_MATCHING PATTERN "utf8.*")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/crisol DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT crisolTargets NAMESPACE crisol:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/crisol COMPONENT development)

if(TARGET crisol_dist)
  # `cmake --install BUILD --component dist` installs it, and nothing else does: packages do not depend on MPI.
  set_target_properties(crisol_dist PROPERTIES INSTALL_RPATH $ORIGIN)
  install(TARGETS crisol_dist EXPORT crisolDistTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dist EXCLUDE_FROM_ALL)
  install(EXPORT crisolDistTargets NAMESPACE crisol:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/crisol COMPONENT dist
          EXCLUDE_FROM_ALL)
endif()

if(TARGET crisol_ort)
  set_target_properties(crisol_ort PROPERTIES INSTALL_RPATH $ORIGIN)
  # Beside the library: Windows looks for it there. Who builds the library alone installs it without the provider.
  install(TARGETS crisol_ort COMPONENT runtime OPTIONAL
          LIBRARY DESTINATION $<IF:$<BOOL:${WIN32}>,${CMAKE_INSTALL_BINDIR},${CMAKE_INSTALL_LIBDIR}>)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/crisolConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/generated/crisolConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/crisol)
# The soname is the major version. Before 1.0, a minor version may break programs built against another minor version.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/crisolConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/crisolConfig.cmake
              ${PROJECT_BINARY_DIR}/generated/crisolConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/crisol COMPONENT development)

foreach(folder INCLUDE LIB)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}DIR}")
    set(CRISOL_PC_${folder}DIR "${CMAKE_INSTALL_${folder}DIR}")
  else()
    set(CRISOL_PC_${folder}DIR "\${prefix}/${CMAKE_INSTALL_${folder}DIR}")
  endif()
endforeach()
# The prefix is relative to the folder of crisol.pc, so that the whole tree can be moved.
file(RELATIVE_PATH CRISOL_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(CRISOL_PC_STATIC "")
set(CRISOL_PC_STATIC_OPTION "")
if(NOT BUILD_SHARED_LIBS)
  set(CRISOL_PC_STATIC " -DCRISOL_STATIC")
  set(CRISOL_PC_STATIC_OPTION "${CRISOL_STATIC_OPTION} ")
endif()
# The C++ libraries that a C compiler does not link by itself.
set(CRISOL_PC_CXX ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER CRISOL_PC_CXX INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|m)$")
list(REMOVE_DUPLICATES CRISOL_PC_CXX)
list(TRANSFORM CRISOL_PC_CXX PREPEND -l)
list(JOIN CRISOL_PC_CXX " " CRISOL_PC_CXX)
configure_file(${PROJECT_SOURCE_DIR}/cmake/crisol.pc.in ${PROJECT_BINARY_DIR}/generated/crisol.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/crisol.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)

if(PROJECT_IS_TOP_LEVEL)
  include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)
endif()
