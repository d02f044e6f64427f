#include <windows.h>

#include "base/system.h"
#include "doctest/doctest.h"
#include "support/unopenable.h"

namespace crisol::testing {

struct Unopenable::System {
  HANDLE file;
};

const char* const Unopenable::reason = "Permission denied";

Unopenable::Unopenable(const std::string& path) : system_(std::make_unique<System>()) {
  constexpr DWORD for_nobody_else = 0;
  system_->file = CreateFileW(system::path_of(path).c_str(), GENERIC_READ, for_nobody_else, nullptr, OPEN_EXISTING,
                              FILE_ATTRIBUTE_NORMAL, nullptr);
  REQUIRE(system_->file != INVALID_HANDLE_VALUE);
}

Unopenable::~Unopenable() { CloseHandle(system_->file); }

}  // namespace crisol::testing
