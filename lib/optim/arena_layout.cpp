#include "optim/arena_layout.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "base/text.h"

namespace crisol::optim {

ArenaLayout::ArenaLayout(const std::vector<std::vector<std::int64_t>>& groups, std::int64_t shards) : shards_(shards) {
  require(shards > 0, "arena", shards, " shards, there must be at least 1");
  std::int64_t end = 0;
  for (const std::vector<std::int64_t>& group : groups) {
    group_first_.push_back(sizes_.size());
    for (const std::int64_t size : group) {
      sizes_.push_back(size);
      first_.push_back(end);
      end += ceil_div(size, alignment) * alignment;
    }
  }
  group_first_.push_back(sizes_.size());
  first_.push_back(end);
  size_ = ceil_div(end, shards * alignment) * shards * alignment;
}

ArenaLayout::Range ArenaLayout::shard(std::int64_t index) const {
  require(index >= 0 && index < shards_, "arena", "shard ", index, " of ", shards_);
  return {size_ / shards_ * index, size_ / shards_ * (index + 1)};
}

std::vector<ArenaLayout::Bucket> ArenaLayout::buckets(std::int64_t bytes, std::int64_t first_bytes,
                                                      std::int64_t element_size) const {
  std::vector<Bucket> all;
  for (std::size_t last = parameters(), first = 0; last > 0; last = first) {
    const std::int64_t most = (all.empty() ? first_bytes : bytes) / element_size;
    first = last - 1;
    while (first > 0 && parameters(first - 1, last).count() <= most) --first;
    all.push_back({first, last, parameters(first, last)});
  }
  return all;
}

std::vector<ArenaLayout::Piece> ArenaLayout::pieces(const Range& range) const {
  std::vector<Piece> all;
  for (std::size_t i = 0; i < parameters(); ++i) {
    const Range own = parameter(i);
    const std::int64_t begin = std::max(own.begin, range.begin), end = std::min(own.end, range.end);
    if (begin < end) all.push_back({i, {begin - own.begin, end - own.begin}});
  }
  return all;
}

}  // namespace crisol::optim
