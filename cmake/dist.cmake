# libcrisol_dist: training on several devices by MPI. It uses what the library exports, so neither the library nor the
# samples depend on MPI.
if(NOT CMAKE_CROSSCOMPILING) # It would find this machine's MPI.
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(NOT MPI_CXX_FOUND OR NOT BUILD_SHARED_LIBS OR WIN32)
  message(STATUS "libcrisol_dist is left out: it needs MPI, and a shared library on a system other than Windows")
  return()
endif()
file(GLOB_RECURSE CRISOL_DIST_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/dist/*.cpp
     ${PROJECT_SOURCE_DIR}/lib/c_api/dist/*.cpp)
crisol_unite(CRISOL_DIST_SOURCES "/dist")
# The layout of arenas is a value without ties to the rest of the library.
add_library(crisol_dist SHARED ${CRISOL_DIST_SOURCES} ${PROJECT_SOURCE_DIR}/lib/optim/arena_layout.cpp)
add_library(crisol::dist ALIAS crisol_dist)
set_target_properties(crisol_dist PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${CRISOL_SOVERSION} EXPORT_NAME dist)
target_include_directories(crisol_dist PRIVATE ${PROJECT_SOURCE_DIR}/lib)
target_compile_definitions(crisol_dist PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_compile_options(crisol_dist PRIVATE ${CRISOL_WARNINGS} ${CRISOL_SANITIZE_OPTIONS} -ffp-contract=off)
target_link_libraries(crisol_dist PUBLIC crisol PRIVATE MPI::MPI_CXX Threads::Threads)
