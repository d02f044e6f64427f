#include "runtime/memory/placement.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "base/ceil_div.h"

namespace crisol::runtime {

namespace {

struct Placed {
  std::uint64_t begin, end;
  std::size_t first, last;
};

/// A buffer and the lifetimes that are placed in it, sorted by where they begin.
struct FilledBuffer {
  std::vector<Placed> placed;
  std::uint64_t bytes = 0;
};

/// The position of a lifetime in the buffer: the smallest gap that fits, or else after everything that is alive at the
/// same time. Nothing if the buffer would become too large.
std::optional<std::uint64_t> place_in(const FilledBuffer& buffer, const Lifetime& life, std::uint64_t alignment,
                                      std::uint64_t max_buffer) {
  std::optional<std::uint64_t> best;
  std::uint64_t best_gap = std::numeric_limits<std::uint64_t>::max(), free_from = 0;
  for (const Placed& other : buffer.placed) {
    if (other.last < life.first || life.last < other.first) continue;
    if (other.begin >= free_from + life.bytes && other.begin - free_from < best_gap) {
      best = free_from;
      best_gap = other.begin - free_from;
    }
    free_from = std::max(free_from, ceil_div(other.end, alignment) * alignment);
  }
  if (best) return best;
  if (free_from + life.bytes > max_buffer) return {};
  return free_from;
}

}  // namespace

Placement place_together(std::span<const Lifetime> lifetimes, std::uint64_t alignment, std::uint64_t max_buffer) {
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  std::vector<FilledBuffer> buffers;
  Placement result;
  result.places.resize(lifetimes.size());
  for (const std::size_t index : order) {
    const Lifetime& life = lifetimes[index];
    const auto begin_in = [&](std::size_t at) {
      if (at == buffers.size()) buffers.emplace_back();
      return place_in(buffers[at], life, alignment, max_buffer);
    };
    std::size_t at = 0;
    std::optional<std::uint64_t> begin = begin_in(at);
    while (!begin) begin = begin_in(++at);
    FilledBuffer& buffer = buffers[at];
    const Placed placed{*begin, *begin + life.bytes, life.first, life.last};
    const auto before = std::upper_bound(buffer.placed.begin(), buffer.placed.end(), placed.begin,
                                         [](std::uint64_t value, const Placed& other) { return value < other.begin; });
    buffer.placed.insert(before, placed);
    buffer.bytes = std::max(buffer.bytes, placed.end);
    result.places[index] = {at, *begin};
  }
  for (const FilledBuffer& buffer : buffers) result.buffers.push_back(buffer.bytes);
  return result;
}

}  // namespace crisol::runtime
