#include "crisol/capture.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/thread_context.h"
#include "crisol/grad_mode.h"
#include "crisol/replay_calls.h"
#include "runtime/capture/capture.h"
#include "runtime/memory/block.h"
#include "tensor/capture_planned.h"
#include "tensor/captured_work.h"

namespace crisol {

void Storage::note_captured_write() { thread_context().submission.uses->wrote(*this); }

DerivedData::Found Storage::find_derived(const DerivedKey& key, std::uint64_t at_version) {
  if (!thread_context().program.reads_packed) return {};
  CapturedUses* const uses = thread_context().submission.uses;
  if (uses == nullptr) return derived.find(key, at_version);
  if (grad_enabled()) return {};  // Training steps write the weight, so each replay packs it again.
  DerivedData::Found found = derived.find(key, at_version);
  // The program does not write the tensor, so all replays read the same values.
  if (!found.data) found.worth_keeping = thread_context().program.is_made && !uses->computes(*this);
  if (found.data || found.worth_keeping) {
    uses->relied_on(*this, at_version);
    ++thread_context().program.packed_reads;
  }
  return found;
}

bool CapturedUses::computes(Storage& storage) const {
  return written_.count(&storage) > 0 || varying_.count(&storage) > 0 || runtime::is_planned(*storage.block);
}

void CapturedUses::check() const {
  for (const Relied& relied : relied_on_)
    if (const auto storage = relied.storage.lock()) {
      const std::uint64_t now = storage->version.load(std::memory_order_relaxed);
      require(now == relied.version, "replay", "a weight was written since it was captured (version ", now,
              ", captured at ", relied.version, "), and a packed copy of it is used; capture again");
    }
}

bool CapturedUses::holds() const {
  return std::all_of(relied_on_.begin(), relied_on_.end(), [](const Relied& relied) {
    const auto storage = relied.storage.lock();
    return !storage || storage->version.load(std::memory_order_relaxed) == relied.version;
  });
}

bool CapturedUses::relies_on(const Storage& storage) const {
  return std::any_of(relied_on_.begin(), relied_on_.end(),
                     [&](const Relied& relied) { return relied.storage.lock().get() == &storage; });
}

void CapturedUses::note_written() const {
  for (const auto& [address, weak] : written_)
    if (const auto storage = weak.lock()) storage->written();
}

namespace {

/// Ends the capture, also after an exception.
class CaptureScope {
 public:
  CaptureScope(runtime::Capturer& capturer, CapturedUses& uses) : capturer_(capturer) {
    thread_context().submission.uses = &uses;
  }
  ~CaptureScope() {
    thread_context().submission.uses = nullptr;
    runtime::end_capture(capturer_);
  }
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;

 private:
  runtime::Capturer& capturer_;
};

// On CPUs a replay makes launches. Drivers of CPUs queue the commands of a command buffer one by one, and a command
// takes longer than a launch: 1.7 µs instead of 1.2 on PoCL, and 2.3 µs instead of 1.5 on Intel's runtime. There a
// replay of 25 short commands takes 94 µs, and 76 µs by launches.
bool replays_by_launches(const Device& device, ReplayBy by) {
  return by == ReplayBy::launches || (by == ReplayBy::any && device.info().type == DeviceType::cpu);
}

}  // namespace

CapturedWork::CapturedWork(const std::function<void()>& work, Device device, runtime::FirstRun first_run)
    : capturer(runtime::begin_capture(device.state(), first_run)) {
  const CaptureScope scope(*capturer, uses);
  work();
}

void CapturedWork::replay() const {
  uses.check();
  runtime::replay(*capturer);
  uses.note_written();
}

struct CapturedGraph::Impl : CapturedWork {
  using CapturedWork::CapturedWork;
};

CapturedGraph capture(const std::function<void()>& work, Device device, ReplayBy by) {
  require(work != nullptr, "capture", "there is no work");
  auto impl = std::make_shared<CapturedGraph::Impl>(work, device, runtime::FirstRun::at_once);
  if (replays_by_launches(device, by)) return CapturedGraph(std::move(impl));
  const char* why_not = runtime::keep_in_command_buffer(*impl->capturer);
  require(by == ReplayBy::any || why_not == nullptr, "capture", device, ": ", why_not == nullptr ? "" : why_not);
  return CapturedGraph(std::move(impl));
}

CapturedGraph capture_planned(const std::function<void()>& work, Device device) {
  auto impl = std::make_shared<CapturedGraph::Impl>(work, device, runtime::FirstRun::in_replay);
  runtime::place_memory(*impl->capturer);
  if (!replays_by_launches(device, ReplayBy::any)) runtime::keep_in_command_buffer(*impl->capturer);
  return CapturedGraph(std::move(impl));
}

void call_in_replays(ReplayCall function) {
  require(function != nullptr, "call_in_replays", "there is no function");
  {
    const runtime::PauseCapture pause;
    function(nullptr);
  }
  if (runtime::Capturer* const capturer = runtime::current_capturer())
    runtime::add_call(*capturer, std::move(function));
}

void CapturedGraph::replay() const { impl_->replay(); }

std::size_t CapturedGraph::size() const noexcept { return runtime::commands_of(*impl_->capturer); }
bool CapturedGraph::in_command_buffer() const noexcept { return runtime::in_command_buffer(*impl_->capturer); }

}  // namespace crisol
