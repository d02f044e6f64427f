// The private state of DataParallel.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "crisol/dist.h"
#include "dist/gradient_bucket.h"
#include "dist/session.h"

namespace crisol::dist {

struct DataParallelImpl : std::enable_shared_from_this<DataParallelImpl> {
  DataParallelImpl(const NamedTensors& parameters, const NamedTensors& buffers, const DataParallelOptions& options);

  /// Watches the gradients. Called once the object has its owner.
  void add_hooks();
  void remove_hooks();
  void share_state();
  void sync_buffers();
  void check_weights();
  /// Takes the value of rank 0, if this rank's differs by rounding alone. Returns 1 if it differs by more. All ranks
  /// call it.
  std::uint64_t approach_first(Tensor parameter) const;

  /// The gradient of a parameter is complete.
  void complete(std::size_t parameter);
  /// The first gradient of a pass.
  void begin_pass();
  /// Starts the sums of all buckets from the next one on whose gradients are complete.
  void start_complete_buckets();
  void start_bucket(GradientBucket& bucket);
  /// The end of backward().
  void end_pass(const std::exception_ptr& error);
  /// Runs a part of the exchange with the other ranks, now and in each replay of a captured step.
  void exchange(std::function<void(DataParallelImpl& own)> part);

  // Parts of the exchange. They may use the state that a step has when it is replayed.
  void begin_exchange(bool has_samples);
  void begin_note(bool whole);
  void begin_sum(const std::shared_ptr<FlatGradients>& gradients, std::size_t number);
  void end_exchange(const std::vector<char>& its_present);
  bool is_complete(const GradientBucket& bucket) const;

  Session& session;
  const DataParallelOptions options;
  NamedTensors trained;  ///< The parameters that want gradients.
  NamedTensors all;      ///< All parameters.
  NamedTensors buffers;
  std::vector<GradientBucket> buckets;
  std::function<Tensor(const Tensor& x)> forward;
  std::vector<HookHandle> hooks;
  double weight = 1;
  bool sync = true;
  bool has_samples = true;
  /// All ranks have devices of one kind, so equal steps give equal bits.
  bool devices_are_alike = true;

  // Of a backward().
  bool collects = false;
  std::vector<char> present;  ///< By parameter: its gradient is complete.
  std::size_t started = 0;    ///< Buckets whose sum was started.

  // Of an exchange.
  bool exchanges = false;
  std::int64_t passes = 0;
  std::vector<float> weights;  ///< The ranks' weights; empty if they are equal. Only the worker uses it.
  std::vector<std::future<void>> sums;
  std::vector<char> whole;  ///< By rank: it has all gradients.
};

}  // namespace crisol::dist
