// Products of one value with several weights, such as the queries, keys and values of attention.
#include "crisol/dtype_table.h"
#include "graph/model_file.h"

namespace {

struct Part {
  std::string name;
  std::int64_t columns;
  bool biased = true;
};

/// The products of x with one weight for each part, with sums behind some, side by side in y. Before, each is sorted
/// along its columns: sorting is no op of single elements.
ModelFile side_by_side(const std::vector<Part>& parts, const std::string& behind = "TopK") {
  std::vector<Proto> nodes, initializers;
  std::vector<std::string> results;
  for (const Part& part : parts) {
    const std::string& n = part.name;
    nodes.push_back(node("MatMul", {"x", "w" + n}, {"p" + n}));
    initializers.push_back(weight("w" + n, randn({6, part.columns})));
    if (part.biased) {
      // The bias is the first input of one of the sums.
      nodes.push_back(results.empty() ? node("Add", {"b" + n, "p" + n}, {"s" + n})
                                      : node("Add", {"p" + n, "b" + n}, {"s" + n}));
      initializers.push_back(weight("b" + n, randn({part.columns})));
    }
    const std::string last = (part.biased ? "s" : "p") + n;
    if (behind == "TopK") {
      nodes.push_back(node("TopK", {last, "k" + n}, {"t" + n, "i" + n}));
      initializers.push_back(of::raw_tensor<std::int64_t>("k" + n, of::i64, {1}, {part.columns}));
    } else {
      nodes.push_back(node(behind, {last}, {"t" + n}));
    }
    results.push_back("t" + n);
  }
  nodes.push_back(node("Concat", results, {"y"}, {attribute("axis", std::int64_t{-1})}));
  return ModelFile(nodes, initializers);
}

void check(const ModelFile& file, const Tensor& x, std::size_t joined) {
  CHECK(file.changes(x).at("join_products") == joined);
  onnx::Model model = file.load();
  check_program(model, x);
}

}  // namespace

TEST_CASE("graph: products of one value become one") {
  for (const Shape& shape : {Shape{1, 6}, Shape{5, 6}, Shape{2, 3, 6}}) {
    CAPTURE(shape);
    const ModelFile file = side_by_side({{"q", 4}, {"k", 5}, {"v", 2}});
    check(file, randn(shape), 3);
    onnx::Model model = file.load();
    const std::string nodes = model.optimized({{"x", randn(shape)}});
    CHECK(nodes.find("(6, 11), (11) -> ") != std::string::npos);  // With the bias, in one kernel.
    CHECK(nodes.find("MatMul") == nodes.rfind("MatMul"));
  }
}

TEST_CASE("graph: products with a bias and without become two, each with its own") {
  check(side_by_side({{"a", 4}, {"b", 3, false}, {"c", 2}, {"d", 7, false}}), randn({5, 6}), 4);
  check(side_by_side({{"a", 4}, {"b", 3, false}}), randn({5, 6}), 0);
}

TEST_CASE("graph: a product with one column and a bias stays alone") {
  check(side_by_side({{"q", 4}, {"v", 1}}), randn({1, 6}), 0);
  check(side_by_side({{"q", 4}, {"k", 5}, {"v", 1}}), randn({1, 6}), 2);
}

TEST_CASE("graph: a product stays alone if its kernel computes what follows") {
  check(side_by_side({{"a", 4}, {"b", 3}}, "Tanh"), randn({5, 6}), 0);
}

TEST_CASE("graph: a joint product follows its weights") {
  onnx::Model model = side_by_side({{"q", 4}, {"k", 5}}).load();
  const Tensor x = randn({5, 6});
  for (int change = 0; change < 2; ++change) {
    check_program(model, x);
    const NoGrad no_grad;
    for (Tensor& parameter : model.parameters()) parameter.mul_(-0.5);
  }
}

TEST_CASE("graph: products of f16 become one") {
  manual_seed(4);
  const auto half = [](const std::string& name, const Tensor& t) {
    return of::raw_tensor<Half>(name, of::f16, Sizes(t.shape().begin(), t.shape().end()),
                                t.to(DType::f16).to_vector<Half>());
  };
  const ModelFile file(
      {node("Cast", {"x"}, {"h"}, {attribute("to", std::int64_t{of::f16})}), node("MatMul", {"h", "wa"}, {"pa"}),
       node("Add", {"pa", "ba"}, {"sa"}), node("MatMul", {"h", "wb"}, {"pb"}), node("Add", {"bb", "pb"}, {"sb"}),
       node("Concat", {"sb", "sa"}, {"c"}, {attribute("axis", std::int64_t{-1})}),
       node("Cast", {"c"}, {"y"}, {attribute("to", std::int64_t{of::f32})})},
      {half("wa", randn({6, 4})), half("ba", randn({4})), half("wb", randn({6, 5})), half("bb", randn({5}))});
  const Tensor x = randn({5, 6});
  CHECK(file.changes(x).at("join_products") == 2);
  onnx::Model model = file.load();
  const std::vector<double> walked = values_of(model(x).detach());
  const NoGrad no_grad;
  // The walk rounds the product before the sum, the joint product does not.
  check_close(model(x), {5, 9}, walked, {2 * epsilon_of(DType::f16) / epsilon_of(DType::f32)});
}
