# On Windows, programs need the compiler's own libraries in their folder. Users of MSVC install its libraries
# themselves.
set(CRISOL_RUNTIME_LIBRARIES "")
if(MINGW)
  foreach(name libstdc++-6.dll libgcc_s_seh-1.dll libwinpthread-1.dll)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${name} OUTPUT_VARIABLE library
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(EXISTS ${library})
      get_filename_component(library ${library} REALPATH)
      list(APPEND CRISOL_RUNTIME_LIBRARIES ${library})
      file(COPY ${library} DESTINATION ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
    endif()
  endforeach()
endif()
