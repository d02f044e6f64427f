#include "onnx/ops/control/loop_limit.h"

#include "base/per_thread.h"
#include "base/text.h"

namespace crisol::onnx {

namespace {

struct Iterations {
  std::int64_t limit = max_iterations;
  std::int64_t done = 0;
  int depth = 0;  ///< How many loops run within each other.
};

Iterations& iterations() { return per_thread<Iterations>(); }

}  // namespace

RunningLoop::RunningLoop() {
  Iterations& own = iterations();
  if (own.depth++ == 0) own.done = 0;
}

RunningLoop::~RunningLoop() { --iterations().depth; }

void RunningLoop::count() {
  Iterations& own = iterations();
  require(own.done < own.limit, "onnx", "a loop and the loops within it run more than ", own.limit, " iterations");
  ++own.done;
}

LoopLimit::LoopLimit(std::int64_t limit) : before_(iterations().limit) { iterations().limit = limit; }

LoopLimit::~LoopLimit() { iterations().limit = before_; }

}  // namespace crisol::onnx
