// check_error, which needs no part of the library that the shared library hides.
#include <string>

#include "crisol/error.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol::testing {

void check_error(const std::function<void()>& call, std::initializer_list<std::string_view> parts, ErrorCode code) {
  try {
    call();
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK_MESSAGE(error.code() == code, crisol::name_of(error.code()) << ": " << text);
    for (const std::string_view part : parts)
      CHECK_MESSAGE(text.find(part) != std::string::npos, "\"" << std::string(part) << "\" is not in: " << text);
    return;
  }
  CHECK_MESSAGE(false, "nothing was thrown");
}

}  // namespace crisol::testing
