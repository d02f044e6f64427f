#include "conv3x3/conv3x3.cuh"
#include "cuda.h"
#include "layers.cuh"

namespace twins {

namespace {

void conv(const DeviceFloats& x, const DeviceFloats& weight, const DeviceFloats& bias, const DeviceFloats& y,
          int channels, int outputs, int side) {
  const dim3 grid(blocks_of(side, conv_tile), blocks_of(side, conv_tile), outputs / conv_outputs);
  conv3x3_relu<<<grid, dim3(conv_tile, conv_tile)>>>(x.get(), weight.get(), bias.get(), y.get(), channels, outputs,
                                                     side, side);
}

void pool(const DeviceFloats& x, const DeviceFloats& y, int planes, int side) {
  max_pool<<<dim3(blocks_of(side / 2, 16), blocks_of(side / 2, 4), planes), dim3(16, 4)>>>(x.get(), y.get(), planes,
                                                                                           side, side);
}

}  // namespace

Timed run_cuda(const SimpleCnn& task) {
  const DeviceFloats image(task.image), conv1_weight(task.conv1_weight), conv1_bias(task.conv1_bias);
  const DeviceFloats conv2_weight(task.conv2_weight), conv2_bias(task.conv2_bias);
  const DeviceFloats fc1_weight(task.fc1_weight), fc1_bias(task.fc1_bias);
  const DeviceFloats fc2_weight(task.fc2_weight), fc2_bias(task.fc2_bias);
  const DeviceFloats planes1(32 * 28 * 28), pooled1(32 * 14 * 14), planes2(64 * 14 * 14), pooled2(64 * 7 * 7);
  const DeviceFloats hidden(128), logits(10);
  const double ms = cuda_time([&] {
    conv(image, conv1_weight, conv1_bias, planes1, 1, 32, 28);
    pool(planes1, pooled1, 32, 28);
    conv(pooled1, conv2_weight, conv2_bias, planes2, 32, 64, 14);
    pool(planes2, pooled2, 64, 14);
    linear<<<128, 32>>>(pooled2.get(), fc1_weight.get(), fc1_bias.get(), hidden.get(), 64 * 7 * 7, true);
    linear<<<10, 32>>>(hidden.get(), fc2_weight.get(), fc2_bias.get(), logits.get(), 128, false);
  });
  return {logits.download(), ms};
}

}  // namespace twins
