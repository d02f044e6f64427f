// Shared by the CUDA files: checked calls and device memory. The CUDA runtime creates device, context and stream
// itself.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "stopwatch.h"
#include "tasks.h"

namespace twins {

inline void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

/// Throws with the reason if there is no GPU.
inline void require_gpu() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver || status == cudaErrorNoDevice || count == 0)
    throw std::runtime_error(std::string("no NVIDIA GPU with a driver for it (") + cudaGetErrorString(status) + ")");
  check(status, "cudaGetDeviceCount");
}

/// Floats in device memory.
class DeviceFloats {
 public:
  explicit DeviceFloats(std::size_t count) : count_(count) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(float)), "cudaMalloc");
  }
  explicit DeviceFloats(const Floats& values) : DeviceFloats(values.size()) {
    check(cudaMemcpy(data_, values.data(), count_ * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~DeviceFloats() { cudaFree(data_); }
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;

  float* get() const { return data_; }
  Floats download() const {
    Floats values(count_);
    check(cudaMemcpy(values.data(), data_, count_ * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }

 private:
  std::size_t count_;
  float* data_ = nullptr;
};

template <class Run>
double cuda_time(const Run& run) {
  const double ms = shortest_ms(run, [] { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); });
  check(cudaGetLastError(), "kernel launch");
  return ms;
}

constexpr unsigned blocks_of(int count, int block) { return static_cast<unsigned>((count + block - 1) / block); }

Timed run_cuda(const ReluChain& task);
Timed run_cuda(const Sgemm& task);
Timed run_cuda(const Conv3x3& task);
Timed run_cuda(const LstmGates& task);
Timed run_cuda(const SimpleCnn& task);

}  // namespace twins
