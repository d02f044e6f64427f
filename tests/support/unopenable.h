// A file that cannot be opened, though it is there, for what happens when opening fails: root may read everything.
#pragma once

#include <memory>
#include <string>

namespace crisol::testing {

/// While it lives this process cannot open the file: on POSIX systems no other file either, on Windows because it is
/// open for nobody else.
class Unopenable {
 public:
  explicit Unopenable(const std::string& path);
  ~Unopenable();
  Unopenable(const Unopenable&) = delete;
  Unopenable& operator=(const Unopenable&) = delete;

  /// What the system says of it.
  static const char* const reason;

 private:
  struct System;
  std::unique_ptr<System> system_;
};

}  // namespace crisol::testing
