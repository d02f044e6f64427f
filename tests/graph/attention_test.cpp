// Attention that exporters write as products and softmax.
#include "ops/attention/attention.h"
#include <algorithm>
#include <limits>

#include "crisol/compile.h"
#include "crisol/functions/attention.h"
#include "crisol/functions/elementwise.h"
#include "crisol/profile.h"
#include "graph/model_file.h"
#include "support/skip.h"

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
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
      {"a choice between scores and -inf",
       {product, node("Mul", {"half", "s"}, {"d"}), node("Where", {"seen", "d", "low"}, {"m"}), softmax_of("m")}},
      {"a choice in the other order, and a mask",
       {product, node("Add", {"s", "mask"}, {"d"}), node("Where", {"hidden", "lowest", "d"}, {"m"}), softmax_of("m")}},
      {"zeros in place of NaN",
       {product, node("Where", {"seen", "s", "low"}, {"m"}),
        node("Softmax", {"m"}, {"n"}, {attribute("axis", std::int64_t{-1})}), node("IsNaN", {"n"}, {"i"}),
        node("Where", {"i", "zero", "n"}, {"p"})}},
      {"zeros for queries that see no key",
       {product, node("Add", {"s", "of_heads"}, {"m"}),
        node("Softmax", {"m"}, {"n"}, {attribute("axis", std::int64_t{-1})}),
        node("Where", {"closed", "zero", "n"}, {"p"})}},
      {"both factors scaled",
       {node("Mul", {"q", "half"}, {"a"}), node("Mul", {"root", "t"}, {"b"}), node("MatMul", {"a", "b"}, {"s"}),
        softmax_of("s")}},
  };
}

Proto condition(const std::string& name, const Tensor& t) {
  return of::raw_tensor<std::uint8_t>(name, of::boolean, Sizes(t.shape().begin(), t.shape().end()),
                                      t.to(DType::u8).to_vector<std::uint8_t>());
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
              weight("root", full({}, 2.0)), weight("half", full({1}, 0.5)), weight("zero", zeros({})),
              weight("low", full({}, -infinity)), weight("lowest", full({1}, -3.4e38)),
              condition("seen", arange(0, keys).ne(3)), condition("hidden", arange(0, keys).eq(5)),
              condition("closed", arange(0, rows).eq(1).unsqueeze(1))});
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

namespace {

struct Attend : nn::Module {
  Tensor mask;
  AttentionOptions options;
  std::int64_t kv_heads = 4;

  Tensor forward(const Tensor& x) override {
    const Tensor k = x.narrow(1, 0, kv_heads);
    return scaled_dot_product_attention(x * 0.5, k, k + 1, mask, options);
  }
};

/// Whether a run launches a kernel of attention and none of softmax.
template <class F>
bool stores_no_scores(const F& run) {
  run();
  const Profile profile;
  run();
  const auto launches = [rows = profile.rows()](const char* kernel) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const ProfileRow& row) { return row.kernel.find(kernel) != std::string::npos; });
  };
  return launches("attention") && !launches("softmax");
}

}  // namespace

TEST_CASE("graph: attention is one op in a compiled, a saved and a loaded function, in all of its forms") {
  if (!has_kernel()) CRISOL_SKIP("the device has no kernel for attention");
  manual_seed(23);
  const NoGrad no_grad;
  const std::int64_t length = 33;
  const Tensor seen = rand({length, length}).gt(0.4);
  const struct {
    const char* name;
    Tensor mask;
    AttentionOptions options;
    std::int64_t kv_heads = 4;
  } cases[] = {
      {"plain", {}, {}},
      {"causal", {}, {.is_causal = true}},
      {"bool mask", logical_and(seen, arange(0, length).ne(2).unsqueeze(1)), {}},
      {"bool mask of heads", rand({4, length, length}).gt(0.5), {.scale = 0.3}},
      {"added mask", randn({length, length}), {}},
      {"causal with a mask", logical_or(seen, arange(0, length).eq(0)), {.is_causal = true}},
      {"grouped heads", {}, {.enable_gqa = true}, 2},
      {"grouped heads, causal, with a mask", randn({1, length, length}), {.is_causal = true, .enable_gqa = true}, 2}};
  for (const auto& c : cases) {
    CAPTURE(c.name);
    const auto module = std::make_shared<Attend>();
    module->mask = c.mask;
    module->options = c.options;
    module->kv_heads = c.kv_heads;
    module->eval();
    const Tensor x = randn({3, 4, length, 8}), y = (*module)(x);
    Compiled fast(module, zeros({2, 4, length, 8}));
    CHECK(fast(x).allclose(y, 1e-4, 1e-5));
    CHECK(stores_no_scores([&] { fast(x); }));

    TemporaryFolder folder;
    const std::string path = folder.path() + "/attention.onnx";
    onnx::save(path, *module, {zeros({2, 4, length, 8})});
    const auto ops = onnx::read_info(path).ops;
    CHECK(std::any_of(ops.begin(), ops.end(), [](const auto& op) { return op.name == "Attention"; }));
    CHECK(std::none_of(ops.begin(), ops.end(), [](const auto& op) { return op.name == "Softmax"; }));
    onnx::Model model = onnx::load(path);
    CHECK(model(x).allclose(y, 1e-4, 1e-5));
    CHECK(stores_no_scores([&] { model(x); }));
  }
}

TEST_CASE("graph: attention of shapes that ONNX does not have is found again in a file") {
  if (!has_kernel()) CRISOL_SKIP("the device has no kernel for attention");
  manual_seed(24);
  const NoGrad no_grad;
  const Tensor k = randn({1, 2, 33, 8}), seen = rand({33, 33}).gt(0.4);
  for (const bool is_causal : {false, true})
    for (const Tensor& mask : {Tensor(), logical_and(seen, arange(0, 33).ne(2).unsqueeze(1)), randn({33})})
      for (const bool has_groups : {false, true}) {
        const auto function = [&](const std::vector<Tensor>& in) {
          return std::vector<Tensor>{
              scaled_dot_product_attention(in[0], k, k * 2, mask, {.is_causal = is_causal, .enable_gqa = has_groups})};
        };
        CAPTURE(is_causal);
        CAPTURE(has_groups);
        CAPTURE(mask.defined() ? mask.shape() : Shape());
        const Shape shape{2, has_groups ? 6 : 2, 33, 8};
        TemporaryFolder folder;
        const std::string path = folder.path() + "/attention.onnx";
        onnx::save(path, function, {zeros(shape)}, {});
        onnx::Model model = onnx::load(path);
        const Tensor x = randn(shape);
        CHECK(model(x).allclose(function({x})[0], 1e-4, 1e-5));
        CHECK_MESSAGE(stores_no_scores([&] { model(x); }), model.optimized({{"input", x}}));
      }
}

TEST_CASE("graph: before version 13, a softmax over the last of four axes is attention's if the file has no rank") {
  if (!has_kernel()) CRISOL_SKIP("the device has no kernel for attention");
  const ModelFile file(
      {node("ReduceMean", {"x"}, {"u"}, {attribute("axes", Sizes{2})}), node("Add", {"u", "k"}, {"k2"}),
       node("Transpose", {"k2"}, {"t"}, {attribute("perm", Sizes{0, 1, 3, 2})}), node("MatMul", {"x", "t"}, {"s"}),
       node("Softmax", {"s"}, {"p"}, {attribute("axis", std::int64_t{3})}), node("MatMul", {"p", "v"}, {"y"})},
      {weight("k", randn({1, heads, keys, depth})), weight("v", randn({heads, keys, 5}))}, 11);
  const Tensor x = randn({3, heads, rows, depth});
  CHECK(file.changes(x)["find_attention"] > 0);
  onnx::Model model = file.load();
  check_program(model, x);
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

TEST_CASE("graph: few queries are attention if a kernel takes them, as the one for CPUs does") {
  const ModelFile file = file_of(forms()[0]);
  const Tensor x = randn({3, 2, heads, depth});
  const bool is_found = file.changes(x)["find_attention"] > 0;
  CHECK(is_found ==
        ops::fuses_attention({3, heads, 2, depth}, {1, heads, keys, depth}, {heads, keys, 5}, false, Device()));
  if (Device().info().type == DeviceType::cpu) CHECK(is_found);
  onnx::Model model = file.load();
  check_program(model, x);
}
