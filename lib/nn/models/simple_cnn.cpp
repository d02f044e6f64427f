#include "crisol/nn/models/simple_cnn.h"

#include "base/text.h"
#include "crisol/functions/pool.h"

namespace crisol::nn {

SimpleCNN::SimpleCNN(std::int64_t in_channels, std::int64_t classes)
    : conv1_(register_module("conv1", Conv2d(in_channels, 32, 3, {1, 1}))),
      conv2_(register_module("conv2", Conv2d(32, 64, 3, {1, 1}))),
      fc1_(register_module("fc1", Linear(64 * 7 * 7, 128))),
      fc2_(register_module("fc2", Linear(128, classes))) {}

Tensor SimpleCNN::forward(const Tensor& x) {
  require(x.dim() == 4 && x.size(2) == 28 && x.size(3) == 28, "SimpleCNN", "images must be (N, C, 28, 28), got shape ",
          x.shape());
  const Epilogue& relu = relu_epilogue();
  Tensor y = max_pool2d(conv1_->forward(x, relu), {2});
  y = max_pool2d(conv2_->forward(y, relu), {2});
  return fc2_->forward(fc1_->forward(y.flatten(1), relu));
}

}  // namespace crisol::nn
