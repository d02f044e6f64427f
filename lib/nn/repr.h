// Texts for Module::extra_repr.
#pragma once

#include <string>

#include "base/text.h"

namespace crisol::nn {

inline const char* word(bool value) noexcept { return value ? "true" : "false"; }

/// A number that is not a count, as "1.0", "0.1" or "1e-05".
inline std::string decimal(double value) {
  std::string text = concat(value);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

}  // namespace crisol::nn
