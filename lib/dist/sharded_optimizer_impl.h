// The private state of ShardedOptimizer.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "crisol/dist.h"
#include "crisol/dtype_table.h"
#include "dist/averaging.h"
#include "dist/part_average.h"
#include "dist/session.h"
#include "optim/arena_layout.h"

namespace crisol::dist {

/// The name for messages.
inline constexpr const char* sharded_optimizer = "ShardedOptimizer";

/// A range of elements of all parameters. It is cut into one part for each rank.
struct ShardedBucket {
  optim::ArenaLayout::Range range;
  std::size_t first, last;  ///< Its parameters are first … last - 1.
  std::int64_t part;        ///< Elements of each rank's part. The elements after the end of the range are padding.

  optim::ArenaLayout::Range part_of(int rank) const {
    const std::int64_t begin = std::min(range.begin + part * rank, range.end);
    return {begin, std::min(begin + part, range.end)};
  }
};

/// A part of a parameter that this rank updates.
struct Piece {
  std::size_t parameter, bucket;
  optim::ArenaLayout::Range within;  ///< The range within the parameter.
  std::int64_t place;                ///< Where it begins in the rank's part of the bucket.
  Tensor leaf;
  std::uint64_t version = 0;  ///< The version of the parameter that the leaf has the elements of.
};

struct ShardedOptimizerImpl : std::enable_shared_from_this<ShardedOptimizerImpl> {
  ShardedOptimizerImpl(const NamedTensors& parameters, const ShardedOptimizer::Make& make, std::int64_t bucket_bytes);

  static optim::ArenaLayout layout_of(const NamedTensors& parameters);
  /// The type of the parameters, which they share.
  DType dtype() const { return parameters[0].second.dtype(); }
  /// The type in which gradients are summed.
  DType sum_dtype() const { return value_type(dtype()); }
  void cut();
  void check_pieces() const;
  /// Gives the leaves the elements of parameters that the program loaded or changed. A leaf of two bytes that is not
  /// written keeps the f32 value that the optimiser has of it.
  void read_changed();
  std::vector<bool> touched() const;
  void complete(std::size_t parameter);
  void end_pass(const std::exception_ptr& error);
  void begin_outside_capture(std::size_t bucket);
  void begin_average(std::size_t bucket);
  std::vector<Tensor> gradients_of(std::size_t bucket) const;
  /// Waits for the averages that have begun, and removes them.
  std::vector<std::shared_ptr<PartAverage>> finish_averages();
  std::vector<char> outdated(const std::vector<std::shared_ptr<PartAverage>>& finished) const;
  /// Gives each piece the average of its gradients on all ranks, unless clip_grad_norm already did.
  void average();
  /// Collects the elements of a bucket in the type of sums from the tensors `value(parameter)`, with zeros where the
  /// tensor is undefined.
  Tensor collect(const ShardedBucket& bucket, const std::function<Tensor(std::size_t parameter)>& value) const;
  /// Collects the elements of a bucket on all ranks, from the tensors `value(piece)` of each rank's pieces, which have
  /// this type.
  Tensor gather(std::size_t bucket, DType type, const std::function<Tensor(std::size_t piece)>& value) const;
  /// Copies the elements of a bucket to the tensors `to(parameter)`. Skips a parameter if its tensor is undefined.
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
  bool averaged = false;           ///< Whether the pieces have their gradients.
  std::vector<bool> has_gradient;  ///< By parameter: whether it has a gradient, set when the pieces get theirs.

  GradientWatch watch;
  bool first_pass = false;  ///< Whether this is the first backward() after a step, which begins the averages.

  // State from the first backward() after a step until the next step.
  std::int64_t passes = 0;  ///< Steps whose averages began.
  double used_weight = 1;
  StepWeights step_weights;
  std::future<void> weighing;                          ///< The exchange of the weights.
  std::vector<std::shared_ptr<PartAverage>> averages;  ///< By bucket. Null before its exchange begins.
};

}  // namespace crisol::dist
