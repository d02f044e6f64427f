// Attention that exporters write as products and softmax.
#include "ops/attention/attention.h"
#include "crisol/functions/attention.h"
#include "crisol/functions/elementwise.h"
#include "graph/model_file.h"
#include "support/skip.h"

namespace {

const std::int64_t heads = 2, rows = 6, keys = 7, depth = 4;

/// The nodes before the last product, from "q" (N, H, L, D) and "t" (N, H, D, S) to the probabilities "p".
struct Form {
  const char* name;
  std::vector<Proto> nodes;
};

const Proto product = node("MatMul", {"q", "t"}, {"s"});

Proto softmax_of(const std::string& scores) {
  return node("Softmax", {scores}, {"p"}, {attribute("axis", std::int64_t{-1})});
}

std::vector<Form> forms() {
  return {
      {"without a scale", {product, softmax_of("s")}},
      {"a quotient and a mask",
       {product, node("Div", {"s", "root"}, {"d"}), node("Add", {"d", "mask"}, {"m"}), softmax_of("m")}},
      {"a mask of each head, first in the sum",
       {product, node("Mul", {"half", "s"}, {"d"}), node("Add", {"of_heads", "d"}, {"m"}), softmax_of("m")}},
      {"both factors scaled",
       {node("Mul", {"q", "half"}, {"a"}), node("Mul", {"root", "t"}, {"b"}), node("MatMul", {"a", "b"}, {"s"}),
        softmax_of("s")}},
  };
}

/// "x" (N, L, H, D) are the queries. Keys depend on x too. Values are weights. `last` are the nodes behind "p".
ModelFile file_of(const Form& form, const std::vector<Proto>& last = {node("MatMul", {"p", "v"}, {"y"})}) {
  manual_seed(22);
  std::vector<Proto> nodes{node("Transpose", {"x"}, {"q"}, {attribute("perm", Sizes{0, 2, 1, 3})}),
                           node("ReduceMean", {"x"}, {"u"}, {attribute("axes", Sizes{1})}),
                           node("Add", {"u", "k"}, {"k2"}),
                           node("Transpose", {"k2"}, {"t"}, {attribute("perm", Sizes{0, 2, 3, 1})})};
  nodes.insert(nodes.end(), form.nodes.begin(), form.nodes.end());
  nodes.insert(nodes.end(), last.begin(), last.end());
  Tensor mask = zeros({keys});
  mask[2] = -3.4e38;
  return ModelFile(
      nodes, {weight("k", randn({1, keys, heads, depth})), weight("v", randn({heads, keys, 5})), weight("mask", mask),
              weight("of_heads", randn({heads, rows, keys})), weight("of_all", randn({3, 1, heads, rows, keys})),
              weight("root", full({}, 2.0)), weight("half", full({1}, 0.5))});
}

bool has_kernel() { return ops::fuses_attention({rows, depth}, {keys, depth}, {keys, 5}, true, Device()); }

}  // namespace

TEST_CASE("graph: attention becomes one node, in every form that exporters write") {
  if (!has_kernel()) CRISOL_SKIP("the device has no kernel for attention");
  const Tensor x = randn({3, rows, heads, depth});
  for (const Form& form : forms()) {
    CAPTURE(form.name);
    const ModelFile file = file_of(form);
    CHECK(file.changes(x)["find_attention"] == form.nodes.size());
    CHECK(file.load().optimized({{"x", x}}).find("\nAttention \"") != std::string::npos);
    onnx::Model model = file.load();
    check_program(model, x);
    check_program(model, randn({rows, 3, heads, depth}).transpose(0, 1));
  }
}

TEST_CASE("graph: a function that calls scaled_dot_product_attention has one node for it") {
  if (!has_kernel()) CRISOL_SKIP("the device has no kernel for attention");
  TemporaryFolder folder;
  const std::string path = folder.path() + "/attention.onnx";
  const auto function = [](const std::vector<Tensor>& in) {
    const Tensor y = scaled_dot_product_attention(in[0], in[0] * 2, in[0], Tensor(), {.is_causal = true});
    return std::vector<Tensor>{scaled_dot_product_attention(y, in[0], y)};
  };
  onnx::save(path, function, {zeros({1, heads, rows, depth})}, {});
  onnx::Model model = onnx::load(path);
  const Tensor x = randn({3, heads, rows, depth});
  const std::string nodes = model.optimized({{model.inputs()[0].name, x}});
  CHECK(nodes.find("Softmax") == std::string::npos);
  CHECK(nodes.find("\nAttention \"") != std::string::npos);
  check_program(model, x);
  const NoGrad no_grad;
  CHECK(model(x).allclose(function({x})[0], 1e-4, 1e-5));
}

TEST_CASE("graph: what is almost attention stays") {
  const Tensor x = randn({3, rows, heads, depth});
  const Proto last = node("MatMul", {"p", "v"}, {"z"});
  const auto check = [&](const ModelFile& file) {
    CHECK(file.changes(x)["find_attention"] == 0);
    onnx::Model model = file.load();
    check_program(model, x);
  };
  // Somebody else reads the probabilities, or the scores.
  check(file_of(forms()[0], {last, node("ReduceMax", {"p"}, {"r"}), node("Add", {"z", "r"}, {"y"})}));
  check(file_of(forms()[0], {last, node("ReduceMax", {"s"}, {"r"}), node("Add", {"z", "r"}, {"y"})}));
  // Softmax over the queries.
  check(file_of({"", {product, node("Softmax", {"s"}, {"p"}, {attribute("axis", std::int64_t{2})})}},
                {node("MatMul", {"p", "v"}, {"y"})}));
  // A mask that has more axes than the scores.
  check(file_of({"", {product, node("Add", {"s", "of_all"}, {"m"}), softmax_of("m")}}));
}

TEST_CASE("graph: few queries are no attention for a kernel that packs keys, which the one for CPUs does") {
  const ModelFile file = file_of(forms()[0]);
  const Tensor x = randn({3, 2, heads, depth});
  const bool is_found = file.changes(x)["find_attention"] > 0;
  CHECK(is_found ==
        ops::fuses_attention({3, heads, 2, depth}, {1, heads, keys, depth}, {heads, keys, 5}, false, Device()));
  if (Device().info().type == DeviceType::cpu) CHECK_FALSE(is_found);
  onnx::Model model = file.load();
  check_program(model, x);
}
