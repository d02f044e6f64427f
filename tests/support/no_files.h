// A process that may open no more files, for what happens when opening fails: root may read everything.
#pragma once

#include <sys/resource.h>

#include "doctest/doctest.h"

namespace crisol::testing {

class NoMoreFiles {
 public:
  NoMoreFiles() {
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit none{0, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

/// Can be opened, but not read from its beginning: nothing is mapped there. Says that it is a regular file.
inline constexpr const char* unreadable_file = "/proc/self/mem";

}  // namespace crisol::testing
