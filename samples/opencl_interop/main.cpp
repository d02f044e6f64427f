// First, a kernel of the program runs between the library's ops, on the library's tensors and without a copy. Then the
// library runs in the program's own context and queue, on a buffer that the program created.
//
//     opencl_interop [--device DEVICE] [--trace FILE]
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <crisol/crisol.h>
#include <crisol/opencl_interop.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <stdexcept>

#include "common/options.h"

namespace {

using namespace crisol;

void check(cl_int status, const char* call) {
  if (status != CL_SUCCESS) throw std::runtime_error(std::string(call) + ": " + std::to_string(status));
}

/// Each pixel becomes the median of itself and its two neighbours in the row. The library has no such op.
constexpr const char* source = R"(
__kernel void median3(__global const float* in, ulong in_first, __global float* out, ulong out_first, int columns) {
  const int column = get_global_id(0), row = get_global_id(1);
  __global const float* line = in + in_first + row * columns;
  const float a = line[max(column - 1, 0)], b = line[column], c = line[min(column + 1, columns - 1)];
  out[out_first + row * columns + column] = max(min(a, b), min(max(a, b), c));
})";

/// The kernel, built for a context.
class Median {
 public:
  Median(cl_context context, cl_device_id device) {
    cl_int status = CL_SUCCESS;
    program_ = clCreateProgramWithSource(context, 1, const_cast<const char**>(&source), nullptr, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program_, 1, &device, "", nullptr, nullptr), "clBuildProgram");
    kernel_ = clCreateKernel(program_, "median3", &status);
    check(status, "clCreateKernel");
  }
  ~Median() {
    clReleaseKernel(kernel_);
    clReleaseProgram(program_);
  }
  Median(const Median&) = delete;
  Median& operator=(const Median&) = delete;

  /// Queues the kernel behind all work that the library queued. `in` and `out` are contiguous, and each row of `in`
  /// gives one row of `out`.
  void run(const Tensor& in, const Tensor& out) const {
    const OpenclBuffer from = opencl_buffer(in), to = opencl_buffer_for_writing(out);
    const cl_ulong from_first = from.offset / sizeof(float), to_first = to.offset / sizeof(float);
    const auto columns = static_cast<cl_int>(in.size(-1));
    const std::size_t range[] = {static_cast<std::size_t>(columns), static_cast<std::size_t>(in.numel() / columns)};
    check(clSetKernelArg(kernel_, 0, sizeof from.memory, &from.memory), "clSetKernelArg");
    check(clSetKernelArg(kernel_, 1, sizeof from_first, &from_first), "clSetKernelArg");
    check(clSetKernelArg(kernel_, 2, sizeof to.memory, &to.memory), "clSetKernelArg");
    check(clSetKernelArg(kernel_, 3, sizeof to_first, &to_first), "clSetKernelArg");
    check(clSetKernelArg(kernel_, 4, sizeof columns, &columns), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(opencl_queue(in.device()), kernel_, 2, nullptr, range, nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }

 private:
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
};

const std::vector<float> noisy{1, 1, 9, 1, 2, 2, -9, 2, 3, 3, 3, 9};

void own_kernel_between_ops(Device device) {
  const Median median(opencl_context(device), opencl_device(device));
  const Tensor image = from_vector<float>(noisy, {2, 6}, device) * 10.0;
  const Tensor smooth = empty({2, 6}, DType::f32, device);
  median.run(image, smooth);
  std::cout << "median of each three pixels, between two ops of the library:\n" << relu(smooth) << '\n';
}

void library_in_own_context(Device found) {
  cl_int status = CL_SUCCESS;
  cl_device_id device = opencl_device(found);
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "clCreateCommandQueue");
  std::vector<float> values = noisy;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(float),
                                 values.data(), &status);
  check(status, "clCreateBuffer");

  const Device adopted = adopt_opencl(device, context, queue);
  const Tensor image = from_opencl(buffer, {2, 6}, DType::f32, adopted);
  const Tensor smooth = from_opencl(buffer, {2, 6}, DType::f32, adopted).clone();
  Median(context, device).run(image, smooth);
  std::cout << "largest pixel of a buffer of the program's: " << max(image).item() << ", after the median "
            << max(smooth).item() << '\n';
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A kernel of the program's own between the library's ops, without a copy");
  std::string device;
  samples::add_device(app, device);
  CLI11_PARSE(app, argc, argv);
  try {
    if (!device.empty()) set_default_device(Device(device));
    std::cout << "device: " << Device() << '\n';
    own_kernel_between_ops(Device());
    library_in_own_context(Device());
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "opencl_interop: " << error.what() << '\n';
    return 1;
  }
}
