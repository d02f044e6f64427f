// Models give the same results as the walk over their nodes: with all passes, without each of them, and with each
// alone.
#include <cmath>
#include <map>

#include "base/thread_context.h"
#include "crisol/functions/elementwise.h"
#include "dispatch/target.h"
#include "graph/model_file.h"
#include "graph/passes/passes.h"
#include "graph/specialise.h"
#include "ops/attention/attention.h"
#include "ops/conv/conv2d_blocks.h"
#include "ops/product/pairs.h"
#include "support/skip.h"

namespace {

/// Convolutions with channels last, batch norm, a residual connection, a cast that does nothing, and an unused node.
ModelFile images() {
  manual_seed(31);
  const Sizes channels_first{0, 3, 1, 2}, channels_last{0, 2, 3, 1};
  return ModelFile(
      {node("Transpose", {"x"}, {"t"}, {attribute("perm", channels_first)}),
       node("Conv", {"t", "w1"}, {"c1"}, {attribute("pads", Sizes{1, 1, 1, 1})}),
       node("BatchNormalization", {"c1", "scale", "shift", "mean", "variance"}, {"b1"}), node("Relu", {"b1"}, {"r1"}),
       node("Transpose", {"r1"}, {"l1"}, {attribute("perm", channels_last)}),
       node("Cast", {"l1"}, {"s1"}, {attribute("to", std::int64_t{of::f32})}), node("Mul", {"s1", "scale"}, {"m1"}),
       node("Transpose", {"m1"}, {"f1"}, {attribute("perm", channels_first)}), node("Conv", {"f1", "w2", "b2"}, {"c2"}),
       node("Add", {"c2", "f1"}, {"a2"}), node("HardSwish", {"a2"}, {"h2"}),
       node("GlobalAveragePool", {"c2"}, {"unused"}),
       node("Softmax", {"h2"}, {"y"}, {attribute("axis", std::int64_t{1})})},
      {weight("w1", randn({18, 3, 3, 3})), weight("scale", rand({18}) + 0.5), weight("shift", randn({18})),
       weight("mean", randn({18})), weight("variance", rand({18}) + 0.5), weight("w2", randn({18, 18, 1, 1})),
       weight("b2", randn({18}))});
}

/// A layer of a transformer, with its norm written as means and a root, and GELU by the error function.
ModelFile tokens() {
  manual_seed(32);
  const std::vector<Proto> mean_of_rows{attribute("axes", Sizes{-1})};
  return ModelFile(
      {node("ReduceMean", {"x"}, {"m"}, mean_of_rows),
       node("Sub", {"x", "m"}, {"d"}),
       node("Pow", {"d", "two"}, {"s"}),
       node("ReduceMean", {"s"}, {"u"}, mean_of_rows),
       node("Add", {"u", "epsilon"}, {"v"}),
       node("Sqrt", {"v"}, {"r"}),
       node("Div", {"d", "r"}, {"o"}),
       node("Mul", {"o", "scale"}, {"p"}),
       node("Add", {"p", "shift"}, {"n"}),
       node("MatMul", {"n", "wq"}, {"pq"}),
       node("Add", {"pq", "bq"}, {"q"}),
       node("MatMul", {"n", "wk"}, {"pk"}),
       node("Add", {"pk", "bk"}, {"k"}),
       node("MatMul", {"n", "wv"}, {"pv"}),
       node("Add", {"pv", "bv"}, {"w"}),
       node("Transpose", {"k"}, {"kt"}, {attribute("perm", Sizes{0, 2, 1})}),
       node("MatMul", {"q", "kt"}, {"z"}),
       node("Div", {"z", "two"}, {"zs"}),
       node("Softmax", {"zs"}, {"f"}, {attribute("axis", std::int64_t{-1})}),
       node("MatMul", {"f", "w"}, {"g"}),
       node("Add", {"g", "x"}, {"h"}),
       node("MatMul", {"h", "wq"}, {"i"}),
       node("Div", {"i", "root"}, {"e1"}),
       node("Erf", {"e1"}, {"e2"}),
       node("Add", {"e2", "one"}, {"e3"}),
       node("Mul", {"i", "e3"}, {"e4"}),
       node("Mul", {"e4", "half"}, {"e5"}),
       node("Softmax", {"e5"}, {"y"}, {attribute("axis", std::int64_t{-1})})},
      {weight("two", full({}, 2.0)), weight("epsilon", full({}, 0.01)), weight("scale", randn({6})),
       weight("shift", randn({6})), weight("root", full({}, 1.4142135)), weight("one", full({}, 1.0)),
       weight("half", full({}, 0.5)), weight("wq", randn({6, 6})), weight("wk", randn({6, 6})),
       weight("wv", randn({6, 6})), weight("bq", randn({6})), weight("bk", randn({6})), weight("bv", randn({6}))});
}

/// A depthwise convolution between two others.
ModelFile separable() {
  manual_seed(34);
  return ModelFile(
      {node("Conv", {"x", "w"}, {"c1"}), node("Conv", {"c1", "d"}, {"c2"}, {attribute("group", std::int64_t{18})}),
       node("Relu", {"c2"}, {"r2"}), node("Conv", {"r2", "w"}, {"y"})},
      {weight("w", randn({18, 18, 1, 1}) * 0.2), weight("d", randn({18, 1, 3, 3}) * 0.3)});
}

/// Images with several rows for each core.
Tensor images_for_all_cores() {
  return randn({2 * std::int64_t{dispatch::target_of(Device().state()).info.compute_units}, 18, 6, 5});
}

/// A product with rows that are 1 in one place.
ModelFile one_hot_rows() {
  manual_seed(33);
  return ModelFile(
      {node("Cast", {"x"}, {"i"}, {attribute("to", std::int64_t{of::i64})}), node("Unsqueeze", {"i", "axis"}, {"u"}),
       node("Equal", {"u", "range"}, {"e"}), node("Cast", {"e"}, {"h"}, {attribute("to", std::int64_t{of::f32})}),
       node("MatMul", {"h", "w"}, {"p"}), node("Add", {"p", "b"}, {"s"}), node("Tanh", {"s"}, {"t"}),
       node("Softmax", {"t"}, {"y"}, {attribute("axis", std::int64_t{-1})})},
      {numbers("axis", {2}), of::raw_tensor<std::int64_t>("range", of::i64, {1, 1, 4}, {0, 1, 2, 3}),
       weight("w", randn({4, 5})), weight("b", randn({5}))});
}

/// A product of whole numbers that becomes f32 and is scaled.
ModelFile quantized() {
  manual_seed(35);
  std::vector<std::int8_t> codes(40);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::int8_t>(i * 37 % 256 - 128);
  return ModelFile(
      {node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"}), node("MatMulInteger", {"q", "w", "z"}, {"p"}),
       node("Cast", {"p"}, {"c"}, {attribute("to", std::int64_t{of::f32})}), node("Mul", {"c", "s"}, {"m"}),
       node("Mul", {"m", "t"}, {"o"}), node("Softmax", {"o"}, {"y"}, {attribute("axis", std::int64_t{-1})})},
      {of::raw_tensor<std::int8_t>("w", of::i8, {5, 8}, codes), weight("t", rand({8}) * 0.01)});
}

/// A chain of functions of quantised numbers, one of which is read twice.
ModelFile chain_of_bytes() {
  const auto zero = [](const std::string& name, std::uint8_t value) {
    return of::raw_tensor<std::uint8_t>(name, of::u8, {}, {value});
  };
  const auto scale = [](const std::string& name, double value) { return weight(name, full({}, value)); };
  return ModelFile(
      {node("QuantizeLinear", {"x", "s", "z"}, {"q"}), node("DequantizeLinear", {"q", "s", "z"}, {"d"}),
       node("Div", {"d", "root"}, {"e"}), node("Erf", {"e"}, {"f"}), node("QuantizeLinear", {"f", "t", "w"}, {"g"}),
       node("DequantizeLinear", {"g", "t", "w"}, {"h"}), node("Mul", {"d", "h"}, {"i"}),
       node("QuantizeLinear", {"i", "t", "z"}, {"j"}), node("DequantizeLinear", {"j", "t", "z"}, {"k"}),
       node("Softmax", {"k"}, {"l"}, {attribute("axis", std::int64_t{-1})}), node("Add", {"k", "l"}, {"y"})},
      {scale("s", 0.02), scale("t", 0.01), scale("root", std::sqrt(2.0)), zero("z", 120), zero("w", 100)});
}

struct Example {
  const char* name;
  ModelFile (*file)();
  Tensor x;
};

std::vector<Example> examples() {
  return {{"images", images, randn({2, 5, 6, 3})},
          {"separable", separable, images_for_all_cores()},
          {"tokens", tokens, randn({2, 5, 6})},
          {"quantized", quantized, randn({2, 3, 5})},
          {"chain of bytes", chain_of_bytes, randn({2, 3, 5})},
          {"one-hot rows", one_hot_rows, floor(rand({2, 3}) * 4)}};
}

/// The output after the passes whose names `wanted` accepts. Counts the changes of each pass.
template <class Wanted>
Tensor result_of(const onnx::Imported& imported, const Tensor& x, Wanted wanted,
                 std::map<std::string, std::size_t>& changes) {
  const NoGrad no_grad;
  std::vector<Tensor> weights;
  for (const auto& w : imported.weights) weights.push_back(w.tensor);
  std::optional<graph::Graph> graph = graph::specialise(imported.graph, {x}, weights, Device());
  REQUIRE(graph);
  for (const graph::Pass& pass : graph::all_passes()) {
    if (!wanted(std::string(pass.name))) continue;
    changes[pass.name] += pass.apply(*graph, Device());
  }
  return graph::run(*graph, {x}, {}, Device())[0].tensor(Device());
}

/// y = x w + (a + b), where a and b are weights.
ModelFile product_and_constants() {
  return ModelFile({node("Add", {"a", "b"}, {"c"}), node("MatMul", {"x", "w"}, {"p"}), node("Add", {"p", "c"}, {"y"})},
                   {weight("a", randn({64})), weight("b", randn({64})), weight("w", randn({48, 64}))});
}

}  // namespace

TEST_CASE("graph: models give the same with all passes, without one, and with one alone") {
  if (slow_device()) CRISOL_SKIP("compiles many programs");
  std::map<std::string, std::size_t> changes;
  for (const Example& example : examples()) {
    const std::string model_name = example.name;
    CAPTURE(model_name);
    const ModelFile source = example.file();
    onnx::Model model = source.load();
    const Tensor expected = model(example.x).detach();
    onnx::file::ModelFile file(source.path());
    const onnx::Imported imported = onnx::import_model(file, Device());
    const auto check = [&](auto wanted) {
      CHECK(result_of(imported, example.x, wanted, changes).allclose(expected, 1e-4, 1e-5));
    };
    check([](const std::string&) { return true; });
    for (const graph::Pass& pass : graph::all_passes()) {
      const std::string pass_name = pass.name;
      CAPTURE(pass_name);
      check([&](const std::string& name) { return name != pass_name; });
      check([&](const std::string& name) { return name == pass_name; });
    }
  }
  // Each pass had work in one of the models.
  if (ops::channel_block(dispatch::target_of(Device().state())) == 0) {
    changes.erase("block_channels");
    changes.erase("join_separable");
  }
  if (!ops::fuses_attention({5, 6}, {5, 6}, {5, 6}, false, Device())) changes.erase("find_attention");
  if (!ops::takes_centred(Device())) changes.erase("centre_numbers");
  for (const auto& [pass, count] : changes) {
    CAPTURE(pass);
    CHECK(count > 0);
  }
}

TEST_CASE("child: models without passes" * doctest::skip()) {
  for (const Example& example : examples()) {
    const std::string model_name = example.name;
    CAPTURE(model_name);
    onnx::Model model = example.file().load();
    const std::string text = model.optimized({{"x", example.x}});
    CHECK(text.find("pass ") == std::string::npos);
    CHECK(text.find("Fused") == std::string::npos);
    check_program(model, example.x);
  }
}

TEST_CASE("graph: a description shows folding, packing and the capture") {
  onnx::Model model = product_and_constants().load();
  const std::string text = model.optimized({{"x", randn({32, 48})}});
  CHECK(text.find("pass fold_constants: 1\n") == 0);
  CHECK(text.find("\npass pack_weights: ") != std::string::npos);
  CHECK(text.find("\npass capture: 1\n") != std::string::npos);
  check_program(model, randn({32, 48}));
}

TEST_CASE("child: a model without constant folding" * doctest::skip()) {
  onnx::Model model = product_and_constants().load();
  const std::string text = model.optimized({{"x", randn({32, 48})}});
  CHECK(text.find("fold_constants") == std::string::npos);
  CHECK(text.find("pass capture: 2\n") != std::string::npos);
  CHECK(text.find("Add \"#0\"") != std::string::npos);
  check_program(model, randn({32, 48}));
  check_program(model, randn({5, 48}));
}

TEST_CASE("child: a model without packed weights" * doctest::skip()) {
  onnx::Model model = product_and_constants().load();
  const Tensor x = randn({32, 48});
  CHECK(model.optimized({{"x", x}}).find("pack_weights") == std::string::npos);
  check_program(model, x);
  CHECK(thread_context().program.packed_reads == 0);
}

TEST_CASE("child: a pass that does not exist" * doctest::skip()) {
  onnx::Model model = one_hot_rows().load();
  const NoGrad no_grad;
  CHECK(refusal(ErrorCode::invalid_argument, [&] {
          model(zeros({2, 3}));
        }) == doctest::Contains("'-fuse_all' is not -NAME of a pass"));
}

TEST_CASE("graph: CRISOL_PASSES turns off all passes, and refuses other names") {
  if (slow_device()) CRISOL_SKIP("starts processes");
  std::string all = "-fold_constants,-pack_weights,-capture";
  for (const graph::Pass& pass : graph::all_passes()) all += std::string(",-") + pass.name;
  CHECK_PASSED(run_child("child: models without passes", {{"CRISOL_PASSES", all}}));
  CHECK_PASSED(run_child("child: a model without constant folding", {{"CRISOL_PASSES", "-fold_constants"}}));
  CHECK_PASSED(run_child("child: a model without packed weights", {{"CRISOL_PASSES", "-pack_weights"}}));
  CHECK_PASSED(run_child("child: a pass that does not exist", {{"CRISOL_PASSES", "-capture,-fuse_all"}}));
}
