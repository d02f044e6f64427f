#include <sys/resource.h>

#include "doctest/doctest.h"
#include "support/unopenable.h"

namespace crisol::testing {

struct Unopenable::System {
  rlimit before;
};

const char* const Unopenable::reason = "Too many open files";

Unopenable::Unopenable(const std::string& /*path*/) : system_(std::make_unique<System>()) {
  REQUIRE(getrlimit(RLIMIT_NOFILE, &system_->before) == 0);
  const rlimit none{0, system_->before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
}

Unopenable::~Unopenable() { setrlimit(RLIMIT_NOFILE, &system_->before); }

}  // namespace crisol::testing
