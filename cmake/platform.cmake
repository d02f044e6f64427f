# Differences between operating systems: a file named *_posix.cpp or *_windows.cpp is built only for that system.
function(crisol_keep_own_system name_of_list)
  if(WIN32)
    list(FILTER ${name_of_list} EXCLUDE REGEX "_posix\\.cpp$")
  else()
    list(FILTER ${name_of_list} EXCLUDE REGEX "_windows\\.cpp$")
  endif()
  set(${name_of_list} "${${name_of_list}}" PARENT_SCOPE)
endfunction()

set(crisol_windows ${CMAKE_CURRENT_LIST_DIR}/windows)
# Arguments, variables and file names are UTF-8 in this program, also on Windows.
function(crisol_use_utf8 program)
  if(MSVC)
    target_sources(${program} PRIVATE ${crisol_windows}/utf8.manifest)
  elseif(WIN32)
    target_sources(${program} PRIVATE ${crisol_windows}/utf8.rc)
    set_source_files_properties(${crisol_windows}/utf8.rc PROPERTIES INCLUDE_DIRECTORIES ${crisol_windows})
  endif()
endfunction()

if(MSVC)
  add_compile_options(/utf-8 /EHsc /bigobj)
endif()
if(WIN32)
  enable_language(RC)
  # Without these definitions, windows.h defines macros that break standard C++, such as min and max.
  add_compile_definitions(NOMINMAX WIN32_LEAN_AND_MEAN)
endif()
