// ONNX models with oddities: some as other programs write them, and some that only an attacker would write.
#include <limits>

#include "onnx/models.h"

using doctest::Contains;

TEST_CASE("onnx: an initializer that is also an input may be given for one run") {
  const auto w = from_vector(std::vector<float>{10, 20});
  onnx::Model model = loaded(of::model(
      of::graph({.nodes = {node("Add", {"x", "w"}, {"s"}), node("Reshape", {"s", "shape"}, {"y"})},
                 .initializers = {weight("w", w), numbers("shape", {2, 1})},
                 .inputs = {value("w", of::f32, {"2"}), value("x", of::f32, {"2"}), value("shape", of::i64, {"2"})},
                 .outputs = {value("y", of::f32, {})}})));
  REQUIRE(model.inputs().size() == 1);
  const Tensor x = ones({2});
  CHECK(same(model(x), from_vector(std::vector<float>{11, 21}, {2, 1})));
  CHECK(same(model({{"x", x}, {"w", x}})["y"], full({2, 1}, 2)));
  CHECK(model({{"x", x}, {"shape", from_vector(std::vector<std::int64_t>{1, -1})}})["y"].shape() == Shape{1, 2});
  CHECK(same(model(x), from_vector(std::vector<float>{11, 21}, {2, 1})));
  const auto refusal_of = [&](const NamedTensors& inputs) {
    return refusal(ErrorCode::invalid_argument, [&] { model(inputs); });
  };
  CHECK(refusal_of({{"x", x}, {"w", ones({3})}}) == "[onnx] input \"w\" has shape (3), (2) expected");
  CHECK(refusal_of({{"x", x}, {"w", x}, {"w", x}}) == "[onnx] input \"w\" is given twice");
  CHECK(refusal_of({{"w", x}}) == "[onnx] input \"x\" is missing");
}

TEST_CASE("onnx: an initializer may be there twice, with the same elements") {
  const auto model = [](float second) {
    return one_node(node("Add", {"x", "w"}, {"y"}), {weight("w", full({2}, 3)), weight("w", full({2}, second))});
  };
  CHECK(same(result(model(3), ones({2})), full({2}, 4)));
  CHECK(refused(model(4), ErrorCode::io) == Contains("the initializer \"w\" is there twice, with different elements"));
}

TEST_CASE("onnx: outputs without use, empty names, and sizes of 0") {
  const Proto file =
      of::model(of::graph({.nodes = {node("Split", {"x"}, {"", "b"}), node("TopK", {"x", "k"}, {"t", ""}),
                                     node("Clip", {"b", "", ""}, {"y", ""})},
                           .initializers = {numbers("k", {1})},
                           .inputs = {value("x", of::f32, {"", "3"})},
                           .outputs = {value("y", of::f32, {}), value("x", of::f32, {})}}));
  const Tensor x = randn({4, 3});
  const onnx::Outputs y = loaded(file)({{"x", x}});
  CHECK(same(y["y"], x.narrow(0, 2, 2)));
  CHECK(same(y["x"], x));
  CHECK(loaded(one_node(node("Relu", {"x"}, {"y"})))({{"x", zeros({0, 3})}})["y"].shape() == Shape{0, 3});
}

TEST_CASE("onnx: what a constant cannot be is refused by its attribute") {
  const auto constant = [](const Proto& attribute) {
    return refused(one_node(node("Constant", {}, {"y"}, {attribute})));
  };
  CHECK(constant(attribute("value_string", "text")) ==
        Contains("Constant: attribute \"value_string\" is not supported"));
}

namespace {

/// A sparse tensor of shape (2, 3).
Proto sparse(const char* name, const Proto& values, const Proto& indices) {
  return Proto().message(1, Proto(values).text(8, name)).message(2, indices).integers(3, {2, 3});
}

/// y = x + "w", a sparse initializer.
Proto with_sparse(const Proto& tensor) {
  return of::model(of::graph({.nodes = {node("Add", {"x", "w"}, {"y"})},
                              .inputs = {value("x", of::f32, {"2", "3"})},
                              .outputs = {value("y", of::f32, {"2", "3"})}})
                       .message(15, tensor));
}

}  // namespace

TEST_CASE("onnx: sparse initializers and constants have zeros between their elements") {
  const Proto values = of::raw_tensor<float>("", of::f32, {2}, {5, 7});
  const Proto places = of::raw_tensor<std::int64_t>("", of::i64, {2}, {1, 5}),
              pairs = of::raw_tensor<std::int64_t>("", of::i64, {2, 2}, {0, 1, 1, 2});
  const Tensor dense = from_vector(std::vector<float>{0, 5, 0, 0, 0, 7}, {2, 3}), x = randn({2, 3});
  for (const Proto& indices : {places, pairs}) {
    onnx::Model model = loaded(with_sparse(sparse("w", values, indices)));
    CHECK(same(model({{"x", x}})["y"], x + dense));
    CHECK(same(model.parameter("w"), dense));
    const Proto constant = Proto().text(1, "sparse_value").message(22, sparse("", values, indices)).integer(20, 11);
    CHECK(same(
        result(of::model(of::graph({.nodes = {node("Constant", {}, {"w"}, {constant}), node("Add", {"x", "w"}, {"y"})},
                                    .inputs = {value("x", of::f32, {"2", "3"})},
                                    .outputs = {value("y", of::f32, {})}})),
               x),
        x + dense));
  }
  const Proto outside = of::raw_tensor<std::int64_t>("", of::i64, {2, 2}, {0, 1, 1, 3});
  CHECK(refused(with_sparse(sparse("w", values, outside)), ErrorCode::io) ==
        Contains("a sparse tensor of shape (2, 3) has an element at 3"));
  const Proto huge = Proto().message(1, Proto(values).text(8, "w")).message(2, places).integers(3, {1 << 20, 1 << 20});
  CHECK(refused(with_sparse(huge)) == Contains("takes more than 1073741824 bytes"));
}

TEST_CASE("onnx: nodes may come before those whose results they need") {
  const auto graph = [](const std::vector<Proto>& nodes, const char* output) {
    return of::graph({.nodes = nodes, .outputs = {Proto().text(1, output)}});
  };
  const Proto yes = graph({node("Neg", {"inner"}, {"r"}), node("Abs", {"late"}, {"inner"})}, "r"),
              no = graph({node("Identity", {"late"}, {"r"})}, "r");
  const Proto file = of::model(
      of::graph({.nodes = {node("If", {"c"}, {"y"},
                                {of::graph_attribute("then_branch", yes), of::graph_attribute("else_branch", no)}),
                           node("Relu", {"first"}, {"late"}), node("Sub", {"x", "one"}, {"first"})},
                 .initializers = {weight("one", ones({1}))},
                 .inputs = {value("c", of::boolean, {}), value("x", of::f32, {"2"})},
                 .outputs = {value("y", of::f32, {"2"})}}));
  onnx::Model model = loaded(file);
  const Tensor x = from_vector(std::vector<float>{-3, 4});
  const auto with = [&](bool c) { return model({{"c", full({}, c, DType::boolean)}, {"x", x}})["y"]; };
  CHECK(same(with(true), from_vector(std::vector<float>{0, -3})));
  CHECK(same(with(false), from_vector(std::vector<float>{0, 3})));
  CHECK(refused(one_node(node("Add", {"x", "y"}, {"y"})), ErrorCode::io) == Contains("which nothing before it makes"));
  const Proto circle = of::model(of::graph({.nodes = {node("Add", {"x", "b"}, {"a"}), node("Add", {"x", "a"}, {"b"})},
                                            .inputs = {value("x", of::f32, {})},
                                            .outputs = {value("b", of::f32, {})}}));
  CHECK(refused(circle, ErrorCode::io) == Contains("uses the value \"b\", which nothing before it makes"));
}

TEST_CASE("onnx: the bodies of a function's nodes see the function's values and attributes") {
  const Proto graph =
      of::graph({.nodes = {node("LeakyRelu", {"a"}, {"t"}, {Proto().text(1, "alpha").text(21, "slope").integer(20, 1)}),
                           node("Mul", {"t", "w"}, {"r"})},
                 .initializers = {weight("w", full({2}, 3))},
                 .outputs = {Proto().text(1, "r")}});
  const Proto function =
      Proto()
          .text(1, "Choose")
          .text(4, "c")
          .text(4, "a")
          .text(5, "b")
          .text(6, "slope")
          .message(7, node("If", {"c"}, {"b"},
                           {of::graph_attribute("then_branch", graph), of::graph_attribute("else_branch", graph)}))
          .message(9, of::operator_set("", 17))
          .text(10, "mine");
  const Proto file =
      of::model(of::graph({.nodes = {node("Choose", {"c", "x"}, {"z"}, {attribute("slope", 0.5f)}, "mine"),
                                     node("Choose", {"c", "z"}, {"y"}, {attribute("slope", 0.25f)}, "mine")},
                           .inputs = {value("c", of::boolean, {}), value("x", of::f32, {"2"})},
                           .outputs = {value("y", of::f32, {"2"})}}))
          .message(25, function)
          .message(8, of::operator_set("mine", 1));
  onnx::Model model = loaded(file);
  const Tensor x = from_vector(std::vector<float>{-8, 2});
  CHECK(same(model({{"c", full({}, 1, DType::boolean)}, {"x", x}})["y"], from_vector(std::vector<float>{-9, 18})));
  // The branches have an initializer each, and both calls share them.
  CHECK(model.named_parameters().size() == 2);
}

TEST_CASE("onnx: padding with elements of the input") {
  const Tensor x = randn({3, 4});
  const auto padded = [&](const char* mode, const std::vector<std::int64_t>& pads) {
    return result(one_node(node("Pad", {"x", "pads"}, {"y"}, {attribute("mode", mode)}), {numbers("pads", pads)}, 19),
                  x);
  };
  const auto column = [&](const Tensor& y, std::int64_t i) { return y.select(1, i); };
  const Tensor reflected = padded("reflect", {0, 5, 0, 2});
  REQUIRE(reflected.shape() == Shape{3, 11});
  // The columns 1 2 3 2 1 | 0 1 2 3 | 2 1.
  const std::vector<std::int64_t> mirrored{1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1};
  for (std::size_t i = 0; i < mirrored.size(); ++i)
    CHECK(same(column(reflected, static_cast<std::int64_t>(i)), column(x, mirrored[i])));
  CHECK(same(padded("edge", {1, 0, 2, 0}), cat({x.narrow(0, 0, 1), x, x.narrow(0, 2, 1), x.narrow(0, 2, 1)}, 0)));
  CHECK(same(padded("wrap", {0, 5, 0, 0}), cat({x.narrow(1, 3, 1), x, x}, 1)));
  CHECK(same(padded("edge", {0, -1, 0, 1}), cat({x.narrow(1, 1, 3), x.narrow(1, 3, 1)}, 1)));
  // More is cut off than the axis has: the rest goes from what is added at the other end.
  CHECK(same(padded("constant", {0, 7, 0, -6}), zeros({3, 5})));
  CHECK(same(padded("constant", {-4, 0, 3, 0}), zeros({2, 4})));
  CHECK(padded("constant", {0, -6, 0, 2}).shape() == Shape{3, 0});
  CHECK(same(padded("constant", {0, -3, 0, 1}), pad(x.narrow(1, 3, 1), {{0, 1}})));
  CHECK(refusal(ErrorCode::invalid_argument, [&] { padded("constant", {0, -6, 0, 1}); }) == Contains("cuts off"));
  CHECK(same(result(one_node(node("Pad", {"x"}, {"y"}, {attribute("pads", Sizes{0, 1, 0, 0}), attribute("value", 2.f)}),
                             {}, 10),
                    x),
             pad(x, {{1, 0}}, 2)));
  CHECK(refused(one_node(node("Pad", {"x", "p"}, {"y"}, {attribute("mode", "wrap")}), {numbers("p", {0, 0, 0, 0})},
                         18)) == Contains("Pad: mode is \"wrap\"; supported are: constant, reflect, edge"));
  CHECK(refusal(ErrorCode::invalid_argument, [&] {
          padded("edge", {0, -4, 0, 1});
        }) == Contains("axis 1 of shape (3, 0) has no elements to pad with"));
  CHECK(refusal(ErrorCode::invalid_argument, [&] {
          padded("constant", {INT64_MAX, 0, 0, 0});
        }) == Contains("a padding of 9223372036854775807"));
}

TEST_CASE("onnx: dropout in evaluation, old comparisons, and extremes of no elements") {
  const Tensor x = from_vector(std::vector<float>{1, 2, 3, 4}, {2, 2});
  const Proto file =
      of::model(of::graph({.nodes = {node("Dropout", {"x"}, {"a", "mask"}), node("ReduceMax", {"a"}, {"y"})},
                           .inputs = {value("x", of::f32, {"", "2"})},
                           .outputs = {value("y", of::f32, {}), value("mask", of::boolean, {})}}));
  const onnx::Outputs y = loaded(file)({{"x", x}});
  CHECK(y["y"].item() == 4);
  CHECK(y["mask"].dtype() == DType::boolean);
  CHECK(y["mask"].to(DType::f32).sum().item() == 4);
  const Tensor none = loaded(file)({{"x", zeros({0, 2})}})["y"];
  CHECK(none.shape() == Shape{1, 1});
  CHECK(none.item() == -std::numeric_limits<float>::infinity());
  CHECK(refused(one_node(node("Dropout", {"x"}, {"y"}), {}, 6)) == Contains("Dropout: is_test 0 is not supported"));
  const Proto pair = of::raw_tensor<float>("pair", of::f32, {2}, {2, 3});
  const Tensor greater =
      result(one_node(node("Greater", {"x", "pair"}, {"y"},
                           {attribute("broadcast", std::int64_t{1}), attribute("axis", std::int64_t{0})}),
                      {pair}, 6),
             x);
  CHECK(greater.dtype() == DType::boolean);
  CHECK(greater.to(DType::f32).to_vector<float>() == std::vector<float>{0, 0, 0, 1});
}

TEST_CASE("onnx: models of f16 compute products in f32 and keep their type") {
  const Tensor x = randn({3, 5}), w = randn({5, 2});
  const Proto file = of::model(of::graph(
      {.nodes = {node("Cast", {"w"}, {"h"}, {attribute("to", std::int64_t{10})}), node("MatMul", {"x", "h"}, {"y"})},
       .initializers = {weight("w", w)},
       .inputs = {value("x", of::f16, {"N", "5"})},
       .outputs = {value("y", of::f16, {"N", "2"})}}));
  const Tensor half = x.to(DType::f16), y = loaded(file)({{"x", half}})["y"];
  REQUIRE(y.dtype() == DType::f16);
  CHECK(same(y.to(DType::f32),
             matmul(half.to(DType::f32), w.to(DType::f16).to(DType::f32)).to(DType::f16).to(DType::f32)));
}

TEST_CASE("onnx: thousands of nodes and long names") {
  std::vector<Proto> nodes, initializers;
  for (int i = 0; i < 3000; ++i) {
    const std::string at = std::to_string(i);
    nodes.push_back(node("Add", {i == 0 ? "x" : "v" + std::to_string(i - 1), "w" + at}, {"v" + at}));
    initializers.push_back(of::raw_tensor<float>("w" + at, of::f32, {}, {1}));
  }
  const Proto file = of::model(of::graph({.nodes = nodes,
                                          .initializers = initializers,
                                          .inputs = {value("x", of::f32, {"2"})},
                                          .outputs = {value("v2999", of::f32, {"2"})}}));
  onnx::Model model = loaded(file);
  CHECK(model.named_buffers().size() == 3000);
  const Tensor x = from_vector(std::vector<float>{-5, 7}), y = x + 3000;
  CHECK(same(model({{"x", x.clone().requires_grad_()}})["v2999"].detach(), y));  // Node by node.
  const NoGrad no_grad;
  for (int i = 0; i < 2; ++i) CHECK(same(model({{"x", x}})["v2999"], y));  // The program is made, then runs again.

  const std::string long_name(100'000, 'n');  // Messages quote its beginning.
  CHECK(refused(one_node(node("Mystery", {"x"}, {"y"}).text(3, long_name))).size() < 400);
}

TEST_CASE("onnx: graphs lie within nodes at most 30 deep") {
  Proto inner = of::graph({.nodes = {node("Relu", {"x"}, {"r"})}, .outputs = {Proto().text(1, "r")}});
  for (int i = 0; i < 31; ++i)
    inner = of::graph(
        {.nodes = {node("If", {"c"}, {"r"},
                        {of::graph_attribute("then_branch", inner),
                         of::graph_attribute("else_branch", of::graph({.outputs = {Proto().text(1, "x")}}))})},
         .outputs = {Proto().text(1, "r")}});
  const Proto file = of::model(of::graph(
      {.nodes = {node("If", {"c"}, {"y"},
                      {of::graph_attribute("then_branch", inner), of::graph_attribute("else_branch", inner)})},
       .inputs = {value("c", of::boolean, {}), value("x", of::f32, {"2"})},
       .outputs = {value("y", of::f32, {"2"})}}));
  CHECK(refused(file, ErrorCode::io) == Contains("graphs lie within nodes more than 30 deep"));
}

TEST_CASE("onnx: the value of a pad is a single number of the file") {
  const auto check = [](const Proto& number, const Tensor& x, int type, double expected) {
    const onnx::Model model = loaded(of::model(of::graph({.nodes = {node("Pad", {"x", "pads", "n"}, {"y"})},
                                                          .initializers = {number, numbers("pads", {1, 0})},
                                                          .inputs = {value("x", type, {"N"})},
                                                          .outputs = {value("y", type, {})}})));
    const NoGrad no_grad;
    for (int run = 0; run < 2; ++run)
      CHECK(model({{"x", x}})["y"].to(DType::f32).to_vector<float>() ==
            std::vector<float>{static_cast<float>(expected), 1});
  };
  check(of::raw_tensor<std::uint8_t>("n", of::u8, {}, {200}), ones({1}, DType::u8), of::u8, 200);
  check(of::raw_tensor<float>("n", of::f32, {}, {2.5f}), ones({1}), of::f32, 2.5);
  check(of::raw_tensor<std::uint16_t>("n", of::f16, {}, {0x3e00}), ones({1}, DType::f16), of::f16, 1.5);
}
