# Test files that cannot run on Windows, each with the reason, which the test program tells (left_out_windows.cpp).
set(left_out
  "c_api/completeness_test.cpp: reads the symbols of the library with nm"
  "cli/kernels_test.cpp: crisol kernels plays devices by a driver for Linux"
  "docs/adding_op_test.cpp: needs a compiler"
  "docs/docs_test.cpp: needs a compiler and a shell"
  "docs/doxygen_test.cpp: reads the sources, which are the same everywhere"
  "docs/format_test.cpp: reads the sources, which are the same everywhere"
  "docs/tables_test.cpp: reads the sources, which are the same everywhere"
  "exported_symbols_test.cpp: tests/platforms/windows.sh compares the exports of the DLL"
  "install_test.cpp: needs a compiler"
  "package_test.cpp: is about Debian's packages"
  "runtime/fault_test.cpp: the driver of faults is written for Linux"
  "runtime/fork_test.cpp: Windows has no fork()")
list(REMOVE_ITEM CRISOL_TEST_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/support/processes/consumers.cpp)
foreach(line IN LISTS left_out)
  string(REGEX REPLACE ":.*" "" file ${line})
  list(REMOVE_ITEM CRISOL_TEST_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/${file})
endforeach()
string(JOIN "\n" left_out ${left_out})
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/left_out.h CONTENT "R\"text(\n${left_out}\n)text\"\n")
set_source_files_properties(left_out_windows.cpp PROPERTIES INCLUDE_DIRECTORIES ${CMAKE_CURRENT_BINARY_DIR})
