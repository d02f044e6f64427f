# CRISOL_SANITIZE: the library's code is instrumented, and all programs are linked with the sanitizers' runtime. The
# tests themselves are compiled without it: they are not under test, and a sanitizer doubles their compile time.
if(CRISOL_BUILD_FUZZERS AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "CRISOL_BUILD_FUZZERS needs clang, this is ${CMAKE_CXX_COMPILER_ID}")
endif()
if(CRISOL_SANITIZE)
  # A finding of the undefined behaviour sanitizer ends the program, as findings of the other sanitizers do.
  set(CRISOL_SANITIZE_OPTIONS -fsanitize=${CRISOL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${CRISOL_SANITIZE})
endif()
if(CRISOL_BUILD_FUZZERS)
  list(APPEND CRISOL_SANITIZE_OPTIONS -fsanitize=fuzzer-no-link)
endif()
