// Ops with three spatial axes in ONNX files: the meaning of their attributes, and refusals.
#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;
using onnx_file::attribute;
using onnx_file::Proto;
using onnx_file::Sizes;

namespace {

Tensor output_of(const char* op, const std::vector<Tensor>& inputs, const std::vector<Proto>& attributes) {
  return run_op({op, attributes, 20}, inputs)[0];
}

/// Padding as ONNX names it: all begins, then all ends.
Tensor padded(const Tensor& x, const Sizes& pads, double value = 0) {
  return pad(x, {{pads[2], pads[5]}, {pads[1], pads[4]}, {pads[0], pads[3]}}, value);
}

}  // namespace

TEST_CASE("onnx Conv with three axes: paddings that differ, auto_pad, groups") {
  const Tensor x = randn({2, 4, 5, 6, 7}), w = randn({6, 2, 3, 2, 3}), b = randn({6});
  const Proto strides = attribute("strides", Sizes{2, 1, 3}), group = attribute("group", std::int64_t{2});
  const Conv3dOptions options{.stride = {2, 1, 3}, .groups = 2};
  const Sizes differ{0, 1, 2, 1, 0, 1}, equal{1, 0, 2, 1, 0, 2};
  CHECK(nearly(output_of("Conv", {x, w, b}, {strides, group, attribute("pads", differ)}),
               conv3d(padded(x, differ), w, b, options)));
  CHECK(nearly(output_of("Conv", {x, w}, {strides, group, attribute("pads", equal)}),
               conv3d(padded(x, equal), w, Tensor(), options)));
  // Sizes of ceil(size / stride); the odd element goes to the end, or with SAME_LOWER to the begin.
  const Sizes upper{1, 0, 1, 1, 1, 1}, lower{1, 1, 1, 1, 0, 1};
  for (const auto& [name, pads] : {std::pair("SAME_UPPER", upper), std::pair("SAME_LOWER", lower)})
    CHECK(nearly(output_of("Conv", {x, w}, {strides, group, attribute("auto_pad", name)}),
                 conv3d(padded(x, pads), w, Tensor(), options)));
  CHECK(nearly(output_of("Conv", {x, w}, {group, attribute("dilations", Sizes{2, 1, 1})}),
               conv3d(x, w, Tensor(), {.dilation = {2, 1, 1}, .groups = 2})));
}

TEST_CASE("onnx ConvTranspose with three axes: paddings that differ, sizes that are given") {
  const Tensor x = randn({2, 3, 2, 4, 3}), w = randn({3, 2, 3, 2, 3}), b = randn({2});
  const Proto strides = attribute("strides", Sizes{2, 1, 2});
  const Tensor all = conv_transpose3d(x, w, b, {.stride = {2, 1, 2}});  // (2, 2, 5, 5, 7)
  CHECK(nearly(output_of("ConvTranspose", {x, w, b}, {strides}), all));
  CHECK(nearly(output_of("ConvTranspose", {x, w, b}, {strides, attribute("pads", Sizes{0, 1, 1, 1, 0, 2})}),
               all.narrow(2, 0, 4).narrow(3, 1, 4).narrow(4, 1, 4)));
  CHECK(nearly(
      output_of("ConvTranspose", {x, w, b},
                {strides, attribute("pads", Sizes{1, 0, 1, 1, 0, 1}), attribute("output_padding", Sizes{1, 0, 0})}),
      conv_transpose3d(x, w, b, {.stride = {2, 1, 2}, .padding = {1, 0, 1}, .output_padding = {1, 0, 0}})));
  const Tensor larger = output_of("ConvTranspose", {x, w, b}, {strides, attribute("output_shape", Sizes{7, 5, 7})});
  CHECK(larger.shape() == Shape{2, 2, 7, 5, 7});
  CHECK(nearly(larger.narrow(2, 0, 5), all));
  CHECK(nearly(larger.narrow(2, 5, 2), b.reshape({2, 1, 1, 1}).expand({2, 2, 2, 5, 7})));
}

TEST_CASE("onnx MaxPool with three axes: positions in the whole tensor, and MaxUnpool puts them back") {
  const Tensor x = randn({2, 3, 4, 5, 6});
  const std::vector<Proto> windows{attribute("kernel_shape", Sizes{2, 2, 3}), attribute("strides", Sizes{2, 2, 3})};
  const std::vector<float> elements = x.to_vector<float>();
  const auto check = [&](const std::vector<Proto>& more, bool by_columns) {
    std::vector<Proto> attributes = windows;
    attributes.insert(attributes.end(), more.begin(), more.end());
    const std::vector<Tensor> y = run_op({"MaxPool", attributes, 20, {}, {"y", "i"}}, {x});
    const std::vector<float> values = y[0].to_vector<float>();
    const std::vector<std::int64_t> places = y[1].to_vector<std::int64_t>();
    REQUIRE(values.size() == places.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::int64_t at = places[i];
      if (by_columns) at = at / 120 * 120 + at % 4 * 30 + at / 4 % 5 * 6 + at / 20 % 6;
      CHECK(values[i] == elements.at(static_cast<std::size_t>(at)));
    }
    return y[0];
  };
  CHECK(nearly(check({}, false), max_pool3d(x, {{2, 2, 3}})));
  CHECK(nearly(check({attribute("pads", Sizes{1, 1, 1, 1, 1, 1})}, false), max_pool3d(x, {{2, 2, 3}, 0, 1})));
  const Sizes differ{0, 1, 0, 1, 0, 2};
  const Tensor around = padded(x, differ, -std::numeric_limits<double>::infinity());
  CHECK(nearly(check({attribute("pads", differ)}, false), max_pool3d(around, {{2, 2, 3}})));
  check({attribute("storage_order", std::int64_t{1})}, true);
  check({attribute("ceil_mode", std::int64_t{1}), attribute("pads", Sizes{1, 0, 0, 0, 0, 0})}, false);

  const Tensor even = rand({1, 2, 4, 4, 6}) + 1;
  const std::vector<Tensor> pooled = run_op({"MaxPool", windows, 20, {}, {"y", "i"}}, {even});
  const Tensor back = output_of("MaxUnpool", pooled, windows);
  REQUIRE(back.shape() == even.shape());
  CHECK(nearly(max_pool3d(back, {{2, 2, 3}}), pooled[0]));
  CHECK(nearly(back.sum(), pooled[0].sum()));
}

TEST_CASE("onnx AveragePool, LpPool and Col2Im with three axes") {
  const Tensor x = randn({2, 3, 5, 6, 7});
  const Proto kernel = attribute("kernel_shape", Sizes{2, 3, 2}), strides = attribute("strides", Sizes{2, 1, 2});
  const auto averaged = [&](const Sizes& pads, std::int64_t counts, std::int64_t ceil_mode) {
    return output_of("AveragePool", {x},
                     {kernel, strides, attribute("pads", pads), attribute("count_include_pad", counts),
                      attribute("ceil_mode", ceil_mode)});
  };
  const Sizes differ{1, 0, 0, 0, 2, 1};
  CHECK(nearly(averaged({1, 1, 0, 1, 1, 0}, 0, 1), avg_pool3d(x, {{2, 3, 2}, {2, 1, 2}, {1, 1, 0}, true, false})));
  CHECK(nearly(averaged(differ, 1, 0), avg_pool3d(padded(x, differ), {{2, 3, 2}, {2, 1, 2}})));
  const AvgPool3dOptions sums{.kernel = {2, 3, 2}, .stride = {2, 1, 2}, .divisor = 1};
  const Tensor counts = avg_pool3d(padded(ones({1, 1, 5, 6, 7}), differ), sums);
  CHECK(nearly(averaged(differ, 0, 0), avg_pool3d(padded(x, differ), sums) / counts));
  CHECK(nearly(output_of("LpPool", {x}, {kernel, strides}), avg_pool3d(x.square(), sums).sqrt()));
  // Dilated windows are convolutions with ones.
  const Tensor dilated =
      output_of("LpPool", {x}, {kernel, attribute("dilations", Sizes{2, 1, 3}), attribute("p", std::int64_t{1})});
  const Tensor channels = conv3d(x.abs(), ones({3, 1, 2, 3, 2}), Tensor(), {.dilation = {2, 1, 3}, .groups = 3});
  CHECK(nearly(dilated, channels));

  const Tensor blocks = randn({2, 2 * 12, 2 * 4 * 3});
  const Tensor image =
      output_of("Col2Im", {blocks, from_vector<std::int64_t>({4, 6, 6}), from_vector<std::int64_t>({2, 3, 2})},
                {attribute("strides", Sizes{2, 1, 2})});
  CHECK(image.shape() == Shape{2, 2, 4, 6, 6});
  CHECK(image.sum().item() == doctest::Approx(blocks.sum().item()).epsilon(1e-3));
}

TEST_CASE("onnx: four spatial axes are refused, and three where the library has two") {
  const Tensor x = randn({1, 1, 3, 3, 3, 3});
  CHECK(refusal_of_op({"MaxPool", {attribute("kernel_shape", Sizes{2, 2, 2, 2})}, 20}, {x}) ==
        Contains("windows along 4 axes are not supported: along one to 3 they are"));
  CHECK(refusal_of_op({"Conv", {}, 20}, {x, x}) ==
        Contains("(1, 1, 3, 3, 3, 3) is not supported: (N, C, W), (N, C, H, W) and (N, C, D, H, W) are"));
  CHECK(refusal_of_op({"DeformConv", {attribute("kernel_shape", Sizes{2, 2, 2})}, 20}, {x[0], x[0], x[0]}) ==
        Contains("windows along 3 axes are not supported: along one to 2 they are"));
}
