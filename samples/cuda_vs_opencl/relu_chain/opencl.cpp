#include "opencl.h"

namespace twins {

Timed run_opencl(const Opencl& cl, const ReluChain& task) {
  const int count = static_cast<int>(task.x.size());
  const cl::Buffer x = cl.upload(task.x), y = cl.allocate(task.x.size());
  cl::Kernel kernel(cl.build("relu_chain.cl"), "relu_chain");
  kernel.setArg(0, x);
  kernel.setArg(1, y);
  kernel.setArg(2, task.scale);
  kernel.setArg(3, task.shift);
  kernel.setArg(4, count);
  const double ms = cl.time([&] {
    cl.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(rounded_up(count, 256)), cl::NDRange(256));
  });
  return {cl.download(y, task.x.size()), ms};
}

}  // namespace twins
