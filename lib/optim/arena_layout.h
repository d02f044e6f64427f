// Where parameters are in the flat arenas of an optimiser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace crisol::optim {

/// A layout of arenas, counted in elements. Arenas of values, gradients and state share one layout, even if their
/// element types differ. Every parameter starts at a multiple of 64 elements, which is a multiple of 64 bytes in every
/// type. The parameters of a group follow each other. So a group, a bucket and a shard are each one range. The gaps
/// between parameters stay zero.
class ArenaLayout {
 public:
  static constexpr std::int64_t alignment = 64;

  /// The elements from `begin` to end - 1.
  struct Range {
    std::int64_t begin = 0, end = 0;
    std::int64_t count() const noexcept { return end - begin; }
    friend bool operator==(const Range&, const Range&) = default;
  };
  /// The parameters first … last - 1, and the range of their elements and gaps.
  struct Bucket {
    std::size_t first = 0, last = 0;
    Range range;
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };
  /// A part of a parameter. `within` counts from the parameter's first element.
  struct Piece {
    std::size_t parameter = 0;
    Range within;
    friend bool operator==(const Piece&, const Piece&) = default;
  };

  /// `groups` has the sizes of the parameters of each group. The total size is a multiple of shards · alignment, so
  /// that it can be cut into `shards` equal shards.
  explicit ArenaLayout(const std::vector<std::vector<std::int64_t>>& groups, std::int64_t shards = 1);

  std::size_t parameters() const noexcept { return sizes_.size(); }
  std::size_t groups() const noexcept { return group_first_.size() - 1; }
  /// The number of all elements: parameters, gaps and the padding at the end.
  std::int64_t size() const noexcept { return size_; }

  /// The elements of a parameter, without the gap after it.
  Range parameter(std::size_t index) const { return {first_[index], first_[index] + sizes_[index]}; }
  /// The elements of the parameters first … last - 1, with their gaps.
  Range parameters(std::size_t first, std::size_t last) const { return {first_[first], first_[last]}; }
  /// The elements of a group, with its gaps.
  Range group(std::size_t index) const { return parameters(group_first_[index], group_first_[index + 1]); }
  /// Shard `index` of the shards that the constructor asked for. A shard may begin or end within a parameter.
  Range shard(std::int64_t index) const;

  /// Puts whole parameters into buckets of at most `bytes` bytes, where an element has `element_size` bytes. A larger
  /// parameter gets a bucket of its own. The last parameters come first, because backward completes their gradients
  /// first. The first bucket has at most `first_bytes`, so that its transfer starts early. PyTorch takes 25 MiB and 1
  /// MiB.
  std::vector<Bucket> buckets(std::int64_t bytes, std::int64_t first_bytes, std::int64_t element_size) const;

  /// The parts of parameters in a range, in order.
  std::vector<Piece> pieces(const Range& range) const;

 private:
  std::vector<std::int64_t> sizes_;
  /// The elements at which the parameters begin. The last entry is the end of the last gap.
  std::vector<std::int64_t> first_;
  std::vector<std::size_t> group_first_;
  std::int64_t size_ = 0, shards_;
};

}  // namespace crisol::optim
