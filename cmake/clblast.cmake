# CLBlast computes products where a user asks for it. Only its header is needed here: the library is loaded at run time,
# when a product first asks for it.
if(CRISOL_WITH_CLBLAST STREQUAL AUTO)
  find_path(CLBLAST_INCLUDE_DIR clblast_c.h)
elseif(CRISOL_WITH_CLBLAST)
  find_path(CLBLAST_INCLUDE_DIR clblast_c.h REQUIRED)
endif()
if(CRISOL_WITH_CLBLAST AND CLBLAST_INCLUDE_DIR)
  set(library libclblast.so.1)
  if(WIN32)
    set(library clblast.dll)
  elseif(APPLE)
    set(library libclblast.1.dylib)
  endif()
  set_source_files_properties(${PROJECT_SOURCE_DIR}/lib/runtime/clblast.cpp PROPERTIES
    COMPILE_DEFINITIONS CRISOL_CLBLAST="${library}")
  target_include_directories(crisol_objects SYSTEM PRIVATE ${CLBLAST_INCLUDE_DIR})
endif()
