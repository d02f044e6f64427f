#include "support/training.h"

#include "crisol/crisol.h"

namespace crisol::testing {

std::vector<float> trained(Device device, std::uint64_t seed, int steps) {
  constexpr int batch = 6, side = 12, classes = 3, channels = 4;
  manual_seed(seed);  // Seeds this thread's generator, for weights and dropout.
  nn::Sequential net(nn::Conv2d(1, channels, 3), nn::BatchNorm2d(channels), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
                     nn::Dropout(0.25), nn::Linear(channels * 5 * 5, classes));
  net.to(device);
  const Generator data(seed, device);
  optim::Adam optimizer(net.parameters(), {0.01});
  std::vector<float> values;
  for (int step = 0; step < steps; ++step) {
    const Tensor x = randn({batch, 1, side, side}, data);
    const Tensor loss = cross_entropy(net(x), randint(0, classes, {batch}, data));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    values.push_back(loss.item());
  }
  for (const Tensor& parameter : net.parameters()) {
    const std::vector<float> more = parameter.to_vector<float>();
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

}  // namespace crisol::testing
