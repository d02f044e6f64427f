# An OpenCL driver that reads a device's description from a file, for `crisol kernels`. The OpenCL loader loads it as a
# module. It has its own copy of the code that reads DeviceInfo, so it works with shared and static builds of the
# library. It is optimised, because `crisol bench --for` times the host's work with it.
file(GLOB CRISOL_NULL_DRIVER_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/null_driver/*.cpp)
crisol_unite(CRISOL_NULL_DRIVER_SOURCES)
add_library(crisol_null_driver MODULE ${CRISOL_NULL_DRIVER_SOURCES} ${PROJECT_SOURCE_DIR}/lib/runtime/device/device_info.cpp
            ${PROJECT_SOURCE_DIR}/lib/base/error.cpp)
target_compile_definitions(crisol_null_driver PRIVATE CRISOL_STATIC)
target_include_directories(crisol_null_driver PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/lib
                                                      ${PROJECT_SOURCE_DIR}/tools)
target_include_directories(crisol_null_driver SYSTEM PRIVATE ${CLHPP_INCLUDE_DIR})
target_compile_options(crisol_null_driver PRIVATE ${CRISOL_WARNINGS})
target_link_libraries(crisol_null_driver PRIVATE nlohmann_json::nlohmann_json)
set_target_properties(crisol_null_driver PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/crisol)

# The folders in which the command looks for this driver, relative to its own folder: installed, and in the build tree.
include(GNUInstallDirs)
file(RELATIVE_PATH installed ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/crisol)
target_compile_definitions(crisol_cli PRIVATE CRISOL_NULL_DRIVER_FOLDERS="${installed}:../lib/crisol")
add_dependencies(crisol_cli crisol_null_driver)
