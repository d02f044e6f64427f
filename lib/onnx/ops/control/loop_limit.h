// A limit for iterations, because a model from a stranger may have endless loops.
#pragma once

#include <cstdint>

namespace crisol::onnx {

/// The largest number of iterations that a loop and the loops within it may run together.
constexpr std::int64_t max_iterations = std::int64_t{1} << 24;

/// While this object lives, the thread runs a loop.
class RunningLoop {
 public:
  RunningLoop();
  ~RunningLoop();
  RunningLoop(const RunningLoop&) = delete;
  RunningLoop& operator=(const RunningLoop&) = delete;

  /// Counts an iteration. Throws invalid_argument if the limit is exceeded.
  void count();
};

/// While this object lives, the thread has another limit instead of max_iterations.
class LoopLimit {
 public:
  explicit LoopLimit(std::int64_t limit);
  ~LoopLimit();
  LoopLimit(const LoopLimit&) = delete;
  LoopLimit& operator=(const LoopLimit&) = delete;

 private:
  std::int64_t before_;
};

}  // namespace crisol::onnx
