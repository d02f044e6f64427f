# What differs between operating systems: files whose names end in _posix.cpp or _windows.cpp are built for those alone.
function(crisol_keep_own_system name_of_list)
  if(WIN32)
    list(FILTER ${name_of_list} EXCLUDE REGEX "_posix\\.cpp$")
  else()
    list(FILTER ${name_of_list} EXCLUDE REGEX "_windows\\.cpp$")
  endif()
  set(${name_of_list} "${${name_of_list}}" PARENT_SCOPE)
endfunction()

# Arguments, variables and names of files are UTF-8 in this program, on Windows too.
function(crisol_use_utf8 program)
  if(MSVC)
    target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/windows/utf8.manifest)
  elseif(WIN32)
    target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/windows/utf8.rc)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/cmake/windows/utf8.rc PROPERTIES
      INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/cmake/windows)
  endif()
endfunction()

if(MSVC)
  add_compile_options(/utf-8 /EHsc /bigobj)
endif()
if(WIN32)
  enable_language(RC)
  # Names of windows.h that are not the C++ of anybody else.
  add_compile_definitions(NOMINMAX WIN32_LEAN_AND_MEAN)
endif()
