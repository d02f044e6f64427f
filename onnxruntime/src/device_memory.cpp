#include "device_memory.h"

#include <cstdint>
#include <iterator>
#include <memory>

#include "crisol/opencl_interop.h"
#include "graph_parts.h"

namespace crisol::ort {

namespace {

/// The memory that ONNX Runtime has from the provider.
///
/// OpenCL's buffers have no addresses, and ONNX Runtime adds offsets to addresses. So an address here is a number that
/// is the address of no memory of the process. It stands for a byte of a buffer.
class Addresses {
 public:
  static Addresses& all() {
    static auto* const the = new Addresses;  // Allocators outlive static objects.
    return *the;
  }

  void* add(Device device, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::uintptr_t address = next_;
    next_ += (bytes / page + 2) * page;  // A page that nobody has lies between two pieces of memory.
    memory_.emplace(address, Piece{device, bytes, {}});
    return reinterpret_cast<void*>(address);
  }

  void remove(const void* address) {
    const std::lock_guard lock(mutex_);
    memory_.erase(reinterpret_cast<std::uintptr_t>(address));
  }

  /// A tensor of the memory from this address on.
  Tensor tensor(const void* address, const Shape& shape, DType dtype) {
    const std::lock_guard lock(mutex_);
    auto& [first, piece] = *find(address);
    if (!piece.elements.defined()) piece.elements = empty({size_of(piece)}, DType::u8, piece.device);
    const OpenclBuffer buffer = opencl_buffer_for_writing(piece.elements);
    return from_opencl(buffer.memory, shape, dtype, piece.device,
                       buffer.offset + (reinterpret_cast<std::uintptr_t>(address) - first));
  }

  /// Copies bytes of the host to the memory.
  void write(const void* address, const void* bytes, std::size_t count) {
    const Shape shape{static_cast<std::int64_t>(count)};
    {
      const std::lock_guard lock(mutex_);
      auto& [first, piece] = *find(address);
      if (count == piece.bytes) {  // New memory needs no second copy on the device.
        piece.elements = from_bytes(bytes, shape, DType::u8, piece.device);
        return;
      }
    }
    Tensor target = tensor(address, shape, DType::u8);
    target.copy_from(from_bytes(bytes, shape, DType::u8, target.device()));
  }

 private:
  static constexpr std::uintptr_t page = 4096;

  struct Piece {
    Device device;
    std::size_t bytes;
    Tensor elements;  ///< Undefined until it is needed.
  };

  static std::int64_t size_of(const Piece& piece) { return static_cast<std::int64_t>(piece.bytes); }

  std::map<std::uintptr_t, Piece>::iterator find(const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto behind = memory_.upper_bound(at);
    if (behind == memory_.begin() || at - std::prev(behind)->first > std::prev(behind)->second.bytes)
      throw RuntimeError("[crisol] a tensor on the device lies in no memory of the provider");
    return std::prev(behind);
  }

  std::mutex mutex_;
  std::map<std::uintptr_t, Piece> memory_;        ///< By the first address.
  std::uintptr_t next_ = (UINTPTR_MAX >> 2) + 1;  ///< Where no operating system has memory of a process.
};

bool is_own(const OrtMemoryDevice* memory) {
  return memory != nullptr && api().GetEpApi()->MemoryDevice_GetVendorId(memory) == memory_vendor;
}

Device device_of(const OrtMemoryInfo* memory) {
  return devices().at(static_cast<std::size_t>(get<int>(api().MemoryInfoGetId, memory)));
}

struct Allocator : OrtAllocator {
  explicit Allocator(const OrtMemoryInfo* memory) : OrtAllocator{}, info(memory), device(device_of(memory)) {
    version = api_version;
    Alloc = Reserve = [](OrtAllocator* self, std::size_t bytes) -> void* {
      return bytes == 0 ? nullptr : Addresses::all().add(static_cast<Allocator*>(self)->device, bytes);
    };
    Free = [](OrtAllocator*, void* address) { Addresses::all().remove(address); };
    Info = [](const OrtAllocator* self) { return static_cast<const Allocator*>(self)->info; };
  }

  const OrtMemoryInfo* const info;
  const Device device;
};

void copy(const OrtValue* from, OrtValue* to) {
  const auto bytes = get<std::size_t>(api().GetTensorSizeInBytes, from);
  if (bytes == 0) return;
  const Shape shape{static_cast<std::int64_t>(bytes)};
  if (!is_on_device(from))
    Addresses::all().write(data_of(to), data_of(from), bytes);
  else if (!is_on_device(to))
    tensor_on_device(from, shape, DType::u8).read_bytes(data_of(to));
  else
    tensor_on_device(to, shape, DType::u8).copy_from(tensor_on_device(from, shape, DType::u8));
}

struct DataTransfer : OrtDataTransferImpl {
  DataTransfer() : OrtDataTransferImpl{} {
    version = api_version;
    Release = [](OrtDataTransferImpl* self) { delete static_cast<DataTransfer*>(self); };
    CanCopy = [](const OrtDataTransferImpl*, const OrtMemoryDevice* from, const OrtMemoryDevice* to) {
      const auto is_host = [](const OrtMemoryDevice* memory) {
        return api().GetEpApi()->MemoryDevice_GetDeviceType(memory) == hardware_cpu;
      };
      return is_own(from) ? is_own(to) || is_host(to) : is_own(to) && is_host(from);
    };
    CopyTensors = [](OrtDataTransferImpl*, const OrtValue** from, OrtValue** to, OrtSyncStream**, std::size_t count) {
      return guarded([&] {
        for (std::size_t i = 0; i < count; ++i) copy(from[i], to[i]);
      });
    };
  }
};

}  // namespace

bool has_own_memory(Device device) { return device.info().type != DeviceType::cpu; }

MemoryInfo::MemoryInfo(Device device) {
  constexpr std::size_t alignment = 256;
  constexpr int device_allocator = 0, default_memory = 0;
  check(api().CreateMemoryInfo_V2("Crisol", hardware_gpu, memory_vendor, device.index(), default_memory, alignment,
                                  device_allocator, &info_));
}

bool is_on_device(const OrtValue* value) { return is_own(api().GetEpApi()->Value_GetMemoryDevice(value)); }

Tensor tensor_on_device(const OrtValue* value, const Shape& shape, DType dtype) {
  return Addresses::all().tensor(data_of(value), shape, dtype);
}

OrtAllocator* make_allocator(const OrtMemoryInfo* memory) { return std::make_unique<Allocator>(memory).release(); }
void release_allocator(OrtAllocator* allocator) { delete static_cast<Allocator*>(allocator); }
OrtDataTransferImpl* make_data_transfer() { return std::make_unique<DataTransfer>().release(); }

}  // namespace crisol::ort
