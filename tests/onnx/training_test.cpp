// Gradients and optimizers as ops of ONNX models.
#include <cmath>

#include "onnx/models.h"
#include "support/onnx_op.h"

using doctest::Contains;

namespace {

constexpr const char* domain = "ai.onnx.preview.training";

/// The gradient of "y" with respect to `xs` at the values `at`.
Proto gradient(const std::vector<std::string>& xs, const std::string& y, const std::vector<std::string>& at,
               const std::vector<std::string>& outputs, const std::vector<std::string>& zs = {}) {
  std::vector<Proto> attributes{attribute("xs", xs), attribute("y", y.c_str())};
  if (!zs.empty()) attributes.push_back(attribute("zs", zs));
  return of::node("Gradient", at, outputs, attributes, domain);
}

/// A graph with inputs "x" and "w" of 3 elements. Outputs have any shape.
Proto model_of(const std::vector<Proto>& nodes, const std::vector<std::string>& outputs,
               const std::vector<Proto>& initializers = {}) {
  of::GraphParts parts{
      .nodes = nodes, .initializers = initializers, .inputs = {value("x", of::f32, {"3"}), value("w", of::f32, {"3"})}};
  for (const std::string& output : outputs) parts.outputs.push_back(Proto().text(1, output));
  return of::model(of::graph(parts)).message(8, of::operator_set(domain, 1));
}

Tensor vector_of(const std::vector<float>& values) { return from_vector(values); }

const Tensor& x() {
  static const Tensor values = vector_of({0.5F, -1, 2});
  return values;
}
const Tensor& w() {
  static const Tensor values = vector_of({3, 1.5F, -2});
  return values;
}

onnx::Outputs run(const Proto& file) { return loaded(file)({{"x", x()}, {"w", w()}}); }

}  // namespace

TEST_CASE("onnx: a gradient node gives the derivatives of a sum of all elements") {
  // y = (x + w) x, so dy/dx = 2 x + w and dy/dw = x.
  const Proto file = model_of({node("Add", {"x", "w"}, {"s"}), node("Exp", {"w"}, {"not_needed"}),
                               node("Mul", {"s", "x"}, {"y"}), gradient({"x", "w"}, "y", {"x", "w"}, {"dx", "dw"})},
                              {"y", "dx", "dw"});
  const onnx::Outputs found = run(file);
  CHECK(same(found["y"], (x() + w()) * x()));
  CHECK(same(found["dx"], 2 * x() + w()));
  CHECK(same(found["dw"], x()));
  onnx::Model model = loaded(file);
  const NoGrad no_grad;
  for (int i = 0; i < 3; ++i) CHECK(same(model({{"x", x() * i}, {"w", w()}})["dx"], 2 * i * x() + w()));
}

TEST_CASE("onnx: a gradient node takes values in the middle of the graph, and values that are not those of the graph") {
  // s = x w, y = s^2 + w.
  const std::vector<Proto> forward{node("Mul", {"x", "w"}, {"s"}), node("Mul", {"s", "s"}, {"q"}),
                                   node("Add", {"q", "w"}, {"y"}), node("Neg", {"x"}, {"minus"})};
  const auto with = [&](const Proto& last) {
    std::vector<Proto> nodes = forward;
    nodes.push_back(last);
    return nodes;
  };
  CHECK(same(run(model_of(with(gradient({"s"}, "y", {"s"}, {"d"})), {"d"}))["d"], 2 * x() * w()));
  CHECK(
      same(run(model_of(with(gradient({"x"}, "y", {"minus", "w"}, {"d"}, {"w"})), {"d"}))["d"], -2 * x() * w() * w()));
  // The first output is left out. s keeps its value while w changes.
  CHECK(same(run(model_of(with(gradient({"s", "w"}, "y", {"s", "x"}, {"", "d"})), {"d"}))["d"], ones({3})));
}

TEST_CASE("onnx: gradients of gradients, and of what the model is trained with") {
  // y = x^2 p x with the parameter p: dy/dx = 3 x^2 p, its sum's derivative by x is 6 x p, and by p 3 x^2.
  const Tensor p = vector_of({1, 2, 3});
  onnx::Model model =
      loaded(model_of({node("Mul", {"x", "x"}, {"q"}), node("Mul", {"q", "p"}, {"r"}), node("Mul", {"r", "x"}, {"y"}),
                       gradient({"x"}, "y", {"x"}, {"slope"}), gradient({"x"}, "slope", {"x"}, {"curve"})},
                      {"slope", "curve"}, {weight("p", p)}));
  const onnx::Outputs found = model({{"x", x()}, {"w", w()}});
  CHECK(same(found["slope"], 3 * x() * x() * p));
  CHECK(same(found["curve"], 6 * x() * p));
  found["slope"].sum().backward();
  CHECK(same(model.parameter("p").grad(), 3 * x() * x()));
}

TEST_CASE("onnx: a gradient node uses what the graph drew, and is 0 for what does not matter") {
  const onnx::Outputs found = run(model_of({node("RandomUniformLike", {"x"}, {"r"}), node("Mul", {"x", "r"}, {"y"}),
                                            gradient({"x", "w"}, "y", {"x", "w"}, {"dx", "dw"})},
                                           {"y", "dx", "dw"}));
  CHECK(same(found["dx"] * x(), found["y"]));
  CHECK(same(found["dw"], zeros({3})));
}

TEST_CASE("onnx: gradient nodes that name what does not fit are refused") {
  const Proto mul = node("Mul", {"x", "w"}, {"y"});
  const auto refusal_of = [&](const Proto& last) { return refused(model_of({mul, last}, {"d"})); };
  CHECK(refusal_of(gradient({"x"}, "z", {"x"}, {"d"})) == Contains("nothing before the node makes the value \"z\""));
  CHECK(refusal_of(gradient({"v"}, "y", {"x"}, {"d"})) == Contains("nothing before the node makes the value \"v\""));
  CHECK(refusal_of(gradient({"x"}, "w", {"x"}, {"d"})) == Contains("the value \"w\" depends on none of the inputs"));
  CHECK(refusal_of(gradient({"x", "x"}, "y", {"x", "w"}, {"d"})) == Contains("xs names a value twice"));
  CHECK(refusal_of(gradient({}, "y", {}, {"d"})) == Contains("attribute xs is missing"));
  CHECK(refusal_of(gradient({"x"}, "y", {"x", "w"}, {"d"})) == Contains("2 inputs"));
  CHECK(refusal_of(of::node("Gradient", {"x"}, {"d"}, {attribute("xs", std::vector<std::string>{"x"})}, domain)) ==
        Contains("attribute y is missing"));
}

TEST_CASE("onnx: optimizers step all their parameters") {
  const Tensor rate = full({}, 0.1), first = full({}, 0, DType::i64), third = full({}, 2, DType::i64);
  const Tensor g = vector_of({1, -2, 3}), v = vector_of({0.25F, 4, 1}), h = vector_of({1, 2, 0.5F});
  const OnnxOp momentum{.name = "Momentum",
                        .attributes = {attribute("alpha", 0.9F), attribute("beta", 0.5F),
                                       attribute("norm_coefficient", 0.25F), attribute("mode", "nesterov")},
                        .domain = domain,
                        .outputs = {"a", "b", "va", "vb"}};
  for (const Tensor& count : {first, third}) {
    const double beta = count.item<std::int64_t>() > 0 ? 0.5 : 1;
    const std::vector<Tensor> y = run_op(momentum, {rate, count, x(), w(), g, h, v, v});
    const Tensor ga = 0.25 * x() + g, gb = 0.25 * w() + h, va = 0.9 * v + beta * ga, vb = 0.9 * v + beta * gb;
    CHECK(nearly(y[0], x() - 0.1 * (ga + 0.9 * va)));
    CHECK(nearly(y[1], w() - 0.1 * (gb + 0.9 * vb)));
    CHECK(nearly(y[2], va));
    CHECK(nearly(y[3], vb));
  }
  const std::vector<Tensor> y =
      run_op({.name = "Adam", .domain = domain, .outputs = {"a", "va", "ha"}}, {rate, third, x(), g, v, h});
  const Tensor va = 0.9 * v + 0.1 * g, ha = 0.999 * h + 0.001 * g * g;
  const double adjusted = 0.1 * std::sqrt(1 - 0.999 * 0.999) / (1 - 0.9 * 0.9);
  CHECK(nearly(y[0], x() - adjusted * va / (sqrt(ha) + 1e-6)));
  CHECK(nearly(y[1], va));
  CHECK(nearly(y[2], ha));
  CHECK(refusal_of_op({.name = "Adagrad", .domain = domain, .outputs = {"a"}}, {rate, first, x(), g}) ==
        Contains("4 inputs, 2 and 3 for each parameter expected"));
  CHECK(refusal_of_op({.name = "Adagrad", .domain = domain, .outputs = {"a"}}, {rate, first, x(), g, first}) ==
        Contains("i64"));
}
