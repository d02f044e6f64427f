// Texts for Module::extra_repr.
#pragma once

namespace crisol::nn {

inline const char* word(bool value) noexcept { return value ? "true" : "false"; }

}  // namespace crisol::nn
