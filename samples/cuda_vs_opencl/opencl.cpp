#include "opencl.h"

#include <stdexcept>

namespace twins {

namespace {

cl::Device find_device(const std::string& platform_name, const std::string& device_name) {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  for (const cl::Platform& platform : platforms) {
    if (platform.getInfo<CL_PLATFORM_NAME>() != platform_name) continue;
    std::vector<cl::Device> devices;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    for (const cl::Device& device : devices)
      if (device.getInfo<CL_DEVICE_NAME>() == device_name) return device;
  }
  throw std::runtime_error("no OpenCL device " + device_name + " of " + platform_name);
}

class OpenclSide : public Side {
 public:
  OpenclSide(const std::string& platform, const std::string& device) : cl_(platform, device) {}

  std::string name() const override { return "OpenCL"; }
  std::string device() const override { return cl_.device_name(); }
  std::optional<Timed> run(const ReluChain& task) override { return run_opencl(cl_, task); }
  std::optional<Timed> run(const Sgemm& task) override { return run_opencl(cl_, task); }
  std::optional<Timed> run(const Conv3x3& task) override { return run_opencl(cl_, task); }
  std::optional<Timed> run(const LstmGates& task) override { return run_opencl(cl_, task); }
  std::optional<Timed> run(const SimpleCnn& task) override { return run_opencl(cl_, task); }

 private:
  Opencl cl_;
};

}  // namespace

Opencl::Opencl(const std::string& platform, const std::string& device)
    : device_(find_device(platform, device)), context_(device_), queue_(context_, device_) {}

cl::Program Opencl::build(const std::string& file) const {
  const cl::Program program(context_, kernel_source(file));
  try {
    program.build({device_}, "-cl-std=CL1.2");
  } catch (const cl::Error&) {
    throw std::runtime_error(file + " does not build:\n" + program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_));
  }
  return program;
}

cl::Buffer Opencl::upload(const Floats& values) const {
  const cl::Buffer buffer = allocate(values.size());
  queue_.enqueueWriteBuffer(buffer, CL_TRUE, 0, values.size() * sizeof(float), values.data());
  return buffer;
}

cl::Buffer Opencl::allocate(std::size_t floats) const { return {context_, CL_MEM_READ_WRITE, floats * sizeof(float)}; }

Floats Opencl::download(const cl::Buffer& buffer, std::size_t floats) const {
  Floats values(floats);
  queue_.enqueueReadBuffer(buffer, CL_TRUE, 0, floats * sizeof(float), values.data());
  return values;
}

std::unique_ptr<Side> opencl_side(const std::string& platform, const std::string& device) {
  return std::make_unique<OpenclSide>(platform, device);
}

}  // namespace twins
