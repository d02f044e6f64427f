#include "dispatch/variant_record.h"

#include <algorithm>

#include "base/thread_context.h"
#include "crisol/profile.h"

namespace crisol {

VariantRecord::VariantRecord() noexcept : outer_(thread_context().variant_record) {
  thread_context().variant_record = this;
}

VariantRecord::~VariantRecord() { thread_context().variant_record = outer_; }

void VariantRecord::note(const char* op, const char* variant) {
  const auto same = [&](const VariantChoice& choice) { return choice.op == op && choice.variant == variant; };
  const auto known = std::find_if(choices_.begin(), choices_.end(), same);
  if (known != choices_.end())
    ++known->times;
  else
    choices_.push_back({op, variant, 1});
  if (outer_ != nullptr) outer_->note(op, variant);
}

void runtime::note_choice(const char* op, const char* variant) {
  if (VariantRecord* const innermost = thread_context().variant_record) innermost->note(op, variant);
}

}  // namespace crisol
