// Text made from parts, and two ways to report a bad argument.
#pragma once

#include <sstream>
#include <string>

#include "crisol/error.h"

namespace crisol {

/// Concatenates the parts, each written with operator<<.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// Throws Error with the text "[op] parts…".
template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const char* op, const Parts&... parts) {
  throw Error(code, concat('[', op, "] ", parts...));
}

/// Throws invalid_argument with "[op] parts…" unless the rule holds. The parts are formatted only on failure.
template <class... Parts>
void require(bool rule_holds, const char* op, const Parts&... parts) {
  if (!rule_holds) fail(ErrorCode::invalid_argument, op, parts...);
}

}  // namespace crisol
