// Ops that consist of several launches. All kernels are resolved before the first launch is queued.
//
//     return rehearsed(key, [&] { return second(first(x)); });
//
// The first call with a key runs the function in a dry run, which resolves its kernels and queues nothing. If a kernel
// cannot be built, the op throws here, and nothing is changed. The next calls cost one look-up.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "runtime/dry_run.h"

namespace crisol::runtime {
class DeviceState;
}

namespace crisol::dispatch {

/// Everything that decides which kernels a call of an op needs. The constructor adds settings of the thread and the
/// process: forced variants, the precision, and whether work is captured.
class CallKey {
 public:
  CallKey(const char* op, const runtime::DeviceState& device);
  CallKey& add(std::int64_t number) noexcept {
    hash_.add(static_cast<std::uint64_t>(number));
    return *this;
  }
  std::uint64_t value() const noexcept { return hash_.value(); }

 private:
  Hash hash_;
};

/// Whether an earlier call with this key has resolved its kernels.
bool is_rehearsed(const CallKey& key);
void note_rehearsed(const CallKey& key);
/// Forgets all calls, because a setting that choices depend on has changed.
void forget_rehearsed() noexcept;

/// Returns what `work` returns. Its kernels are resolved before its first launch is queued. `work` must not read values
/// on the host.
template <class Work>
auto rehearsed(const CallKey& key, const Work& work) {
  if (!runtime::in_dry_run() && !is_rehearsed(key)) {
    {
      const runtime::DryRun rehearsal(runtime::DryRun::Kernels::all);
      static_cast<void>(work());
    }
    note_rehearsed(key);
  }
  return work();
}

}  // namespace crisol::dispatch
