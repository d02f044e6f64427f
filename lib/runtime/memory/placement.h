// Sharing of memory between blocks that are never needed at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace crisol::runtime {

/// Bytes that are needed from one command of a list to another command, both included.
struct Lifetime {
  std::uint64_t bytes;
  std::size_t first, last;
};

struct Placement {
  struct Place {
    std::size_t buffer;
    std::uint64_t offset;
  };
  std::vector<Place> places;           ///< By the index of the lifetime.
  std::vector<std::uint64_t> buffers;  ///< Bytes of each buffer.
};

/// Places lifetimes in buffers. Two lifetimes that have a command in common share no byte. Offsets are multiples of
/// `alignment`. A buffer has at most `max_buffer` bytes, and no lifetime may need more. The largest lifetimes are
/// placed first, each in the smallest gap that it fits into. Source: "Greedy by Size for Offset Calculation" of
/// Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net Inference, 2020.
Placement place_together(std::span<const Lifetime> lifetimes, std::uint64_t alignment, std::uint64_t max_buffer);

}  // namespace crisol::runtime
