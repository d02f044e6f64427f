#include <atomic>
#include <cstdlib>

#include "base/text.h"
#include "crisol/ops/workspace.h"
#include "dispatch/choose.h"
#include "runtime/verbose.h"

namespace crisol::ops {

namespace {

std::uint64_t limit_from_environment() {
  const std::string text = runtime::environment("CRISOL_WORKSPACE_MB");
  if (text.empty()) return 0;
  char* end = nullptr;
  const double megabytes = std::strtod(text.c_str(), &end);
  require(*end == '\0' && megabytes >= 0 && megabytes < 1e9, "CRISOL_WORKSPACE_MB", '\'', text,
          "' is not a number of megabytes");
  return static_cast<std::uint64_t>(megabytes * 1e6);
}

std::atomic<std::uint64_t>& limit() {
  static std::atomic<std::uint64_t> bytes{limit_from_environment()};
  return bytes;
}

}  // namespace

void set_workspace_limit(std::uint64_t bytes) {
  limit().store(bytes, std::memory_order_relaxed);
  dispatch::forget_prepared();
}

std::uint64_t workspace_limit() { return limit().load(std::memory_order_relaxed); }

}  // namespace crisol::ops
