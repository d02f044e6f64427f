#include "crisol/nn/models/simple_cnn.h"

#include "base/text.h"
#include "crisol/functions/pool.h"

namespace crisol::nn {

SimpleCNN::SimpleCNN(std::int64_t in_channels, std::int64_t classes)
    : conv1(in_channels, 32, 3, {.padding = 1}),
      conv2(32, 64, 3, {.padding = 1}),
      fc1(64 * 7 * 7, 128),
      fc2(128, classes) {
  register_module("conv1", conv1);
  register_module("conv2", conv2);
  register_module("fc1", fc1);
  register_module("fc2", fc2);
}

Tensor SimpleCNN::forward(const Tensor& x) {
  require(x.dim() == 4 && x.size(2) == 28 && x.size(3) == 28, "SimpleCNN", "images must be (N, C, 28, 28), got shape ",
          x.shape());
  const Epilogue& relu = relu_epilogue();
  Tensor y = max_pool2d(conv1(x, relu), {2});
  y = max_pool2d(conv2(y, relu), {2});
  return fc2(fc1(y.flatten(1), relu));
}

}  // namespace crisol::nn
