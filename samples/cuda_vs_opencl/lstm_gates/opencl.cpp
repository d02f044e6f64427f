#include "opencl.h"

namespace twins {

Timed run_opencl(const Opencl& cl, const LstmGates& task) {
  const std::size_t units = task.cell.size();
  const cl::Buffer gates = cl.upload(task.gates), cell = cl.upload(task.cell), new_hidden = cl.allocate(units),
                   new_cell = cl.allocate(units);
  cl::Kernel kernel(cl.build("lstm_gates.cl"), "lstm_gates");
  kernel.setArg(0, gates);
  kernel.setArg(1, cell);
  kernel.setArg(2, new_hidden);
  kernel.setArg(3, new_cell);
  kernel.setArg(4, task.batch);
  kernel.setArg(5, task.hidden);
  const cl::NDRange range(rounded_up(task.hidden, 64), rounded_up(task.batch, 4));
  const double ms = cl.time([&] { cl.queue().enqueueNDRangeKernel(kernel, cl::NullRange, range, cl::NDRange(64, 4)); });
  Floats values = cl.download(new_hidden, units);
  const Floats cells = cl.download(new_cell, units);
  values.insert(values.end(), cells.begin(), cells.end());
  return {values, ms};
}

}  // namespace twins
