// ONNX models of f64, and of whole numbers of 8 to 32 bits.
#include <cmath>

#include "crisol/dtype_table.h"
#include "onnx/models.h"

using doctest::Contains;

namespace {

using Doubles = std::vector<double>;

/// y = (x in f64) / 3 + 0.1, with a Constant, an initializer and a Cast of f64. `type` is the type of y. With
/// `has_layer`, another node has an op that does not compute f64.
Proto f64_line(int type, bool has_layer, int x = of::f32) {
  const Proto third = of::tensor_attribute("value", of::raw_tensor<double>("", of::f64, {1}, {1.0 / 3}));
  std::vector<Proto> nodes{node("Constant", {}, {"d"}, {third}),
                           node("Cast", {"x"}, {"wide"}, {attribute("to", std::int64_t{of::f64})}),
                           node("Mul", {"wide", "d"}, {"m"}), node("Add", {"m", "w"}, {"s"}),
                           node("Cast", {"s"}, {"y"}, {attribute("to", std::int64_t{type})})};
  if (has_layer) nodes.push_back(node("DFT", {"image"}, {"unused"}));
  return of::model(of::graph({.nodes = nodes,
                              .initializers = {of::raw_tensor<double>("w", of::f64, {1}, {0.1}),
                                               of::raw_tensor<float>("image", of::f32, {1, 1, 1, 1}, {1})},
                              .inputs = {value("x", x, {"N"})},
                              .outputs = {value("y", type, {"N"})}}));
}

bool computes_doubles() { return Device().info().fp64; }

/// The output y of a model, for inputs of one type. The model runs twice, and its outputs must agree.
Tensor run_twice(const std::vector<Proto>& nodes, int type, const NamedTensors& inputs, int type_of_y, int opset = 18) {
  std::vector<Proto> of_model;
  for (const auto& [name, x] : inputs) of_model.push_back(value(name, type, {name}));
  const onnx::Model model = loaded(
      of::model(of::graph({.nodes = nodes, .inputs = of_model, .outputs = {value("y", type_of_y, {"M"})}}), opset));
  const NoGrad no_grad;
  const Tensor first = model(inputs)["y"], second = model(inputs)["y"];
  CHECK(first.to(DType::i64).to_vector<std::int64_t>() == second.to(DType::i64).to_vector<std::int64_t>());
  return first;
}

}  // namespace

TEST_CASE("onnx: f64 is computed in f64 where the device has it") {
  if (!computes_doubles()) return;
  const Tensor x = from_vector(std::vector<float>{1, -2, 1e30f});
  const auto expected = [&](double v) { return v * (1.0 / 3) + 0.1; };
  const Tensor y = result(f64_line(of::f64, false), x);
  CHECK(y.dtype() == DType::f64);
  check_close(y, Doubles{expected(1), expected(-2), expected(static_cast<double>(1e30f))}, {2});
  const Tensor wide = from_vector(Doubles{1e300, 1.0 / 7});
  check_close(result(f64_line(of::f64, false, of::f64), wide), Doubles{expected(1e300), expected(1.0 / 7)}, {2});
  check_close(result(f64_line(of::f32, false), x.narrow(0, 0, 2)), Doubles{expected(1), expected(-2)}, {1});
  const std::vector<Proto> product{node("MatMul", {"a", "b"}, {"p"}), node("Exp", {"p"}, {"y"})};
  const onnx::Model model =
      loaded(of::model(of::graph({.nodes = product,
                                  .inputs = {value("a", of::f64, {"N", "K"}), value("b", of::f64, {"K", "M"})},
                                  .outputs = {value("y", of::f64, {"N", "M"})}})));
  const Tensor a = from_vector(Doubles{1.0 / 3, 1e-9}, {1, 2}), b = from_vector(Doubles{1, 1}, {2, 1});
  const NoGrad no_grad;
  for (int i = 0; i < 2; ++i) check_close(model({{"a", a}, {"b", b}})["y"], Doubles{std::exp(1.0 / 3 + 1e-9)}, {4});
}

TEST_CASE("onnx: layers compute f64") {
  if (!computes_doubles()) return;
  const Shape of_x{2, 3, 6, 5}, of_w{4, 3, 3, 3};
  const Tensor x = from_vector(testing::random_values(1, of_x.numel()), of_x),
               w = from_vector(testing::random_values(2, of_w.numel()), of_w);
  const Proto kernel = attribute("kernel_shape", Sizes{2, 2});
  const std::vector<Proto> images{node("Conv", {"x", "w"}, {"c"}, {attribute("pads", Sizes{1, 1, 1, 1})}),
                                  node("LRN", {"c"}, {"l"}, {attribute("size", std::int64_t{3})}),
                                  node("MaxPool", {"l"}, {"m"}, {kernel}), node("AveragePool", {"m"}, {"a"}, {kernel}),
                                  node("LpNormalization", {"a"}, {"y"})};
  const NoGrad no_grad;
  const onnx::Model of_images = loaded(of::model(
      of::graph({.nodes = images,
                 .inputs = {value("x", of::f64, {"N", "C", "H", "W"}), value("w", of::f64, {"K", "C", "R", "S"})},
                 .outputs = {value("y", of::f64, {"N", "K", "P", "Q"})}})));
  const Tensor c = conv2d(x, w, {}, {1, 1});
  const Tensor squares = pad(c.square().reshape({2, 1, 4, -1}), {{0, 0}, {1, 1}});
  const Tensor sums = (squares.narrow(2, 0, 4) + squares.narrow(2, 1, 4) + squares.narrow(2, 2, 4)).reshape(c.shape());
  const Tensor l = c / (sums * (static_cast<double>(1e-4f) / 3) + 1).pow(0.75);
  const Tensor a = avg_pool2d(max_pool2d(l, {2, 1}), {2, 1});
  const Tensor expected = a / norm(a, 2, 3, true);
  for (int i = 0; i < 2; ++i) check_close(of_images({{"x", x}, {"w", w}})["y"], expected.to_vector<double>(), {1e3, 1});

  const Tensor steps = from_vector(testing::random_values(3, 4 * 2 * 3), {4, 2, 3}),
               ih = from_vector(testing::random_values(4, 5 * 3), {1, 5, 3}),
               hh = from_vector(testing::random_values(5, 5 * 5), {1, 5, 5});
  const onnx::Model of_steps = loaded(
      of::model(of::graph({.nodes = {node("RNN", {"x", "w", "r"}, {"y"}, {attribute("hidden_size", std::int64_t{5})})},
                           .inputs = {value("x", of::f64, {"T", "B", "I"}), value("w", of::f64, {"D", "H", "I"}),
                                      value("r", of::f64, {"D", "H", "R"})},
                           .outputs = {value("y", of::f64, {"T", "D", "B", "H"})}})));
  const Tensor y = rnn({steps, {}, {}, {}}, {ih.select(0, 0), hh.select(0, 0), {}, {}, {}}, {.cell = RnnCell::tanh}).y;
  for (int i = 0; i < 2; ++i)
    check_close(of_steps({{"x", steps}, {"w", ih}, {"r", hh}})["y"], y.to_vector<double>(), {8, 1});
}

TEST_CASE("onnx: f64 is computed in f32 beside ops that do not compute f64, or without double precision") {
  const Tensor x = from_vector(std::vector<float>{1, -2});
  CHECK(same(result(f64_line(of::f32, true), x), x * (1.0 / 3) + 0.1));
  CHECK(refused(f64_line(of::f64, true)) == Contains("an output: elements of f64 are not supported: \"y\""));
  CHECK(refused(f64_line(of::f32, true, of::f64)) == Contains("an input: elements of f64 are not supported: \"x\""));
  if (computes_doubles()) return;
  CHECK(same(result(f64_line(of::f32, false), x), x * (1.0 / 3) + 0.1));
  CHECK(refused(f64_line(of::f64, false)) == Contains("an output: elements of f64 are not supported: \"y\""));
}

TEST_CASE("onnx: whole numbers of 8, 16 and 32 bits are computed as they are") {
  for (const DType dtype : {DType::i8, DType::i16, DType::u16, DType::u32}) {
    CAPTURE(dtype);
    const int type = static_cast<int>(dtype_row(dtype).onnx);
    const bool has_sign = kind_of(dtype) == DTypeKind::integer;
    const std::int64_t largest = (std::int64_t{1} << dtype_row(dtype).digits) - 1, least = has_sign ? -largest - 1 : 0;
    const Sizes a{largest, 7, least, 100}, b{1, has_sign ? -2 : 2, 3, 100};
    const Tensor x = from_vector(a, dtype), y = from_vector(b, dtype);
    const auto check = [&](const std::vector<Proto>& nodes, const Sizes& expected, DType dtype_of_y) {
      const Tensor found = run_twice(nodes, type, {{"x", x}, {"z", y}}, static_cast<int>(dtype_row(dtype_of_y).onnx));
      CHECK(found.dtype() == dtype_of_y);
      CHECK(found.to(DType::i64).to_vector<std::int64_t>() == expected);
    };
    check({node("Add", {"x", "z"}, {"y"})}, {least, has_sign ? 5 : 9, least + 3, 200 > largest ? 200 - 256 : 200},
          dtype);
    check({node("Div", {"x", "z"}, {"y"})}, {largest, has_sign ? -3 : 3, least / 3, 1}, dtype);
    check({node("Mod", {"x", "z"}, {"y"})}, {0, has_sign ? -1 : 1, ((least % 3) + 3) % 3, 0}, dtype);
    check({node("Less", {"x", "z"}, {"y"})}, {0, 0, 1, 0}, DType::boolean);
    check({node("Max", {"x", "z"}, {"y"})}, {largest, 7, 3, 100}, dtype);
    check({node("Cast", {"x"}, {"y"}, {attribute("to", std::int64_t{of::i64})})}, a, DType::i64);
    check({node("ReduceMax", {"x"}, {"y"}, {attribute("keepdims", std::int64_t{1})})}, {largest}, dtype);
    check({node("Where", {"c", "x", "z"}, {"y"}), node("Greater", {"x", "z"}, {"c"})}, {largest, 7, 3, 100}, dtype);
    const Proto places = of::tensor_attribute("value", of::raw_tensor<std::int64_t>("", of::i64, {2}, {2, 0}));
    check({node("Constant", {}, {"p"}, {places}), node("Gather", {"x", "p"}, {"y"})}, {least, largest}, dtype);
    check({node("Concat", {"x", "z"}, {"y"}, {attribute("axis", std::int64_t{0})})},
          {largest, 7, least, 100, b[0], b[1], b[2], b[3]}, dtype);
  }
}

TEST_CASE("onnx: bytes stay bytes where a constant joins a chain of nodes") {
  // The sums wrap around.
  const auto check = [](int type, DType dtype, const Proto& constant, const std::vector<float>& expected) {
    const std::vector<Proto> nodes{node("Constant", {}, {"c"}, {of::tensor_attribute("value", constant)}),
                                   node("Max", {"x", "c"}, {"m"}), node("Add", {"m", "m"}, {"s"}),
                                   node("Add", {"s", "c"}, {"y"})};
    const Tensor y = run_twice(nodes, type, {{"x", from_vector<float>({1, 100, 5}).to(dtype)}}, type);
    CHECK(y.dtype() == dtype);
    CHECK(y.to(DType::f32).to_vector<float>() == expected);
  };
  check(of::u8, DType::u8, of::raw_tensor<std::uint8_t>("", of::u8, {}, {90}), {14, 34, 14});
  check(of::i8, DType::i8, of::raw_tensor<std::int8_t>("", of::i8, {}, {60}), {-76, 4, -76});
}
