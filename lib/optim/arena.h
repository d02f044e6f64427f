// How parameters lie in an optimiser's arenas.
#pragma once

#include <cstdint>

namespace crisol::optim {

/// Every parameter begins at a multiple of so many elements, for aligned vectors; what lies between two stays zero.
constexpr std::int64_t arena_alignment = 64;

}  // namespace crisol::optim
