#include "dispatch/variant_log.h"

#include <algorithm>

#include "base/thread_context.h"
#include "crisol/profile.h"

namespace crisol {

VariantLog::VariantLog() noexcept : outer_(thread_context().dispatch.variant_log) {
  thread_context().dispatch.variant_log = this;
}

VariantLog::~VariantLog() { thread_context().dispatch.variant_log = outer_; }

void VariantLog::note(const char* op, const char* variant) {
  const auto same = [&](const VariantChoice& choice) { return choice.op == op && choice.variant == variant; };
  const auto known = std::find_if(choices_.begin(), choices_.end(), same);
  if (known != choices_.end())
    ++known->times;
  else
    choices_.push_back({op, variant, 1});
  if (outer_ != nullptr) outer_->note(op, variant);
}

void dispatch::note_choice(const char* op, const char* variant) {
  if (VariantLog* const innermost = thread_context().dispatch.variant_log) innermost->note(op, variant);
}

}  // namespace crisol
