// The time to compile a program, and the time to load a compiled program.
#include <chrono>
#include <vector>

#include "base/hash.h"
#include "base/text.h"
#include "crisol/profile.h"
#include "runtime/device/device_state.h"

namespace crisol {

namespace {

using runtime::check_cl;
using runtime::DeviceState;

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A pointwise kernel with some mathematics, similar to the kernels that fuse() makes. The kernel has another constant
// in each call, so that no cache of the driver has the program.
std::string new_source() {
  const auto now = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  Hash hash;
  hash.add(now);
  return concat(
      "__kernel void gate(__global const float* a, __global float* y) {\n  const size_t i = get_global_id(0);\n",
      "  const float x = a[i] + ", hash.value() % 1000000007, ".0f;\n",
      "  y[i] = tanh(x * x + 1.0f) / (1.0f + exp(-x));\n}\n");
}

/// Builds a program and waits for the first run of its kernel.
void build_and_run(DeviceState& device, const cl::Program& program) {
  const cl_device_id id = device.device()();
  check_cl(clBuildProgram(program(), 1, &id, "-cl-std=CL1.2", nullptr, nullptr), "clBuildProgram");
  cl_int error = CL_SUCCESS;
  cl::Kernel kernel(program, "gate", &error);
  check_cl(error, "clCreateKernel");
  constexpr std::size_t items = 64;
  const runtime::BlockPtr block = runtime::allocate(device, items * sizeof(float));
  const cl_mem memory = block->memory();
  for (cl_uint i = 0; i < 2; ++i) check_cl(clSetKernelArg(kernel(), i, sizeof memory, &memory), "clSetKernelArg");
  check_cl(clEnqueueNDRangeKernel(device.queue(), kernel(), 1, nullptr, &items, nullptr, 0, nullptr, nullptr),
           "clEnqueueNDRangeKernel");
  check_cl(clFinish(device.queue()), "clFinish");
}

std::vector<unsigned char> binary_of(const cl::Program& program) {
  std::size_t size = 0;
  check_cl(clGetProgramInfo(program(), CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr), "clGetProgramInfo");
  std::vector<unsigned char> binary(size);
  unsigned char* bytes = binary.data();
  if (size != 0)
    check_cl(clGetProgramInfo(program(), CL_PROGRAM_BINARIES, sizeof bytes, &bytes, nullptr), "clGetProgramInfo");
  return binary;
}

}  // namespace

CompileTime measure_compile(Device device) {
  DeviceState& state = device.state();
  state.finish();
  CompileTime time;
  cl_int error = CL_SUCCESS;
  const std::string source = new_source();
  auto start = Clock::now();
  const cl::Program compiled(state.context(), source, false, &error);
  check_cl(error, "clCreateProgramWithSource");
  build_and_run(state, compiled);
  time.source_ms = ms_since(start);

  const std::vector<unsigned char> binary = binary_of(compiled);
  if (binary.empty()) return time;
  const cl_device_id id = state.device()();
  const unsigned char* bytes = binary.data();
  const std::size_t size = binary.size();
  cl_int status = CL_SUCCESS;
  start = Clock::now();
  const cl::Program loaded(clCreateProgramWithBinary(state.context()(), 1, &id, &size, &bytes, &status, &error));
  check_cl(error == CL_SUCCESS ? status : error, "clCreateProgramWithBinary");
  build_and_run(state, loaded);
  time.binary_ms = ms_since(start);
  return time;
}

}  // namespace crisol
