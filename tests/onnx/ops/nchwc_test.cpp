// Ops of ONNX Runtime whose images have channels in blocks, and its other ops that compute several of ONNX.
#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "onnx/models.h"

namespace {

constexpr const char* nchwc = "com.microsoft.nchwc";

/// A weight (O, I, H, W) as ONNX Runtime stores it: zeros fill the last block of O, and of I where I is a block at
/// least.
Tensor in_blocks(const Tensor& weight, std::int64_t block) {
  const auto more = [&](std::int64_t n) { return (block - n % block) % block; };
  const bool both = weight.size(1) >= block;
  const Tensor w = pad(weight, {{0, 0}, {0, 0}, {0, both ? more(weight.size(1)) : 0}, {0, more(weight.size(0))}});
  const std::int64_t o = w.size(0), i = w.size(1), h = w.size(2), across = w.size(3);
  const Tensor parts = both ? w.reshape({o / block, block, i / block, block, h, across}).permute({0, 2, 4, 5, 3, 1})
                            : w.reshape({o / block, block, i, h, across}).permute({0, 2, 3, 4, 1});
  return parts.contiguous().reshape({o, i, h, across});
}

Tensor filled(const Tensor& bias, std::int64_t block) {
  return pad(bias, {{0, (block - bias.size(0) % block) % block}});
}

}  // namespace

TEST_CASE("onnx: convolutions and pools of ONNX Runtime, whose channels lie in blocks") {
  manual_seed(31);
  // Only blocks of 8 fit 24 channels. Blocks of 16 are told by a processor alone.
  const std::int64_t block = 8;
  const Tensor first = randn({20, 3, 3, 3}) * 0.3, depth = randn({20, 1, 3, 3}) * 0.3,
               last = randn({18, 20, 1, 1}) * 0.3;
  const Tensor b1 = randn({20}), b2 = randn({20}), b3 = randn({18});
  const auto list = [](const char* name, const Sizes& numbers) { return attribute(name, numbers); };
  const Proto pads = list("pads", {1, 1, 1, 1});
  const Proto file =
      of::model(
          of::graph(
              {.nodes = {node("Conv", {"x", "w1", "b1"}, {"a"},
                              {pads, list("strides", {2, 1}), attribute("activation", "Relu")}, nchwc),
                         node("Conv", {"a", "w2", "b2", "a"}, {"b"},
                              {pads, attribute("group", std::int64_t{24}), attribute("activation", "HardSwish")},
                              nchwc),
                         node("MaxPool", {"b"}, {"c"}, {list("kernel_shape", {2, 2}), list("strides", {2, 2})}, nchwc),
                         node("Upsample", {"c"}, {"d"}, {list("scales", {1, 1, 2, 2})}, nchwc),
                         node("ReorderOutput", {"d"}, {"plain"}, {attribute("channels", std::int64_t{20})}, nchwc),
                         node("ReorderInput", {"plain"}, {"e"}, {}, nchwc),
                         node("Conv", {"e", "w3", "b3"}, {"f"}, {}, nchwc),
                         node("AveragePool", {"f"}, {"g"}, {list("kernel_shape", {2, 1})}, nchwc),
                         node("GlobalAveragePool", {"g"}, {"h"}, {}, nchwc),
                         node("ReorderOutput", {"h"}, {"y"},
                              {attribute("channels", std::int64_t{18}), attribute("channels_last", std::int64_t{1})},
                              nchwc)},
               .initializers = {weight("w1", in_blocks(first, block)), weight("b1", filled(b1, block)),
                                weight("w2", in_blocks(depth, block)), weight("b2", filled(b2, block)),
                                weight("w3", in_blocks(last, block)), weight("b3", filled(b3, block))},
               .inputs = {value("x", of::f32, {"N", "3", "8", "6"})},
               .outputs = {value("y", of::f32, {"N", "1", "1", "18"})}}))
          .message(8, of::operator_set(nchwc, 1));
  const Tensor x = randn({2, 3, 8, 6});
  const Tensor a = relu(conv2d(x, first, b1, {.stride = {2, 1}, .padding = 1}));
  const Tensor b = hard_swish(conv2d(a, depth, b2, {.padding = 1, .groups = 20}) + a);
  const Tensor d = interpolate(max_pool2d(b, {.kernel = 2}), {.scale_factor = {2, 2}});
  const Tensor f = conv2d(d, last, b3);
  const Tensor g = (f.narrow(2, 0, f.size(2) - 1) + f.narrow(2, 1, f.size(2) - 1)) * 0.5;
  onnx::Model model = loaded(file);
  CHECK(same(model({{"x", x}})["y"], g.mean({2, 3}, true).permute({0, 2, 3, 1})));
  const NoGrad no_grad;
  CHECK(same(model({{"x", x}})["y"], g.mean({2, 3}, true).permute({0, 2, 3, 1})));
}
