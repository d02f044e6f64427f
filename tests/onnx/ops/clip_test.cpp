// Gradients of Clip at its bounds.
#include "onnx/models.h"
#include "support/onnx_op.h"

TEST_CASE("onnx Clip: where x equals a stored bound its gradient is 0, and a computed bound gets half of it") {
  const Proto minus = of::raw_tensor<float>("low", of::f32, {}, {-1}),
              one = of::raw_tensor<float>("top", of::f32, {}, {1});
  const std::vector<float> values{-2, -1, 0, 1, 2};
  Tensor x = from_vector(values).requires_grad_();
  const Tensor y = result(one_node(node("Clip", {"x", "low", "top"}, {"y"}), {minus, one}), x);
  CHECK(y.to_vector<float>() == std::vector<float>{-1, -1, 0, 1, 1});
  y.sum().backward();
  CHECK(x.grad().to_vector<float>() == std::vector<float>{0, 0, 1, 0, 0});
  Tensor a = from_vector(values).requires_grad_(), low = full({}, -1).requires_grad_(), top = ones({}).requires_grad_();
  run_op({"Clip"}, {a, low, top})[0].sum().backward();
  CHECK(a.grad().to_vector<float>() == std::vector<float>{0, 0.5f, 1, 0.5f, 0});
  CHECK(low.grad().item<float>() == 1.5f);
  CHECK(top.grad().item<float>() == 1.5f);
}
