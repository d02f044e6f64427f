// The layout of parameters in an optimiser's arenas.
#pragma once

#include <cstdint>

namespace crisol::optim {

/// Every parameter starts at a multiple of this number of elements, so that vectors are aligned. The gaps between
/// parameters stay zero.
constexpr std::int64_t arena_alignment = 64;

}  // namespace crisol::optim
