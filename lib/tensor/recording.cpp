#include "crisol/recording.h"

#include "base/text.h"
#include "base/thread_context.h"
#include "crisol/grad_mode.h"
#include "runtime/recording.h"
#include "tensor/recorded_uses.h"

namespace crisol {

void Storage::note_recorded_write() { thread_context().recorded_uses->wrote(*this); }

DerivedData::Found Storage::find_derived(const DerivedKey& key, std::uint64_t at_version) {
  RecordedUses* const uses = thread_context().recorded_uses;
  if (uses == nullptr) return derived.find(key, at_version);
  if (grad_enabled()) return {};  // A training step writes the weight, so each replay packs it anew.
  DerivedData::Found found = derived.find(key, at_version);
  if (!found.data) return {};
  uses->relied_on(*this, at_version);
  return found;
}

void RecordedUses::check() const {
  for (const Relied& relied : relied_on_)
    if (const auto storage = relied.storage.lock()) {
      const std::uint64_t now = storage->version.load(std::memory_order_relaxed);
      require(now == relied.version, "replay", "a weight was written since it was recorded (version ", now,
              ", recorded at ", relied.version, "), and a packed copy of it is used; record again");
    }
}

void RecordedUses::note_written() const {
  for (const auto& [address, weak] : written_)
    if (const auto storage = weak.lock()) storage->written();
}

struct Recording::Impl {
  std::shared_ptr<runtime::Recorder> recorder;
  RecordedUses uses;
};

namespace {

/// Ends the recording, also after an exception.
class Scope {
 public:
  Scope(runtime::Recorder& recorder, RecordedUses& uses) : recorder_(recorder) {
    thread_context().recorded_uses = &uses;
  }
  ~Scope() {
    thread_context().recorded_uses = nullptr;
    runtime::end_recording(recorder_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  runtime::Recorder& recorder_;
};

}  // namespace

Recording record(const std::function<void()>& work, Device device, ReplayBy by) {
  require(work != nullptr, "record", "there is no work");
  auto impl = std::make_shared<Recording::Impl>();
  impl->recorder = runtime::begin_recording(device.state());
  {
    const Scope scope(*impl->recorder, impl->uses);
    work();
  }
  if (by == ReplayBy::launches) return Recording(std::move(impl));
  const char* why_not = runtime::keep_in_command_buffer(*impl->recorder);
  require(by == ReplayBy::any || why_not == nullptr, "record", device, ": ", why_not == nullptr ? "" : why_not);
  return Recording(std::move(impl));
}

void Recording::replay() const {
  impl_->uses.check();
  runtime::replay(*impl_->recorder);
  impl_->uses.note_written();
}

std::size_t Recording::size() const noexcept { return runtime::commands_of(*impl_->recorder); }
bool Recording::in_command_buffer() const noexcept { return runtime::in_command_buffer(*impl_->recorder); }

}  // namespace crisol
