// The private state of DataParallel.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "crisol/dist.h"
#include "dist/averaging.h"
#include "dist/gradient_bucket.h"
#include "dist/session.h"

namespace crisol::dist {

/// The name for messages.
inline constexpr const char* data_parallel = "DataParallel";

struct DataParallelImpl : std::enable_shared_from_this<DataParallelImpl> {
  DataParallelImpl(const NamedTensors& parameters, const NamedTensors& buffers, const DataParallelOptions& options);

  void share_state();
  void sync_buffers();
  void check_weights();
  /// Takes rank 0's value if this rank's value differs only by rounding. Returns 1 if it differs by more. All ranks
  /// must call it.
  std::uint64_t approach_first(Tensor parameter) const;

  /// Called when the gradient of a parameter is complete.
  void complete(std::size_t parameter);
  /// Called at the first gradient of a backward pass.
  void begin_pass();
  /// Starts the sum of the next bucket.
  void start_next_bucket();
  /// Called at the end of backward().
  void end_pass(const std::exception_ptr& error);
  /// Runs a part of the exchange with the other ranks, now and in each replay of a captured step.
  void exchange(std::function<void(DataParallelImpl& own)> part);

  // Parts of the exchange. When a captured step is replayed, they may use only the state that exists then.
  void begin_exchange(bool has_samples);
  void begin_note(bool whole);
  void begin_sum(const std::shared_ptr<FlatGradients>& gradients, std::size_t number);
  void end_exchange(const std::vector<char>& its_present);

  Session& session;
  const DataParallelOptions options;
  NamedTensors trained;  ///< The parameters that want gradients.
  NamedTensors all;      ///< All parameters.
  NamedTensors buffers;
  std::vector<GradientBucket> buckets;
  std::function<Tensor(const Tensor& x)> forward;
  double weight = 1;
  bool sync = true;
  bool has_samples = true;
  /// Whether all ranks have devices of one kind, so that equal steps give equal bits.
  bool devices_are_alike = true;

  GradientWatch watch;

  // State of an exchange.
  bool exchanges = false;
  std::int64_t passes = 0;
  std::vector<double> weights;  ///< The ranks' weights; empty if they are equal. Only the worker uses it.
  std::vector<std::future<void>> sums;
  std::vector<char> whole;  ///< By rank: whether the rank has all gradients.
};

}  // namespace crisol::dist
