// The private state of ShardedOptimizer.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "crisol/dist.h"
#include "dist/session.h"
#include "optim/arena_layout.h"

namespace crisol::dist {

/// A range of elements of all parameters, which is cut into one part for each rank.
struct ShardedBucket {
  optim::ArenaLayout::Range range;
  std::int64_t part;  ///< Elements of a rank. Those behind the end of the range are padding.

  optim::ArenaLayout::Range part_of(int rank) const {
    const std::int64_t begin = std::min(range.begin + part * rank, range.end);
    return {begin, std::min(begin + part, range.end)};
  }
};

/// A part of a parameter that this rank updates.
struct Piece {
  std::size_t parameter, bucket;
  optim::ArenaLayout::Range within;  ///< In the parameter.
  std::int64_t place;                ///< Where it begins in the rank's part of the bucket.
  Tensor leaf;
};

struct ShardedOptimizerImpl {
  ShardedOptimizerImpl(const NamedTensors& parameters, const ShardedOptimizer::Make& make);

  static optim::ArenaLayout layout_of(const NamedTensors& parameters);
  void cut();
  void check_pieces() const;
  std::vector<bool> touched() const;
  ~ShardedOptimizerImpl();
  /// Gives each piece the average of its gradients on all ranks, unless clip_grad_norm did.
  void average();
  /// The elements of a bucket, from the tensors `value(parameter)`; zeros where one is undefined.
  Tensor collect(const ShardedBucket& bucket, const std::function<Tensor(std::size_t parameter)>& value) const;
  /// The elements of a bucket, from the tensors `value(piece)` of the pieces of all ranks.
  Tensor gather(std::size_t bucket, const std::function<Tensor(std::size_t piece)>& value) const;
  /// Copies the elements of a bucket to the tensors `to(parameter)`; nowhere if one is undefined.
  void spread(const ShardedBucket& bucket, const Tensor& elements,
              const std::function<Tensor(std::size_t parameter)>& to) const;
  /// The first rank that has a piece of a parameter.
  int owner_of(std::size_t parameter) const;

  Session& session;
  NamedTensors parameters;
  const optim::ArenaLayout layout;
  std::vector<ShardedBucket> buckets;
  std::vector<Piece> pieces;
  std::shared_ptr<optim::Optimizer> optimizer;
  double weight = 1;
  bool averaged = false;           ///< The pieces have their gradients.
  std::vector<bool> has_gradient;  ///< By parameter, when they got them.
  std::vector<HookHandle> hooks;
};

}  // namespace crisol::dist
