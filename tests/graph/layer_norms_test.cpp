// Layer norms that exporters write as means, differences and a root.
#include "graph/model_file.h"

namespace {

const std::int64_t rows = 5, columns = 12;

/// The nodes of a layer norm over the last axis of "x", in one of the forms that exporters write.
struct Form {
  const char* name;
  std::vector<Proto> nodes;  ///< The nodes from "d", "e" (the differences) and "v" (the shifted variance) to "q".
  bool twice = false;        ///< Whether the difference is written twice.
  bool with_product = false;
};

std::vector<Form> forms() {
  const auto root = node("Sqrt", {"v"}, {"r"});
  return {
      {"a quotient by a root", {root, node("Div", {"d", "r"}, {"q"})}},
      {"two differences", {root, node("Div", {"d", "r"}, {"q"})}, true},
      {"the square as a product", {root, node("Div", {"d", "r"}, {"q"})}, false, true},
      {"a product with an inverse", {root, node("Reciprocal", {"r"}, {"i"}), node("Mul", {"i", "d"}, {"q"})}},
      {"a product with a quotient", {root, node("Div", {"one", "r"}, {"i"}), node("Mul", {"d", "i"}, {"q"})}},
      {"a power of 1/2", {node("Pow", {"v", "half"}, {"r"}), node("Div", {"d", "r"}, {"q"})}},
      {"a power of -1/2", {node("Pow", {"v", "minus_half"}, {"i"}), node("Mul", {"d", "i"}, {"q"})}},
  };
}

/// The norm of x, and then the nodes `behind`, which read "q". Each of the two means has axes of its own.
ModelFile file_of(const Form& form, const std::vector<Proto>& behind, const Sizes& mean_axes = {-1},
                  const Sizes& variance_axes = {-1}) {
  manual_seed(21);
  std::vector<Proto> nodes{node("ReduceMean", {"x"}, {"m"}, {attribute("axes", mean_axes)}),
                           node("Sub", {"x", "m"}, {"d"})};
  if (form.twice) nodes.push_back(node("Sub", {"x", "m"}, {"e"}));
  const std::string e = form.twice ? "e" : "d";
  nodes.push_back(form.with_product ? node("Mul", {e, e}, {"s"}) : node("Pow", {e, "two"}, {"s"}));
  nodes.push_back(node("ReduceMean", {"s"}, {"u"}, {attribute("axes", variance_axes)}));
  nodes.push_back(node("Add", {"u", "epsilon"}, {"v"}));
  nodes.insert(nodes.end(), form.nodes.begin(), form.nodes.end());
  nodes.insert(nodes.end(), behind.begin(), behind.end());
  return ModelFile(
      nodes,
      {weight("scale", randn({columns})), weight("shift", randn({1, columns})), weight("of_rows", randn({rows, 1})),
       weight("of_both", randn({rows, columns})), weight("two", full({}, 2.0)), weight("epsilon", full({1}, 0.125)),
       weight("one", full({}, 1.0)), weight("half", full({}, 0.5)), weight("minus_half", full({}, -0.5))});
}

const std::vector<Proto> scale_and_shift{node("Mul", {"scale", "q"}, {"p"}), node("Add", {"p", "shift"}, {"y"})};

std::string nodes_left(const ModelFile& file, const Tensor& x) {
  const std::string text = file.load().optimized({{"x", x}});
  return text.substr(text.find("fuse_epilogues"));
}

}  // namespace

TEST_CASE("graph: a layer norm becomes one node, in every form that exporters write") {
  const Tensor x = randn({3, rows, columns});
  for (const Form& form : forms()) {
    CAPTURE(form.name);
    const ModelFile file = file_of(form, scale_and_shift);
    CHECK(nodes_left(file, x).find("\nLayerNormalization \"") != std::string::npos);
    const std::size_t nodes = 7 + form.nodes.size() + (form.twice ? 1 : 0);
    CHECK(file.changes(x)["find_layer_norms"] == nodes - 1);
    onnx::Model model = file.load();
    check_program(model, x);
    check_program(model, randn({rows, columns}).t().contiguous().t());
  }
}

TEST_CASE("graph: a layer norm over several axes, without a scale, and without a shift") {
  const Form form = forms()[0];
  const Tensor x = randn({3, rows, columns});
  const auto check = [&](const ModelFile& file, std::size_t removed) {
    CHECK(file.changes(x)["find_layer_norms"] == removed);
    onnx::Model model = file.load();
    check_program(model, x);
  };
  check(file_of(form, {node("Relu", {"q"}, {"y"})}), 6);
  check(file_of(form, {node("Mul", {"q", "scale"}, {"y"})}), 7);
  check(file_of(form, {node("Mul", {"q", "of_both"}, {"y"})}, {1, 2}, {-1, -2}), 7);
  // A shift alone, a scale of the rows, and a square of the norm stay nodes of their own.
  check(file_of(form, {node("Add", {"q", "shift"}, {"y"})}), 6);
  check(file_of(form, {node("Mul", {"q", "of_rows"}, {"p"}), node("Add", {"p", "shift"}, {"y"})}), 6);
  check(file_of(form, {node("Mul", {"q", "q"}, {"y"})}), 6);
  // The norm without its scale is an output of another node too.
  check(file_of(form, {node("Mul", {"q", "scale"}, {"p"}), node("Add", {"p", "q"}, {"y"})}), 6);
}

TEST_CASE("graph: what only looks like a layer norm stays as it is") {
  const Tensor x = randn({3, rows, columns});
  const auto check = [&](const ModelFile& file, const Tensor& input) {
    CHECK(file.changes(input)["find_layer_norms"] == 0);
    onnx::Model model = file.load();
    check_program(model, input);
  };
  const Form form = forms()[0];
  const std::vector<Proto> relu{node("Relu", {"q"}, {"y"})};
  check(file_of(form, relu, {1}, {1}), x);
  check(file_of(form, relu, {-1}, {1, 2}), x);
  check(file_of({"no quotient of the difference", {node("Sqrt", {"v"}, {"r"}), node("Div", {"x", "r"}, {"q"})}}, relu),
        x);
  check(file_of({"another power", {node("Pow", {"v", "two"}, {"r"}), node("Div", {"d", "r"}, {"q"})}}, relu), x);
}
