// Makes opening an existing file fail. File permissions cannot do this, because root may read everything.
#pragma once

#include <memory>
#include <string>

namespace crisol::testing {

/// As long as this object exists, the process cannot open the file. On POSIX systems it cannot open any other file
/// either. On Windows the object holds the file open without sharing it.
class Unopenable {
 public:
  explicit Unopenable(const std::string& path);
  ~Unopenable();
  Unopenable(const Unopenable&) = delete;
  Unopenable& operator=(const Unopenable&) = delete;

  /// The system's message for this failure.
  static const char* const reason;

 private:
  struct System;
  std::unique_ptr<System> system_;
};

}  // namespace crisol::testing
