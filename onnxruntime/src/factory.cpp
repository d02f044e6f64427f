// The entry points of the plugin: ONNX Runtime gets a factory, and the factory lists devices and makes providers.
#include <algorithm>
#include <memory>
#include <string>

#include "crisol/device.h"
#include "crisol/version.h"
#include "device_memory.h"
#include "options.h"
#include "provider.h"

#ifdef _WIN32
#define CRISOL_ORT_EXPORT extern "C" __declspec(dllexport)
#else
#define CRISOL_ORT_EXPORT extern "C" __attribute__((visibility("default")))
#endif

namespace crisol::ort {

namespace {

/// Texts by key, for ONNX Runtime.
class KeyValuePairs {
 public:
  KeyValuePairs() { api().CreateKeyValuePairs(&pairs_); }
  ~KeyValuePairs() { api().ReleaseKeyValuePairs(pairs_); }
  KeyValuePairs(const KeyValuePairs&) = delete;
  KeyValuePairs& operator=(const KeyValuePairs&) = delete;

  void add(const char* key, const std::string& value) { api().AddKeyValuePair(pairs_, key, value.c_str()); }
  const OrtKeyValuePairs* get() const noexcept { return pairs_; }

 private:
  OrtKeyValuePairs* pairs_ = nullptr;
};

/// Providers share the factory. A program may unregister the library while sessions live.
class Factory : public OrtEpFactory, public std::enable_shared_from_this<Factory> {
 public:
  /// Makes a factory that ONNX Runtime owns.
  static OrtEpFactory* make(const OrtLogger* logger) {
    const auto made = std::make_shared<Factory>(logger);
    made->own_ = made;
    return made.get();
  }
  /// ONNX Runtime gives its factory back.
  static void release(OrtEpFactory* factory) { const auto last = std::move(static_cast<Factory*>(factory)->own_); }

  explicit Factory(const OrtLogger* logger) : OrtEpFactory{}, logger_(logger) {
    version = api_version;
    GetName = [](const OrtEpFactory*) { return provider_name; };
    GetVendor = [](const OrtEpFactory*) { return "crisol"; };
    GetVendorId = [](const OrtEpFactory*) { return std::uint32_t{0}; };
    GetVersion = [](const OrtEpFactory*) { return crisol::version(); };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* hardware, std::size_t count,
                             OrtEpDevice** made, std::size_t most, std::size_t* number) {
      return guarded([&] {
        *number = static_cast<Factory*>(self)->list_devices({hardware, hardware + count}, made, most);
      });
    };
    CreateEp = [](OrtEpFactory* self, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const* metadata,
                  std::size_t count, const OrtSessionOptions* options, const OrtLogger* logger, OrtEp** provider) {
      return guarded([&] {
        if (count != 1)
          throw RuntimeError("[crisol] a session takes one device of " + std::string(provider_name) + ", and " +
                             std::to_string(count) + " were given");
        const char* device = api().GetKeyValue(metadata[0], device_key);
        *provider = std::make_unique<Provider>(options_of(options, device), logger,
                                               static_cast<Factory*>(self)->shared_from_this())
                        .release();
      });
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* provider) { delete static_cast<Provider*>(provider); };
    CreateAllocator = [](OrtEpFactory*, const OrtMemoryInfo* memory, const OrtKeyValuePairs*,
                         OrtAllocator** allocator) { return guarded([&] { *allocator = make_allocator(memory); }); };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator* allocator) { release_allocator(allocator); };
    CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** transfer) {
      return guarded([&] { *transfer = make_data_transfer(); });
    };
    IsStreamAware = [](const OrtEpFactory*) { return false; };
  }

 private:
  /// Makes a provider device for each OpenCL device, the default device first. Returns how many.
  std::size_t list_devices(const std::vector<const OrtHardwareDevice*>& hardware, OrtEpDevice** made, std::size_t most);

  Logger logger_;
  std::vector<std::unique_ptr<MemoryInfo>> memory_;  ///< ONNX Runtime's devices point to them.
  std::shared_ptr<Factory> own_;                     ///< ONNX Runtime's share.
};

/// ONNX Runtime's device for an OpenCL device: of its type and vendor, else of its type, else any.
const OrtHardwareDevice* hardware_of(Device device, const std::vector<const OrtHardwareDevice*>& all) {
  const int type = device.info().type == DeviceType::cpu ? hardware_cpu : hardware_gpu;
  const OrtHardwareDevice* best = nullptr;
  int best_score = -1;
  for (const OrtHardwareDevice* one : all) {
    const bool has_type = api().HardwareDevice_Type(one) == type,
               has_vendor = api().HardwareDevice_VendorId(one) == device.info().vendor_id;
    const int score = (has_type ? 2 : 0) + (has_vendor ? 1 : 0);
    if (score > best_score) {
      best = one;
      best_score = score;
    }
  }
  return best;
}

std::size_t Factory::list_devices(const std::vector<const OrtHardwareDevice*>& hardware, OrtEpDevice** made,
                                  std::size_t most) {
  std::vector<Device> all = devices();
  if (all.empty()) {
    logger_.log(level_warning,
                "crisol finds no OpenCL device, so ONNX Runtime goes on without it. `crisol doctor` "
                "says what is missing.");
    return 0;
  }
  const Device first;
  std::stable_partition(all.begin(), all.end(), [&](Device device) { return device == first; });
  std::size_t count = 0;
  for (const Device device : all) {
    const OrtHardwareDevice* own = hardware_of(device, hardware);
    if (own == nullptr || count == most) break;
    KeyValuePairs metadata;
    metadata.add(device_key, std::to_string(device.index()));
    metadata.add("device", device.name());
    metadata.add("platform", device.info().platform);
    metadata.add("driver_version", device.info().driver_version);
    check(api().GetEpApi()->CreateEpDevice(this, own, metadata.get(), nullptr, &made[count]));
    ++count;
    if (!has_own_memory(device)) continue;
    memory_.push_back(std::make_unique<MemoryInfo>(device));
    check(api().GetEpApi()->EpDevice_AddAllocatorInfo(made[count - 1], memory_.back()->get()));
  }
  return count;
}

}  // namespace

}  // namespace crisol::ort

CRISOL_ORT_EXPORT OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger* logger,
                                               OrtEpFactory** factories, std::size_t most, std::size_t* count) {
  using namespace crisol::ort;
  *count = 0;
  if (OrtStatus* failure = set_api(*base)) return failure;
  return guarded([&] {
    if (most == 0) throw RuntimeError("[crisol] ONNX Runtime has no room for a factory");
    factories[0] = Factory::make(logger);
    *count = 1;
  });
}

CRISOL_ORT_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  crisol::ort::Factory::release(factory);
  return nullptr;
}
