#include "opencl.h"

namespace twins {

Timed run_opencl(const Opencl& cl, const Conv3x3& task) {
  constexpr int tile = 16, outputs_of_item = 8;
  const std::size_t results = static_cast<std::size_t>(task.images) * static_cast<std::size_t>(task.outputs) *
                              static_cast<std::size_t>(task.height) * static_cast<std::size_t>(task.width);
  const cl::Buffer x = cl.upload(task.x), weight = cl.upload(task.weight), bias = cl.upload(task.bias),
                   y = cl.allocate(results);
  cl::Kernel kernel(cl.build("conv3x3.cl"), "conv3x3_relu");
  kernel.setArg(0, x);
  kernel.setArg(1, weight);
  kernel.setArg(2, bias);
  kernel.setArg(3, y);
  kernel.setArg(4, task.channels);
  kernel.setArg(5, task.outputs);
  kernel.setArg(6, task.height);
  kernel.setArg(7, task.width);
  const cl::NDRange range(rounded_up(task.width, tile), rounded_up(task.height, tile),
                          static_cast<std::size_t>(task.images * (task.outputs / outputs_of_item)));
  const double ms =
      cl.time([&] { cl.queue().enqueueNDRangeKernel(kernel, cl::NullRange, range, cl::NDRange(tile, tile, 1)); });
  return {cl.download(y, results), ms};
}

}  // namespace twins
