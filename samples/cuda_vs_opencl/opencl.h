// The start of every OpenCL program: platform, device, context, queue, and programs built from source.
#pragma once

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>

#include "stopwatch.h"
#include "tasks.h"

namespace twins {

class Opencl {
 public:
  Opencl(const std::string& platform, const std::string& device);

  std::string device_name() const { return device_.getInfo<CL_DEVICE_NAME>(); }
  const cl::CommandQueue& queue() const { return queue_; }

  /// Builds one of this sample's .cl files. Throws with the build log.
  cl::Program build(const std::string& file) const;
  cl::Buffer upload(const Floats& values) const;
  cl::Buffer allocate(std::size_t floats) const;
  Floats download(const cl::Buffer& buffer, std::size_t floats) const;

  template <class Run>
  double time(const Run& run) const {
    return shortest_ms(run, [this] { queue_.finish(); });
  }

 private:
  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
};

/// The text of a .cl file. The build embeds these files.
const char* kernel_source(const std::string& file);

/// The smallest multiple of `step` that is not below `value`.
constexpr std::size_t rounded_up(int value, int step) {
  return static_cast<std::size_t>((value + step - 1) / step * step);
}

Timed run_opencl(const Opencl& cl, const ReluChain& task);
Timed run_opencl(const Opencl& cl, const Sgemm& task);
Timed run_opencl(const Opencl& cl, const Conv3x3& task);
Timed run_opencl(const Opencl& cl, const LstmGates& task);
Timed run_opencl(const Opencl& cl, const SimpleCnn& task);

}  // namespace twins
