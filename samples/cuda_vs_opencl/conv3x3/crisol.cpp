#include "crisol_side.h"

namespace twins {

Timed run_crisol(const Conv3x3& task) {
  crisol::nn::Conv2d conv(task.channels, task.outputs, 3, {.padding = 1});
  conv.load_state_dict({{"weight", crisol::from_vector(task.weight, {task.outputs, task.channels, 3, 3})},
                        {"bias", crisol::from_vector(task.bias)}});
  const Tensor x = crisol::from_vector(task.x, {task.images, task.channels, task.height, task.width});
  Tensor y;
  const double ms = crisol_time([&] { y = conv(x, crisol::relu_epilogue()); });
  return {y.to_vector<float>(), ms};
}

}  // namespace twins
