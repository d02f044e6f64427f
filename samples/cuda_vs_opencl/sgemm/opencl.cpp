#include "opencl.h"

namespace twins {

Timed run_opencl(const Opencl& cl, const Sgemm& task) {
  constexpr int tile = 64, group = 16;
  const std::size_t results = static_cast<std::size_t>(task.m) * static_cast<std::size_t>(task.n);
  const cl::Buffer a = cl.upload(task.a), b = cl.upload(task.b), c = cl.allocate(results);
  cl::Kernel kernel(cl.build("sgemm.cl"), "sgemm");
  kernel.setArg(0, a);
  kernel.setArg(1, b);
  kernel.setArg(2, c);
  kernel.setArg(3, task.m);
  kernel.setArg(4, task.n);
  kernel.setArg(5, task.k);
  const cl::NDRange range(rounded_up(task.n, tile) / tile * group, rounded_up(task.m, tile) / tile * group);
  const double ms =
      cl.time([&] { cl.queue().enqueueNDRangeKernel(kernel, cl::NullRange, range, cl::NDRange(group, group)); });
  return {cl.download(c, results), ms};
}

}  // namespace twins
