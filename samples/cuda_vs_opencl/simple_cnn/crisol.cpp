#include "crisol_side.h"

namespace twins {

Timed run_crisol(const SimpleCnn& task) {
  crisol::nn::SimpleCNN net;
  net.load_state_dict({{"conv1.weight", crisol::from_vector(task.conv1_weight, {32, 1, 3, 3})},
                       {"conv1.bias", crisol::from_vector(task.conv1_bias)},
                       {"conv2.weight", crisol::from_vector(task.conv2_weight, {64, 32, 3, 3})},
                       {"conv2.bias", crisol::from_vector(task.conv2_bias)},
                       {"fc1.weight", crisol::from_vector(task.fc1_weight, {128, 64 * 7 * 7})},
                       {"fc1.bias", crisol::from_vector(task.fc1_bias)},
                       {"fc2.weight", crisol::from_vector(task.fc2_weight, {10, 128})},
                       {"fc2.bias", crisol::from_vector(task.fc2_bias)}});
  net.eval();
  const Tensor image = crisol::from_vector(task.image, {1, 1, 28, 28});
  Tensor logits;
  const double ms = crisol_time([&] { logits = net(image); });
  return {logits.to_vector<float>(), ms};
}

}  // namespace twins
