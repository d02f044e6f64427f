#include "runtime/memory/host_memory.h"

#include <array>
#include <cstring>
#include <memory>
#include <new>

#include "runtime/device/device_state.h"

namespace crisol::runtime {

namespace {

// The largest vectors of OpenCL C have 128 bytes. A page of its own keeps large blocks apart.
std::align_val_t alignment_of(std::uint64_t bytes) { return std::align_val_t{bytes < 4096 ? 128U : 4096U}; }

struct Memory {
  void* address;
  std::uint64_t bytes;
};

void free_memory(const Memory& memory) { ::operator delete(memory.address, alignment_of(memory.bytes)); }

void CL_CALLBACK release(cl_mem /*memory*/, void* owned) {
  const std::unique_ptr<Memory> memory(static_cast<Memory*>(owned));
  free_memory(*memory);
}

// A write of the driver must reach the memory, and a write of the host must reach the driver.
bool shares_memory(DeviceState& device) {
  using Words = std::array<std::uint32_t, 128>;
  const auto differs_from = [](const Words& words, std::uint32_t value) {
    for (const std::uint32_t word : words)
      if (word != value) return true;
    return false;
  };
  cl_int error = CL_SUCCESS;
  const cl::Memory buffer(create_host_buffer(device, sizeof(Words), error), false);
  void* address = nullptr;
  if (error != CL_SUCCESS ||
      clGetMemObjectInfo(buffer(), CL_MEM_HOST_PTR, sizeof address, &address, nullptr) != CL_SUCCESS ||
      address == nullptr)
    return false;
  constexpr std::uint32_t first = 0x5eed1234, second = 0x00c0ffee;
  Words words;
  words.fill(first);
  std::memset(address, 0, sizeof words);
  const cl_command_queue queue = device.queue();
  if (clEnqueueWriteBuffer(queue, buffer(), CL_TRUE, 0, sizeof words, words.data(), 0, nullptr, nullptr) !=
          CL_SUCCESS ||
      clFinish(queue) != CL_SUCCESS)
    return false;
  Words seen;
  std::memcpy(seen.data(), address, sizeof seen);
  if (differs_from(seen, first)) return false;
  words.fill(second);
  std::memcpy(address, words.data(), sizeof words);
  return clEnqueueReadBuffer(queue, buffer(), CL_TRUE, 0, sizeof seen, seen.data(), 0, nullptr, nullptr) ==
             CL_SUCCESS &&
         !differs_from(seen, second);
}

}  // namespace

bool computes_in_host_memory(DeviceState& device) {
  const DeviceInfo& info = device.info();
  return info.type == DeviceType::cpu && info.unified_memory && shares_memory(device);
}

cl_mem create_host_buffer(DeviceState& device, std::uint64_t bytes, cl_int& error) {
  error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  void* const address = ::operator new(bytes, alignment_of(bytes), std::nothrow);
  if (address == nullptr) return nullptr;
  auto memory = std::make_unique<Memory>(Memory{address, bytes});
  cl_mem buffer = clCreateBuffer(device.context()(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, address, &error);
  // Queued commands keep the buffer alive after its release. The driver calls `release` when they are done.
  if (error == CL_SUCCESS) {
    error = clSetMemObjectDestructorCallback(buffer, release, memory.get());
    if (error != CL_SUCCESS) clReleaseMemObject(buffer);
  }
  if (error == CL_SUCCESS) {
    static_cast<void>(memory.release());
    return buffer;
  }
  free_memory(*memory);
  return nullptr;
}

namespace {

/// The memory that a program gave to the block's buffer. Null if the driver allocated it.
std::byte* given_memory(const Block& block) {
  void* address = nullptr;
  const cl_int error = clGetMemObjectInfo(block.memory(), CL_MEM_HOST_PTR, sizeof address, &address, nullptr);
  return error == CL_SUCCESS ? static_cast<std::byte*>(address) : nullptr;
}

/// Whether the buffer is a part of another one. Drivers give different addresses for such a part.
bool is_sub_buffer(const Block& block) {
  cl_mem whole = nullptr;
  const cl_int error = clGetMemObjectInfo(block.memory(), CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole,
                                          static_cast<void*>(&whole), nullptr);
  return error != CL_SUCCESS || whole != nullptr;
}

}  // namespace

std::byte* host_address(const Block& block) {
  if (!block.device().computes_in_host_memory() || (!block.pooled() && is_sub_buffer(block))) return nullptr;
  return given_memory(block);
}

BlockPtr block_over(DeviceState& device, void* memory, std::uint64_t bytes) {
  if (bytes == 0 || !device.computes_in_host_memory()) return nullptr;
  cl_int error = CL_SUCCESS;
  cl::Memory buffer(clCreateBuffer(device.context()(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory, &error),
                    false);
  check_cl(error, "clCreateBuffer");
  BlockPtr block = std::make_shared<Block>(device, buffer(), bytes);
  buffer() = nullptr;  // The block now owns this reference.
  return block;
}

bool begins_aligned(const Block& block, std::uint64_t alignment) {
  // A driver's own memory is aligned to the largest vector.
  return reinterpret_cast<std::uintptr_t>(given_memory(block)) % alignment == 0;
}

}  // namespace crisol::runtime
