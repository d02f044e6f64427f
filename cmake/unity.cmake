# Fewer, larger compilations. A file of the library takes a second for its headers and less for its own lines, so with
# CRISOL_UNITY the compiler gets all files of a folder as one. Then the names in the anonymous namespaces of a folder
# must differ. Files that need headers of Windows or CLBlast are compiled alone, because those headers define macros.
option(CRISOL_UNITY "Compile the files of a folder as one: a whole build takes less time" ON)

# Host code that runs once for a shape, a file or a program, or waits for files. At -O3 it takes a third more time to
# compile. The decoders of images in lib/io/images take most of the time of a loader, so they stay at -O3.
set(crisol_runs_once "^lib/((dispatch/stored|graph/passes|measure|onnx|ops/probe|reference|rerun)/|io/[^/]*$)")

# crisol_unite(NAME_OF_LIST [JOINED]): replaces the files of each folder in the list by a file that includes them, and
# sets how well the compiler optimizes the files. Folders that match the regular expression JOINED become one file.
function(crisol_unite name_of_list)
  set(united "")
  set(folders "")
  foreach(source IN LISTS ${name_of_list})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    get_filename_component(folder ${path} DIRECTORY)
    if(ARGC GREATER 1 AND folder MATCHES "${ARGV1}")
      if(NOT joined_folder)
        set(joined_folder ${folder})
      endif()
      set(folder ${joined_folder})
    endif()
    set(options "")
    if(NOT MSVC AND path MATCHES "${crisol_runs_once}")
      set(options $<$<CONFIG:Release>:-O1>)
    endif()
    if(CRISOL_UNITY AND NOT path MATCHES "(_windows|/clblast)\\.cpp$")
      list(APPEND folders ${folder})
      string(APPEND "text_of_${folder}" "#include \"${source}\"\n")
      set("options_of_${folder}" ${options})
    else()
      list(APPEND united ${source})
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${options}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    string(REPLACE "/" "_" name ${folder})
    set(source ${PROJECT_BINARY_DIR}/unity/${name}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "${text_of_${folder}}" @ONLY)
    list(APPEND united ${source})
    set(options ${options_of_${folder}})
    if(NOT MSVC)
      list(APPEND options -Wno-shadow) # A local name may be the name of something in another file.
    endif()
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${options}")
  endforeach()
  set(${name_of_list} ${united} PARENT_SCOPE)
endfunction()
