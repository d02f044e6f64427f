#include "memory.h"

#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>
#include <array>

#include "addresses.h"
#include "call.h"
#include "crisol/dtype_table.h"
#include "device.h"

namespace crisol_torch {

namespace {

using crisol::DType;

/// What the context of a storage's DataPtr points to.
struct Allocation {
  crisol::Tensor whole;  ///< The tensor that the library made, which begins with the storage.
  std::int64_t bytes;    ///< The size of the storage.
  int device;
  Addresses::Range range{};

  crisol::Tensor as_bytes() const { return crisol::ops::reinterpret(whole, DType::u8, {bytes}, {1}, 0); }
};

void release(void* context) {
  auto* const allocation = static_cast<Allocation*>(context);
  Addresses::of_process().give_back(allocation->device, allocation->range);
  delete allocation;
}

at::DataPtr data_ptr_of(crisol::Tensor whole, std::int64_t bytes, int device) {
  if (bytes == 0) return {nullptr, torch_device(device)};
  auto allocation = std::make_unique<Allocation>(Allocation{std::move(whole), bytes, device});
  allocation->range = Addresses::of_process().take(device, static_cast<std::size_t>(bytes), allocation.get());
  void* const address = reinterpret_cast<void*>(allocation->range->first);
  return {address, allocation.release(), &release, torch_device(device)};
}

// The allocation of a storage, or null if the storage has none of its own.
const Allocation* allocation_of(const c10::Storage& storage) {
  const at::DataPtr& data = storage.data_ptr();
  return data.get_deleter() == &release ? static_cast<const Allocation*>(data.get_context()) : nullptr;
}

bool equal(const crisol::Shape& sizes, at::IntArrayRef others) { return sizes_of(sizes) == others; }

class DeviceAllocator final : public c10::DeviceAllocator {
 public:
  at::DataPtr allocate(std::size_t size) override {
    const int device = current_device();
    return guarded([&] {
      const auto bytes = static_cast<std::int64_t>(size);
      return data_ptr_of(crisol::empty({bytes}, DType::u8, device_at(device)), bytes, device);
    });
  }
  at::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    const auto part = [count](const void* address) {
      const Addresses::Found found = Addresses::of_process().find(address);
      TORCH_CHECK(found.owner != nullptr, "crisol: an address belongs to no tensor");
      return crisol::ops::narrow(static_cast<Allocation*>(found.owner)->as_bytes(), 0,
                                 static_cast<std::int64_t>(found.offset), static_cast<std::int64_t>(count));
    };
    guarded([&] { crisol::ops::copy_into(part(to), part(from)); });
  }

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {
    for (int device = 0; device < device_count(); ++device) device_at(device).release_cached_memory();
  }
  void recordStream(const c10::DataPtr&, c10::Stream) override {}  // A device has one queue.
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    const crisol::MemoryStats pool = device_at(device).memory_stats();
    constexpr auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    c10::CachingDeviceAllocator::DeviceStats stats;
    const auto bytes_of = [](std::uint64_t current, std::uint64_t peak) {
      c10::CachingAllocator::Stat stat;
      stat.current = static_cast<std::int64_t>(current);
      stat.peak = static_cast<std::int64_t>(peak);
      return stat;
    };
    stats.allocated_bytes[all] = stats.active_bytes[all] = bytes_of(pool.in_use, pool.peak);
    const std::uint64_t reserved = pool.in_use + pool.cached;
    stats.reserved_bytes[all] = bytes_of(reserved, std::max(reserved, pool.peak));
    stats.num_device_alloc = static_cast<std::int64_t>(pool.allocations);
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}  // The pool counts from the start of the process.
  void resetPeakStats(c10::DeviceIndex device) override { device_at(device).reset_peak_memory(); }
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex device) override {
    const std::uint64_t total = device_at(device).info().global_memory, used = device_at(device).memory_stats().in_use;
    return {total - std::min(total, used), total};
  }
};

// By the number of a dtype of PyTorch. Both sides call a dtype by its name in Python.
struct DTypes {
  std::array<std::optional<DType>, static_cast<std::size_t>(at::ScalarType::NumOptions)> of_torch;
  std::array<at::ScalarType, crisol::dtype_rows.size()> of_library{};

  DTypes() {
    for (std::size_t i = 0; i < of_torch.size(); ++i) {
      const auto type = static_cast<at::ScalarType>(i);
      if (type == at::ScalarType::Undefined) continue;
      for (const DType dtype : crisol::all_dtypes) {
        if (c10::getDtypeNames(type).first != crisol::dtype_row(dtype).python) continue;
        of_torch[i] = dtype;
        of_library[static_cast<std::size_t>(dtype)] = type;
      }
    }
  }
};

const DTypes& dtypes() {
  static const DTypes table;
  return table;
}

}  // namespace

std::optional<DType> dtype_of(at::ScalarType type) noexcept {
  return dtypes().of_torch[static_cast<std::size_t>(type)];
}
at::ScalarType scalar_type_of(DType dtype) noexcept { return dtypes().of_library[static_cast<std::size_t>(dtype)]; }

bool computes_in_f32(at::ScalarType type) noexcept {
  const std::optional<DType> dtype = dtype_of(type);
  return dtype && crisol::computes_in_f32(*dtype);
}

bool holds(at::ScalarType type) noexcept { return dtype_of(type) || at::isComplexType(type) || at::isFloat8Type(type); }

c10::Allocator* device_allocator() {
  static DeviceAllocator allocator;
  return &allocator;
}
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, device_allocator())

crisol::Tensor bytes_of(const c10::Storage& storage) {
  const at::DataPtr& data = storage.data_ptr();
  if (data.get() == nullptr) return crisol::empty({0}, DType::u8, device_at(storage.device().index()));
  if (const Allocation* const own = allocation_of(storage)) return own->as_bytes();
  // Somebody made a storage of an address.
  const Addresses::Found found = Addresses::of_process().find(data.get());
  TORCH_CHECK(found.owner != nullptr, "crisol: the storage's address belongs to no tensor of this device");
  const crisol::Tensor whole = static_cast<const Allocation*>(found.owner)->as_bytes();
  TORCH_CHECK(found.offset % 64 == 0, "crisol: a storage begins ", found.offset,
              " bytes behind the begin of a tensor, and this number must be a multiple of 64");
  return crisol::ops::narrow(whole, 0, static_cast<std::int64_t>(found.offset),
                             whole.numel() - static_cast<std::int64_t>(found.offset));
}

crisol::Tensor tensor_of(const at::Tensor& x) {
  if (!x.is_privateuseone()) throw Refusal("a tensor is not on the device");
  const std::optional<DType> dtype = dtype_of(x.scalar_type());
  if (!dtype || x.is_neg() || x.is_conj()) throw Refusal("the library has no dtype for a tensor");
  const Allocation* const own = allocation_of(x.storage());
  if (own != nullptr) {  // A result of an op is mostly used as the op made it.
    const crisol::Tensor& whole = own->whole;
    if (whole.dtype() == *dtype && whole.offset() == x.storage_offset() && equal(whole.shape(), x.sizes()) &&
        equal(whole.strides(), x.strides()))
      return whole;
  }
  const crisol::Tensor bytes = bytes_of(x.storage());
  const std::int64_t first = bytes.offset() / static_cast<std::int64_t>(crisol::size_of(*dtype));
  return crisol::ops::reinterpret(bytes, *dtype, shape_of(x.sizes()), shape_of(x.strides()),
                                  first + (x.numel() == 0 ? 0 : x.storage_offset()));
}

at::Tensor wrap(const crisol::Tensor& x) {
  const int device = index_of(x.device());
  const auto size = static_cast<std::int64_t>(crisol::size_of(x.dtype()));
  // The storage ends with the last element of x, because PyTorch tells users the size of a storage.
  std::int64_t elements = x.numel() == 0 ? 0 : x.offset() + 1;
  for (int i = 0; i < x.dim() && x.numel() != 0; ++i) elements += (x.shape()[i] - 1) * x.strides()[i];
  const std::int64_t bytes = elements * size;
  c10::Storage storage(c10::Storage::use_byte_size_t(), static_cast<std::size_t>(bytes), data_ptr_of(x, bytes, device),
                       device_allocator(), /*resizable=*/true);
  at::Tensor result =
      at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                               c10::scalarTypeToTypeMeta(scalar_type_of(x.dtype())));
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes_of(x.shape()), sizes_of(x.strides()),
                                                      x.numel() == 0 ? 0 : x.offset());
  return result;
}

}  // namespace crisol_torch
