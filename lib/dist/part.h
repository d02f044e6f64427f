// How elements are cut into one part for each rank.
#pragma once

#include <algorithm>
#include <cstddef>

namespace crisol::dist {

struct Part {
  std::size_t begin, count;
};

/// The part of a rank. Parts start at multiples of 16 elements. The parts of the last ranks may be empty.
constexpr Part part_of_rank(std::size_t count, int rank, int ranks) noexcept {
  constexpr std::size_t alignment = 16;
  const std::size_t size = (count + static_cast<std::size_t>(ranks) - 1) / static_cast<std::size_t>(ranks);
  const std::size_t aligned = (size + alignment - 1) / alignment * alignment;
  const std::size_t begin = std::min(count, aligned * static_cast<std::size_t>(rank));
  return {begin, std::min(count, begin + aligned) - begin};
}

}  // namespace crisol::dist
