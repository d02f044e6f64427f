// The devices of this process, and the default device.
#include "crisol/device.h"

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>

#include "base/forked.h"
#include "base/per_thread.h"
#include "base/system.h"
#include "base/text.h"
#include "crisol/trace.h"
#include "runtime/device/device_select.h"
#include "runtime/device/device_state.h"
#include "runtime/verbose.h"

namespace crisol {

using runtime::Candidate;
using runtime::DeviceState;

namespace {

std::vector<std::unique_ptr<DeviceState>> enumerate() {
  std::vector<std::unique_ptr<DeviceState>> states;
  cl_uint count = 0;
  // If there is no platform, the loader reports an error (CL_PLATFORM_NOT_FOUND_KHR). This means no devices.
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return states;
  std::vector<cl_platform_id> platforms(count);
  runtime::check_cl(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  for (int p = 0; p < static_cast<int>(count); ++p) {
    std::vector<cl::Device> found;
    cl::Platform(platforms[static_cast<std::size_t>(p)]).getDevices(CL_DEVICE_TYPE_ALL, &found);
    for (int d = 0; d < static_cast<int>(found.size()); ++d)
      states.push_back(
          std::make_unique<DeviceState>(found[static_cast<std::size_t>(d)], static_cast<int>(states.size()), p, d));
  }
  return states;
}

void report_profiles();
void finish_at_exit();

std::atomic<bool> listed{false};

// The list and the states are never destroyed, because programs and profiles are still used when the process exits.
const std::vector<std::unique_ptr<DeviceState>>& states() {
  system::check_not_forked();
  static const auto& list = *[] {
    if (const std::string file = runtime::environment("CRISOL_TRACE"); !file.empty() && !trace::active())
      trace::start(file);
    system::notice_forks();
    auto* made = new std::vector<std::unique_ptr<DeviceState>>(enumerate());
    system::at_exit(report_profiles);
    system::at_exit(finish_at_exit);
    listed = true;
    return made;
  }();
  return list;
}

/// Devices that use the user's contexts. They come after the other devices.
struct Adopted {
  std::mutex mutex;
  std::vector<std::unique_ptr<DeviceState>> states;
};

Adopted& adopted() {
  static Adopted& list = *new Adopted;
  return list;
}

std::vector<DeviceState*> all_states() {
  std::vector<DeviceState*> all;
  for (const auto& state : states()) all.push_back(state.get());
  const std::lock_guard lock(adopted().mutex);
  for (const auto& state : adopted().states) all.push_back(state.get());
  return all;
}

void report_profiles() {
  if (system::forked()) return;
  for (DeviceState* state : all_states()) {
    if (!state->used() || !state->profiler().profiles()) continue;
    std::cerr << "\nCRISOL_PROFILE: " << state->info().name << '\n';
    runtime::print_profile(std::cerr, state->profiler().rows_since(0));
  }
}

void finish_quietly(DeviceState& state) {
  try {
    state.finish();
  } catch (const std::exception&) {
    // Nothing is reported: the process or thread is ending. The failure of a device was reported before, or does not
    // matter any more.
  }
}

std::atomic<bool> at_exit{false};

void finish_at_exit() {
  at_exit = true;
  if (system::forked()) return;
  // Oclgrind has already freed its objects, so a call would write to freed memory.
  for (DeviceState* state : all_states())
    if (state->used() && state->info().platform != "Oclgrind") finish_quietly(*state);
}

// The objects of the main thread are destroyed before any exit handler of the process runs. On Windows they are
// destroyed after the handlers, when no driver works any more, or not at all.
struct FinishWithThread {
  ~FinishWithThread() {
    if (at_exit || system::forked()) return;
    for (DeviceState* state : all_states())
      if (state->used()) finish_quietly(*state);
  }
};

}  // namespace

void runtime::start_timeline_of_devices() {
  if (!listed) return;
  for (DeviceState* state : all_states())
    if (state->used()) state->start_timeline();
}

void runtime::stop_timeline_of_devices(bool ending) {
  if (!listed) return;
  for (DeviceState* state : all_states())
    if (state->used() && !(ending && state->info().platform == "Oclgrind")) state->stop_timeline(ending);
}

void runtime::finish_before_exit() { static_cast<void>(per_thread<FinishWithThread>()); }

namespace {

std::vector<Candidate> candidates() {
  std::vector<Candidate> list;
  for (const auto& state : states()) list.push_back({&state->info(), state->platform_index(), state->device_index()});
  return list;
}

struct Default {
  std::mutex mutex;
  DeviceState* state = nullptr;
  std::string reason;

  void choose() {
    if (state != nullptr) return;
    const std::vector<Candidate> all = candidates();
    if (const std::string wanted = runtime::environment("CRISOL_DEVICE"); !wanted.empty()) {
      state = states()[runtime::select_device(all, wanted, "CRISOL_DEVICE")].get();
      reason = "CRISOL_DEVICE=" + wanted;
    } else {
      const runtime::DefaultChoice choice = runtime::select_default(all);
      state = states()[choice.index].get();
      reason = choice.reason;
    }
  }
};

Default& the_default() {
  static Default instance;
  return instance;
}

}  // namespace

Device::Device() : state_(nullptr) {
  system::check_not_forked();
  Default& current = the_default();
  const std::lock_guard lock(current.mutex);
  current.choose();
  state_ = current.state;
}

Device::Device(std::string_view spec) : state_(nullptr) {
  if (const auto type = runtime::type_named(spec)) {
    *this = Device();
    if (info().type == *type) return;
  }
  state_ = states()[runtime::select_device(candidates(), spec, "device")].get();
}

const DeviceInfo& Device::info() const noexcept { return state_->info(); }
int Device::index() const noexcept { return state_->index(); }
void Device::synchronize() const { state_->finish(); }
MemoryStats Device::memory_stats() const { return state_->pool().stats(); }
void Device::reset_peak_memory() const { state_->pool().reset_peak(); }
void Device::release_cached_memory() const { state_->pool().release_cached(); }
void Device::set_memory_limit(std::uint64_t bytes) const { state_->pool().set_limit(bytes); }

std::ostream& operator<<(std::ostream& out, Device device) {
  return out << device.name() << " (" << device.info().platform << ')';
}

std::vector<Device> devices() {
  std::vector<Device> list;
  for (DeviceState* state : all_states()) list.emplace_back(*state);
  return list;
}

DeviceState& runtime::add_device(cl::Device device, cl::Context context, cl::CommandQueue queue) {
  const std::size_t before = states().size();
  const std::lock_guard lock(adopted().mutex);
  const int index = static_cast<int>(before + adopted().states.size());
  adopted().states.push_back(
      std::make_unique<DeviceState>(std::move(device), index, std::move(context), std::move(queue)));
  return *adopted().states.back();
}

void set_default_device(Device device) {
  Default& current = the_default();
  const std::lock_guard lock(current.mutex);
  current.state = &device.state();
  current.reason = "chosen by the program";
}

std::string default_device_reason() {
  static_cast<void>(Device());  // Makes the choice if it has not been made yet.
  Default& current = the_default();
  const std::lock_guard lock(current.mutex);
  return current.reason;
}

}  // namespace crisol
