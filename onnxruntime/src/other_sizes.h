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
/// would meet kernels that are not compiled yet, one after another. So after the second set of sizes the model is
/// prepared for many sizes. Sizes that need new kernels do not count against the time that this may take, because a
/// later run would compile the same kernels.
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
  /// Prepares the model for many sizes around `largest`. Takes `budget`, and the time for sizes that need new kernels.
  void prepare_others(const onnx::Model& model, const NamedTensors& inputs, const Sizes& largest,
                      Clock::duration budget) const;
  /// Prepares the model for these sizes. Returns whether it needs new kernels.
  bool prepare(const onnx::Model& model, const NamedTensors& inputs, const Sizes& sizes) const;

  std::map<std::string, std::vector<std::string>> axes_;  ///< By input. An axis with a fixed size has no name.
  std::atomic<bool> is_done_ = false;
  std::mutex mutex_;  ///< Guards changes of is_done_, and the members below.
  std::vector<Shape> first_shapes_;
  Sizes first_;
  Clock::duration spent_{};  ///< By the first run.
};

}  // namespace crisol::ort
