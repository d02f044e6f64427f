// Groups of DequantizeLinear, an op and QuantizeLinear, which become one node of whole numbers.
#include <algorithm>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "onnx/import.h"
#include "onnx/ops/op_names.h"
#include "ops/product/pairs.h"
#include "support/files.h"
#include "support/onnx_writer.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using namespace crisol::testing;
namespace of = onnx_file;

namespace {

using Names = std::vector<std::string>;

/// A model that is written node by node.
class Writer {
 public:
  /// Adds an initializer of whole numbers from `least` to 127, and returns its name.
  template <class T>
  void numbers(const std::string& name, int type, const of::Sizes& sizes, int least) {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    std::vector<T> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(least + (i * 53 + 7) % (128 - least)));
    parts_.initializers.push_back(of::raw_tensor(name, type, sizes, values));
  }

  /// Adds the scales and the zero points that quantise numbers.
  template <class T>
  void parameters(const std::string& name, const std::vector<float>& scales, int type, T zero) {
    const of::Sizes sizes(scales.size() == 1 ? 0 : 1, static_cast<std::int64_t>(scales.size()));
    parts_.initializers.push_back(of::raw_tensor(name + "_scale", of::f32, sizes, scales));
    parts_.initializers.push_back(of::raw_tensor(name + "_zero", type, sizes, std::vector<T>(scales.size(), zero)));
  }

  void node(const std::string& op, const Names& inputs, const std::string& output,
            const std::vector<of::Proto>& attributes = {}) {
    parts_.nodes.push_back(of::node(op, inputs, {output}, attributes));
    between_.push_back(output);
  }
  void quantize(const std::string& x, const std::string& by, const std::string& y) {
    parts_.nodes.push_back(of::node("QuantizeLinear", {x, by + "_scale", by + "_zero"}, {y}));
  }
  void dequantize(const std::string& x, const std::string& by, const std::string& y, std::int64_t axis = 0) {
    parts_.nodes.push_back(
        of::node("DequantizeLinear", {x, by + "_scale", by + "_zero"}, {y}, {of::attribute("axis", axis)}));
  }

  /// The file with the input x and the output y. If `apart`, the results of the ops are outputs too, so that no group
  /// is joined.
  std::string file(bool apart, bool has_microsoft = true) const {
    of::GraphParts parts = parts_;
    const of::Proto type = of::Proto().message(1, of::Proto().integer(1, of::f32));
    parts.inputs = {of::value("x", type)};
    parts.outputs = {of::value("y", type)};
    for (const std::string& name : between_)
      if (apart && name != "y") parts.outputs.push_back(of::value(name, type));
    of::Proto model = of::model(of::graph(parts));
    if (has_microsoft) model.message(8, of::operator_set("com.microsoft", 1));
    return model.bytes();
  }

 private:
  of::GraphParts parts_;
  Names between_;
};

Names ops_of(const std::string& bytes) {
  onnx::file::ModelFile file("groups", bytes);
  Names names;
  for (const graph::Node& node : onnx::import_model(file, Device()).graph.nodes)
    names.emplace_back(onnx::onnx_name(node));
  return names;
}

Tensor run(const std::string& bytes, const Tensor& x) {
  const TemporaryFolder folder;
  write_file(folder.path() + "/groups.onnx", bytes);
  const NoGrad no_grad;
  return onnx::load(folder.path() + "/groups.onnx")(NamedTensors{{"x", x}})["y"];
}

/// Checks that the joined nodes give the results of the nodes alone, except for a rounded half.
void check_joined(const Writer& writer, const Tensor& x, double scale, const Names& ops) {
  if (ops::prefers_pairs(Device())) CHECK(ops_of(writer.file(false)) == ops);
  const Tensor expected = run(writer.file(true), x), found = run(writer.file(false), x);
  REQUIRE(found.shape() == expected.shape());
  const Tensor steps = (found - expected).abs() / scale;
  CHECK(steps.max().item() < 1.01);
  CHECK(steps.mean().item() < 0.02);
  CHECK(expected.max().item() > expected.min().item() + 20 * scale);
}

/// A convolution of x (2, 5, 9, 7), then Relu, then MaxPool.
template <class T, class W>
Writer convolution(int type_of_x, int type_of_w, T zero, const std::vector<float>& scales, float factor_of_bias) {
  Writer writer;
  writer.parameters<T>("xs", {0.031f}, type_of_x, zero);
  writer.parameters<T>("ys", {0.5f}, type_of_x, zero);
  writer.parameters<W>("ws", scales, type_of_w, W{3});
  std::vector<float> of_bias;
  for (const float scale : scales) of_bias.push_back(scale * 0.031f * factor_of_bias);
  writer.parameters<std::int32_t>("bs", of_bias, of::i32, 0);
  writer.numbers<W>("w", type_of_w, {4, 5, 3, 3}, type_of_w == of::i8 ? -128 : 0);
  writer.numbers<std::int32_t>("b", of::i32, {4}, -3000);
  writer.quantize("x", "xs", "xq");
  writer.dequantize("xq", "xs", "xr");
  writer.dequantize("w", "ws", "wr");
  writer.dequantize("b", "bs", "br");
  writer.node("Conv", {"xr", "wr", "br"}, "c",
              {of::attribute("pads", of::Sizes{1, 0, 2, 1}), of::attribute("strides", of::Sizes{2, 1})});
  writer.node("Relu", {"c"}, "r");
  writer.quantize("r", "ys", "yq");
  writer.dequantize("yq", "ys", "yr");
  writer.node("MaxPool", {"yr"}, "m", {of::attribute("kernel_shape", of::Sizes{2, 2})});
  writer.quantize("m", "ys", "mq");
  writer.dequantize("mq", "ys", "y");
  return writer;
}

}  // namespace

TEST_CASE("onnx: a convolution between quantised numbers is computed with whole numbers") {
  manual_seed(3);
  const Tensor x = randn({2, 5, 9, 7});
  const Names ops{"QuantizeLinear", "QLinearConv", "MaxPool", "DequantizeLinear"};
  const std::vector<float> one{0.02f}, four{0.02f, 0.01f, 0.03f, 0.015f};
  for (const std::vector<float>& scales : {one, four}) {
    check_joined(convolution<std::uint8_t, std::int8_t>(of::u8, of::i8, 0, scales, 1), x, 0.5, ops);
    check_joined(convolution<std::uint8_t, std::uint8_t>(of::u8, of::u8, 0, scales, 1), x, 0.5, ops);
    check_joined(convolution<std::int8_t, std::int8_t>(of::i8, of::i8, -128, scales, 1), x, 0.5, ops);
  }
  // Quantisation does not do the work of Relu, or the bias has another scale than the sums.
  const auto keeps_conv = [](const Writer& writer) {
    const Names found = ops_of(writer.file(false));
    return std::find(found.begin(), found.end(), "Conv") != found.end();
  };
  CHECK(keeps_conv(convolution<std::uint8_t, std::int8_t>(of::u8, of::i8, 7, four, 1)));
  CHECK(keeps_conv(convolution<std::uint8_t, std::int8_t>(of::u8, of::i8, 0, four, 1.01f)));
  CHECK(keeps_conv(convolution<std::int8_t, std::int8_t>(of::i8, of::i8, 0, one, 1)));
}

TEST_CASE("onnx: products between quantised numbers are computed with whole numbers") {
  manual_seed(4);
  const Tensor x = randn({21, 35});
  const std::vector<float> six{0.01f, 0.02f, 0.03f, 0.02f, 0.01f, 0.03f};
  const auto begin = [&] {
    Writer writer;
    writer.parameters<std::uint8_t>("xs", {0.03f}, of::u8, 120);
    writer.parameters<std::uint8_t>("ys", {0.5f}, of::u8, 128);
    writer.quantize("x", "xs", "xq");
    writer.dequantize("xq", "xs", "xr");
    return writer;
  };
  // By a weight with a scale for each column, and then a transpose.
  Writer weight = begin();
  weight.parameters<std::int8_t>("ws", six, of::i8, 0);
  weight.numbers<std::int8_t>("w", of::i8, {35, 6}, -128);
  weight.dequantize("w", "ws", "wr", -1);
  weight.node("MatMul", {"xr", "wr"}, "p");
  weight.quantize("p", "ys", "pq");
  weight.dequantize("pq", "ys", "pr");
  weight.node("Transpose", {"pr"}, "t");
  weight.quantize("t", "ys", "tq");
  weight.dequantize("tq", "ys", "y");
  check_joined(weight, x, 0.5, {"QuantizeLinear", "QLinearMatMul", "Transpose", "DequantizeLinear"});
  // By itself.
  Writer square = begin();
  square.node("Transpose", {"xr"}, "t");
  square.quantize("t", "xs", "tq");
  square.dequantize("tq", "xs", "tr");
  square.node("MatMul", {"xr", "tr"}, "p");
  square.quantize("p", "ys", "pq");
  square.dequantize("pq", "ys", "y");
  check_joined(square, x, 0.5, {"QuantizeLinear", "Transpose", "QLinearMatMul", "DequantizeLinear"});
  CHECK(run(square.file(false), randn({35})).shape() == Shape());
  // By a turned weight with a scale for each row, plus a bias.
  const auto linear = [&](std::int64_t axis) {
    Writer writer = begin();
    std::vector<float> of_bias;
    for (const float scale : six) of_bias.push_back(scale * 0.03f);
    writer.parameters<std::int8_t>("ws", six, of::i8, 0);
    writer.parameters<std::int32_t>("bs", of_bias, of::i32, 0);
    writer.numbers<std::int8_t>("w", of::i8, {6, 35}, -128);
    writer.numbers<std::int32_t>("b", of::i32, {6}, -3000);
    writer.dequantize("w", "ws", "wr", axis);
    writer.dequantize("b", "bs", "br");
    writer.node("Gemm", {"xr", "wr", "br"}, "p", {of::attribute("transB", std::int64_t{1})});
    writer.quantize("p", "ys", "pq");
    writer.dequantize("pq", "ys", "y");
    return writer;
  };
  check_joined(linear(0), x, 0.5, {"QuantizeLinear", "com.microsoft.QGemm", "DequantizeLinear"});
  const Names found = ops_of(linear(0).file(false, false));
  CHECK(std::find(found.begin(), found.end(), "Gemm") != found.end());
}
