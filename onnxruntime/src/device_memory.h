// Memory of GPUs for ONNX Runtime's tensors: what an OrtValue on the device points to.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "api.h"
#include "crisol/device.h"
#include "crisol/tensor.h"

namespace crisol::ort {

/// The vendor of the provider's memory in ONNX Runtime. It differs from all vendors of hardware, whose own providers
/// may be in the same program.
constexpr std::uint32_t memory_vendor = 0xC1501;

/// Whether tensors of ONNX Runtime may lie in the device's memory. A CPU device computes in ONNX Runtime's own memory.
bool has_own_memory(Device device);

/// Tells ONNX Runtime about the memory of a device.
class MemoryInfo {
 public:
  explicit MemoryInfo(Device device);
  ~MemoryInfo() { api().ReleaseMemoryInfo(info_); }
  MemoryInfo(const MemoryInfo&) = delete;
  MemoryInfo& operator=(const MemoryInfo&) = delete;

  const OrtMemoryInfo* get() const noexcept { return info_; }

 private:
  OrtMemoryInfo* info_ = nullptr;
};

/// Whether the elements of a value are in the provider's memory.
bool is_on_device(const OrtValue* value);

/// A value in the provider's memory as a tensor. The value may have more elements of the same memory behind it.
Tensor tensor_on_device(const OrtValue* value, const Shape& shape, DType dtype);

/// Gives memory of a device to ONNX Runtime. `memory` is what CreateAllocator gets.
OrtAllocator* make_allocator(const OrtMemoryInfo* memory);
void release_allocator(OrtAllocator* allocator);

/// Copies tensors between the host and devices.
OrtDataTransferImpl* make_data_transfer();

}  // namespace crisol::ort
