#include "conv3x3.cuh"
#include "cuda.h"

namespace twins {

Timed run_cuda(const Conv3x3& task) {
  const DeviceFloats x(task.x), weight(task.weight), bias(task.bias);
  const DeviceFloats y(static_cast<std::size_t>(task.images) * task.outputs * task.height * task.width);
  const dim3 grid(blocks_of(task.width, conv_tile), blocks_of(task.height, conv_tile),
                  task.images * (task.outputs / conv_outputs)),
      block(conv_tile, conv_tile);
  const double ms = cuda_time([&] {
    conv3x3_relu<<<grid, block>>>(x.get(), weight.get(), bias.get(), y.get(), task.channels, task.outputs, task.height,
                                  task.width);
  });
  return {y.download(), ms};
}

}  // namespace twins
