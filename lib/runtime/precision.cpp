#include "crisol/precision.h"

#include <atomic>
#include <ostream>

#include "base/text.h"
#include "base/thread_context.h"
#include "runtime/verbose.h"

namespace crisol {

namespace {

constexpr std::int16_t unset = -1;

Precision precision_from_environment() {
  const std::string text = runtime::environment("CRISOL_PRECISION");
  if (text.empty()) return Precision::fp32;
  for (const Precision known : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16})
    if (text == name_of(known)) return known;
  fail(ErrorCode::invalid_argument, "CRISOL_PRECISION", '\'', text, "' is none of fp32, tf32, fp16, bf16");
}

std::atomic<std::int16_t> of_process{unset};

}  // namespace

const char* name_of(Precision precision) noexcept {
  switch (precision) {
    case Precision::fp32: return "fp32";
    case Precision::tf32: return "tf32";
    case Precision::fp16: return "fp16";
    case Precision::bf16: return "bf16";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, Precision precision) { return out << name_of(precision); }

Precision precision() {
  const std::int16_t of_thread = thread_context().precision;
  if (of_thread != ThreadContext::no_precision) return static_cast<Precision>(of_thread);
  const std::int16_t set = of_process.load(std::memory_order_relaxed);
  if (set != unset) return static_cast<Precision>(set);
  static const Precision initial = precision_from_environment();
  return initial;
}

void set_precision(Precision precision) noexcept {
  of_process.store(static_cast<std::int16_t>(precision), std::memory_order_relaxed);
}

WithPrecision::WithPrecision(Precision precision) noexcept : before_(thread_context().precision) {
  thread_context().precision = static_cast<std::int16_t>(precision);
}

WithPrecision::~WithPrecision() { thread_context().precision = before_; }

}  // namespace crisol
