// Products with rows that are 1 in one place, as models from JAX have them.
#include "graph/model_file.h"

namespace {

/// tanh(one_hot(x) · w + b) of whole numbers (A, B), where `range` stands for the places of the rows.
onnx::Model table_of(std::int32_t type, const std::vector<std::int32_t>& range, const Tensor& bias) {
  const auto count = static_cast<std::int64_t>(range.size());
  const std::vector<std::int64_t> wide(range.begin(), range.end());
  return loaded(of::model(
      of::graph(
          {.nodes = {node("Unsqueeze", {"x", "axis"}, {"u"}), node("Equal", {"u", "range"}, {"e"}),
                     node("Cast", {"e"}, {"h"}, {attribute("to", std::int64_t{of::f32})}),
                     node("MatMul", {"h", "w"}, {"p"}), node("Add", {"p", "b"}, {"s"}), node("Tanh", {"s"}, {"y"})},
           .initializers = {of::raw_tensor<std::int64_t>("axis", of::i64, {1}, {2}),
                            type == of::i64 ? of::raw_tensor<std::int64_t>("range", type, {1, 1, count}, wide)
                                            : of::raw_tensor<std::int32_t>("range", type, {1, 1, count}, range),
                            weight("w", randn({count, 5})), weight("b", bias)},
           .inputs = {value("x", type, {"A", "B"})},
           .outputs = {value("y", Proto().message(1, Proto().integer(1, of::f32)))}}),
      17));
}

}  // namespace

TEST_CASE("graph: a product with one-hot rows looks them up, also outside the table") {
  const std::vector<std::int64_t> numbers{0, 6, 3, -1, 7, 2, 1000000, -2000000, 5, 1};
  for (const auto type : {of::i32, of::i64})
    for (const Shape& shape : {Shape{5}, Shape{1, 1, 5}, Shape{1}}) {
      CAPTURE(shape);
      onnx::Model model = table_of(type, {0, 1, 2, 3, 4, 5, 6}, randn(shape));
      const Tensor x = from_vector(numbers, {2, 5}, type == of::i64 ? DType::i64 : DType::i32);
      const std::string nodes = model.optimized({{"x", x}});
      CHECK(nodes.find("Gather \"#5\": (9, 5), (2, 5, 1) -> (2, 5, 5)\n") != std::string::npos);
      CHECK(nodes.find("MatMul") == std::string::npos);
      check_program(model, x);
    }
}

TEST_CASE("graph: other products stay") {
  const Tensor x = from_vector(std::vector<std::int32_t>{0, 1, 2, 3}, {2, 2}, DType::i32);
  for (const std::vector<std::int32_t>& range : {std::vector<std::int32_t>{1, 2, 3, 4}, {0, 2, 1}, {3, 2, 1, 0}}) {
    onnx::Model model = table_of(of::i32, range, randn({5}));
    CHECK(model.optimized({{"x", x}}).find("MatMul") != std::string::npos);
    check_program(model, x);
  }
  // The rows of this sum differ.
  onnx::Model model = table_of(of::i32, {0, 1, 2}, randn({2, 1, 5}));
  CHECK(model.optimized({{"x", x}}).find("Gather") != std::string::npos);
  CHECK(model.optimized({{"x", x}}).find("Fused") != std::string::npos);
  check_program(model, x);
}
