// The rates of large copies between the host and a device, from ordinary and from pinned host memory.
#include <algorithm>
#include <vector>

#include "crisol/profile.h"
#include "measure/timing.h"
#include "runtime/device/device_state.h"

namespace crisol {

namespace {

using runtime::check_cl;
using runtime::DeviceState;

/// Mapped host memory that OpenCL allocated. A driver can copy from it without a staging buffer.
class Pinned {
 public:
  Pinned(DeviceState& device, std::size_t size) : device_(device) {
    cl_int error = CL_SUCCESS;
    buffer_ = cl::Buffer(device.context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size, nullptr, &error);
    check_cl(error, "clCreateBuffer");
    address_ = clEnqueueMapBuffer(device.queue(), buffer_(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, nullptr,
                                  nullptr, &error);
    check_cl(error, "clEnqueueMapBuffer");
  }
  ~Pinned() {
    clEnqueueUnmapMemObject(device_.queue(), buffer_(), address_, 0, nullptr, nullptr);
    clFinish(device_.queue());
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  void* address() const noexcept { return address_; }

 private:
  DeviceState& device_;
  cl::Buffer buffer_;
  void* address_ = nullptr;
};

struct Rates {
  double to_device, from_device;
};

Rates rates_of(const runtime::Block& block, void* host, std::size_t size) {
  DeviceState& device = block.device();
  const auto rate = [&](const auto& copy) {
    return static_cast<double>(size) * 1e-9 / runtime::best_seconds(device, copy);
  };
  const auto write = [&] {
    check_cl(clEnqueueWriteBuffer(device.queue(), block.memory(), CL_TRUE, 0, size, host, 0, nullptr, nullptr),
             "clEnqueueWriteBuffer");
  };
  const auto read = [&] {
    check_cl(clEnqueueReadBuffer(device.queue(), block.memory(), CL_TRUE, 0, size, host, 0, nullptr, nullptr),
             "clEnqueueReadBuffer");
  };
  return {rate(write), rate(read)};
}

}  // namespace

TransferSpeed measure_transfers(Device device) {
  DeviceState& state = device.state();
  const DeviceInfo& info = device.info();
  const std::uint64_t wanted = std::uint64_t{64} << 20;
  const auto size = static_cast<std::size_t>(std::min({wanted, info.global_memory / 16, info.max_allocation}));
  const runtime::BlockPtr block = runtime::allocate(state, size);
  std::vector<unsigned char> pageable(size, 1);
  const Rates plain = rates_of(*block, pageable.data(), size);
  const Pinned pinned(state, size);
  const Rates direct = rates_of(*block, pinned.address(), size);
  return {plain.to_device, plain.from_device, direct.to_device, direct.from_device};
}

}  // namespace crisol
