#include "autograd/anomaly.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "base/thread_context.h"
#include "crisol/autograd.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/reduce.h"

namespace crisol {

namespace {

bool from_environment() noexcept {
  const char* text = std::getenv("CRISOL_DETECT_ANOMALY");
  return text != nullptr && std::string_view(text) == "1";
}

// This is a global. A local static variable would have a guard, which would slow down each op's read.
std::atomic<bool> of_process{from_environment()};

}  // namespace

DetectAnomaly::DetectAnomaly() noexcept : before_(thread_context().grad.detects_anomaly) {
  thread_context().grad.detects_anomaly = true;
}
DetectAnomaly::~DetectAnomaly() { thread_context().grad.detects_anomaly = before_; }

bool detects_anomaly() noexcept {
  return thread_context().grad.detects_anomaly || of_process.load(std::memory_order_relaxed);
}

void set_detect_anomaly(bool enabled) noexcept { of_process.store(enabled, std::memory_order_relaxed); }

namespace autograd {

bool is_finite(const Tensor& tensor) {
  if (!tensor.defined() || !is_floating(tensor.dtype())) return true;
  return ops::all(ops::isfinite(tensor)).item<bool>();
}

void check_results(const char* op, const std::vector<Tensor>& results, const std::vector<Tensor>& inputs) {
  for (const Tensor& result : results) {
    if (is_finite(result)) continue;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      require(is_finite(inputs[i]), op, "the result of shape ", result.shape(), " holds NaN or infinity; input ", i,
              " of shape ", inputs[i].shape(), " held one before");
    fail(ErrorCode::invalid_argument, op, "the result of shape ", result.shape(),
         " holds NaN or infinity; its inputs do not");
  }
}

}  // namespace autograd

}  // namespace crisol
