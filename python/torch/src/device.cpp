#include "device.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "addresses.h"
#include "call.h"
#include "event.h"
#include "generator.h"
#include "memory.h"

namespace crisol_torch {

namespace {

const std::vector<crisol::Device>& all_devices() {
  static const std::vector<crisol::Device> list = [] {
    std::vector<crisol::Device> found;
    try {
      found.push_back(crisol::Device());
    } catch (const crisol::Error&) {
      return found;  // No device.
    }
    for (const crisol::Device device : crisol::devices())
      if (device != found.front() && device.info().has_compiler) found.push_back(device);
    return found;
  }();
  return list;
}

thread_local int current = 0;

// Host memory for DataLoader(pin_memory=True). OpenCL cannot pin memory of the host, so this is ordinary memory that
// knows that it was asked for as pinned memory.
class PinnedAllocator final : public c10::Allocator {
 public:
  at::DataPtr allocate(std::size_t bytes) override {
    at::DataPtr memory = c10::GetAllocator(c10::DeviceType::CPU)->allocate(bytes);
    void* const address = memory.get();
    if (address == nullptr) return memory;
    const std::lock_guard lock(mutex_);
    ranges_[reinterpret_cast<std::uintptr_t>(address)] = bytes;
    auto* const owner = new at::DataPtr(std::move(memory));
    return {address, owner, [](void* context) { of_process().release(static_cast<at::DataPtr*>(context)); }, at::kCPU};
  }
  at::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

  bool owns(const void* address) const {
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    const std::lock_guard lock(mutex_);
    auto range = ranges_.upper_bound(number);
    if (range == ranges_.begin()) return false;
    --range;
    return number - range->first < range->second;
  }

  static PinnedAllocator& of_process() {
    static PinnedAllocator* const allocator = new PinnedAllocator;
    return *allocator;
  }

 private:
  void release(at::DataPtr* memory) {
    {
      const std::lock_guard lock(mutex_);
      ranges_.erase(reinterpret_cast<std::uintptr_t>(memory->get()));
    }
    delete memory;
  }

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> ranges_;
};

// A device has one queue. Its streams are numbers for this queue, so that a program finds the stream again that it made
// the current one.
class Streams {
 public:
  static c10::Stream current(int device) { return stream(device, current_id(device)); }
  static c10::Stream first(int device) { return stream(device, 0); }
  static c10::Stream made(int device) {
    static std::atomic<c10::StreamId> last = 0;
    return stream(device, ++last);
  }
  static c10::Stream exchange(c10::Stream wanted) {
    return stream(wanted.device_index(), std::exchange(current_id(wanted.device_index()), wanted.id()));
  }

 private:
  static c10::Stream stream(int device, c10::StreamId id) {
    return c10::Stream(c10::Stream::UNSAFE, torch_device(device), id);
  }
  static c10::StreamId& current_id(int device) {
    thread_local std::map<int, c10::StreamId> ids;
    return ids[device];
  }
};

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return at::kPrivateUse1; }
  at::Device exchangeDevice(at::Device device) const override {
    return torch_device(device.has_index() ? exchange_device(device.index()) : current_device());
  }
  at::Device getDevice() const override { return torch_device(current_device()); }
  void setDevice(at::Device device) const override { exchangeDevice(device); }
  void uncheckedSetDevice(at::Device device) const noexcept override {
    if (device.has_index()) current = device.index();
  }
  c10::DeviceIndex deviceCount() const noexcept override { return static_cast<c10::DeviceIndex>(device_count()); }
  c10::DeviceCapability getDeviceCapability(at::Device) const override {
    c10::DeviceCapability capability;
    capability.capability_data.capability_bits = 0;
    for (std::size_t i = 0; i < c10::NUMBER_OF_DEVICE_CAPABILITIES; ++i)
      if (holds(static_cast<at::ScalarType>(i))) capability.capability_data.capability_bits |= std::uint64_t{1} << i;
    return capability;
  }

  c10::Stream getStream(at::Device device) const override { return Streams::current(index(device)); }
  c10::Stream getDefaultStream(at::Device device) const override { return Streams::first(index(device)); }
  c10::Stream getStreamFromGlobalPool(at::Device device, bool) const override { return Streams::made(index(device)); }
  c10::Stream getNewStream(at::Device device, int) const override { return Streams::made(index(device)); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return Streams::exchange(stream); }
  bool queryStream(const c10::Stream& stream) const override {
    return Event(device_at(stream.device_index())).is_done_within(10);
  }
  void synchronizeStream(const c10::Stream& stream) const override { synchronizeDevice(stream.device_index()); }
  void synchronizeDevice(const c10::DeviceIndex device) const override {
    guarded([&] { device_at(device).synchronize(); });
  }

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex, const c10::EventFlag) const override {
    delete static_cast<Event*>(*event);
    *event = nullptr;
    *event = new Event(device_at(stream.device_index()));
  }
  void block(void*, const c10::Stream&) const override {}  // The only queue of a device is in order.
  bool queryEvent(void* event) const override { return event == nullptr || static_cast<Event*>(event)->is_done(); }
  void synchronizeEvent(void* event) const override {
    if (event != nullptr) static_cast<Event*>(event)->wait();
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override { delete static_cast<Event*>(event); }
  double elapsedTime(void* first, void* second, const c10::DeviceIndex) const override {
    TORCH_CHECK(first != nullptr && second != nullptr, "Both events must be recorded before calculating elapsed time.");
    return static_cast<Event*>(second)->milliseconds() - static_cast<Event*>(first)->milliseconds();
  }

 private:
  static int index(at::Device device) { return device.has_index() ? device.index() : current_device(); }
};

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return device_count() > 0; }
  void init() const override {}
  c10::DeviceIndex deviceCount() const override { return static_cast<c10::DeviceIndex>(device_count()); }
  void setCurrentDevice(c10::DeviceIndex device) const override { exchange_device(device); }
  c10::DeviceIndex getCurrentDevice() const override { return static_cast<c10::DeviceIndex>(current_device()); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    return static_cast<c10::DeviceIndex>(exchange_device(device));
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override { return exchangeDevice(device); }

  at::Device getDeviceFromPtr(void* address) const override {
    const int device = Addresses::of_process().device_of(address);
    TORCH_CHECK(device >= 0, "crisol: the address belongs to no device");
    return torch_device(device);
  }
  bool isPinnedPtr(const void* address) const override { return PinnedAllocator::of_process().owns(address); }
  at::Allocator* getPinnedMemoryAllocator() const override { return &PinnedAllocator::of_process(); }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return default_generator(device < 0 ? current_device() : device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return make_generator(device < 0 ? current_device() : device);
  }

  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes) const override {
    resize_storage(storage, bytes);
  }
};

}  // namespace

int device_count() { return static_cast<int>(all_devices().size()); }

crisol::Device device_at(int index) {
  TORCH_CHECK(index >= 0 && index < device_count(), "crisol: there is no device crisol:", index, "; this machine has ",
              device_count(), " OpenCL devices");
  return all_devices()[static_cast<std::size_t>(index)];
}

int index_of(crisol::Device device) {
  for (int i = 0; i < device_count(); ++i)
    if (all_devices()[static_cast<std::size_t>(i)] == device) return i;
  TORCH_CHECK(false, "crisol: PyTorch does not know the device ", device.name());
}

int current_device() noexcept { return current; }

int exchange_device(int index) {
  device_at(index);
  return std::exchange(current, index);
}

void register_device() {
  static Guard* const guard = new Guard;
  static Hooks* const hooks = new Hooks;
  c10::impl::registerDeviceGuard(at::kPrivateUse1, guard);
  at::RegisterPrivateUse1HooksInterface(hooks);
}

}  // namespace crisol_torch
