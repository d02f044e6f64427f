# CRISOL_SANITIZE: the library's code is instrumented, and all programs are linked with the sanitizers' parts. The tests
# themselves are compiled as ever: it is not they that are under test, and a sanitizer doubles what compiling takes.
if(CRISOL_BUILD_FUZZERS AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "CRISOL_BUILD_FUZZERS needs clang, this is ${CMAKE_CXX_COMPILER_ID}")
endif()
if(CRISOL_SANITIZE)
  # A finding of the undefined behaviour sanitizer ends the program, as those of the others do.
  set(CRISOL_SANITIZE_OPTIONS -fsanitize=${CRISOL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${CRISOL_SANITIZE})
endif()
if(CRISOL_BUILD_FUZZERS)
  list(APPEND CRISOL_SANITIZE_OPTIONS -fsanitize=fuzzer-no-link)
endif()
