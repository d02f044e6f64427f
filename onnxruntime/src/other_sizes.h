// Kernels for sizes that a session has not had yet.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "api.h"
#include "crisol/onnx.h"

namespace crisol::ort {

/// Compiles kernels for other sizes, once the sizes of a model change.
///
/// Kernels take sizes as arguments, but ops choose among kernels by sizes. With an empty cache, runs with new sizes
/// would meet kernels that are not compiled yet, one after another. So the second set of sizes is followed by runs of
/// the model with zeros in many sizes. They end at the latest when they have taken as long as the first two runs took.
/// These are short if the cache has most kernels.
class OtherSizes {
 public:
  using Clock = std::chrono::steady_clock;

  /// Adds an input of the model, and what ONNX Runtime knows about it.
  void add_input(const std::string& name, const OrtValueInfo* value);
  /// Call it after each run, which began at `start`. Other sizes do not matter for the results, so failures are
  /// ignored.
  void after_run(const onnx::Model& model, const NamedTensors& inputs, Clock::time_point start);

 private:
  using Sizes = std::map<std::string, std::int64_t>;  // By the names of axes.

  /// The sizes of the axes that may change.
  Sizes sizes_of(const NamedTensors& inputs) const;
  /// Runs the model with zeros in many sizes up to `largest`, until `end`.
  void run_others(const onnx::Model& model, const NamedTensors& inputs, const Sizes& largest,
                  Clock::time_point end) const;
  /// Runs the model with zeros of these sizes.
  void run(const onnx::Model& model, const NamedTensors& inputs, const Sizes& sizes) const;

  std::map<std::string, std::vector<std::string>> axes_;  ///< By input. An axis with a fixed size has no name.
  std::atomic<bool> is_done_ = false;
  std::mutex mutex_;  ///< Guards changes of is_done_, and the members below.
  Sizes first_;
  Clock::duration spent_{};  ///< By the first run.
};

}  // namespace crisol::ort
