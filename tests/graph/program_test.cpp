// Programs of graphs: the changes of each pass, and the results, which stay the same.
#include "graph/program.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <regex>
#include <thread>

#include "crisol/dtype_table.h"
#include "graph/model_file.h"
#include "io/files/mapped_file.h"
#include "ops/product/pairs.h"
#include "support/skip.h"

namespace {

/// Two convolutions with batch norm around a residual connection, as in ResNet.
ModelFile residual_block() {
  manual_seed(1);
  std::vector<Proto> weights{weight("w1", randn({3, 3, 3, 3})), weight("w2", randn({3, 3, 1, 1})),
                             weight("b2", randn({3}))};
  for (const std::string name : {"n1", "n2"}) {
    weights.push_back(weight(name + ".scale", randn({3})));
    weights.push_back(weight(name + ".shift", randn({3})));
    weights.push_back(weight(name + ".mean", randn({3})));
    weights.push_back(weight(name + ".var", rand({3}) + 0.5));
  }
  const auto batch_norm = [](const std::string& name, const std::string& x, const std::string& y) {
    return node("BatchNormalization", {x, name + ".scale", name + ".shift", name + ".mean", name + ".var"}, {y});
  };
  return ModelFile(
      {node("Conv", {"x", "w1"}, {"c1"}, {attribute("pads", Sizes{1, 1, 1, 1})}), batch_norm("n1", "c1", "m1"),
       node("Relu", {"m1"}, {"r1"}), node("Conv", {"r1", "w2", "b2"}, {"c2"}), batch_norm("n2", "c2", "m2"),
       node("Add", {"m2", "x"}, {"s"}), node("Relu", {"s"}, {"y"})},
      weights);
}

}  // namespace

TEST_CASE("graph: a residual block becomes two convolutions") {
  const ModelFile file = residual_block();
  std::map<std::string, std::size_t> changes = file.changes(randn({2, 3, 9, 7}));
  CHECK(changes["fold_affine"] == 2);
  CHECK(changes["fuse_elements"] == 1);
  CHECK(changes["fuse_epilogues"] == 2);

  onnx::Model model = file.load();
  // How many operands are read from packed copies depends on the device.
  const std::string text =
      std::regex_replace(model.optimized({{"x", randn({2, 3, 9, 7})}}), std::regex("pass pack_weights: [0-9]+\n"), "");
  CHECK(text ==
        "pass fold_constants: 0\npass remove_identities: 0\npass find_layer_norms: 0\npass "
        "simplify_powers: 0\npass find_attention: 0\npass "
        "move_transposes: 0\npass "
        "fold_affine: 2\npass "
        "remove_dead_nodes: 0\n"
        "pass block_channels: 0\npass centre_numbers: 0\npass join_casts: 0\npass tabulate_bytes: 0\npass "
        "fuse_elements: 1\npass "
        "join_separable: 0\npass find_lookups: "
        "0\npass "
        "join_products: 0\npass "
        "fuse_epilogues: 2\npass capture: 2\n"
        "Conv \"#0\": (2, 3, 9, 7), (3, 3, 3, 3), (3) -> (2, 3, 9, 7)\n"
        "Conv \"#3\": (2, 3, 9, 7), (3, 3, 1, 1), (3), (2, 3, 9, 7) -> (2, 3, 9, 7)\n");
  check_program(model, randn({2, 3, 9, 7}));
  check_program(model, randn({1, 3, 5, 5}));
  check_program(model, randn({2, 3, 9, 7}));
}

TEST_CASE("graph: a product of bytes adds its bias and quantises again in one kernel") {
  manual_seed(3);
  const auto zero = [](const std::string& name, std::uint8_t value) {
    return of::raw_tensor<std::uint8_t>(name, of::u8, {}, {value});
  };
  const Tensor numbers = (rand({37, 29}) * 256).to(DType::u8);
  const Proto w = of::raw_tensor<std::uint8_t>("w", of::u8, {37, 29}, numbers.to_vector<std::uint8_t>());
  const auto scale = [](const std::string& name, double value) { return weight(name, full({}, value)); };
  const Sizes turned{0, 2, 1};
  const ModelFile file(
      {node("QuantizeLinear", {"x", "s", "z"}, {"q"}), node("DequantizeLinear", {"q", "s", "z"}, {"d"}),
       node("DequantizeLinear", {"w", "t", "z"}, {"e"}), node("MatMul", {"d", "e"}, {"f"}),
       node("QuantizeLinear", {"f", "u", "v"}, {"g"}), node("DequantizeLinear", {"g", "u", "v"}, {"h"}),
       node("Add", {"b", "h"}, {"i"}), node("QuantizeLinear", {"i", "r", "z"}, {"j"}),
       node("DequantizeLinear", {"j", "r", "z"}, {"k"}), node("Transpose", {"k"}, {"l"}, {attribute("perm", turned)}),
       node("QuantizeLinear", {"l", "r", "z"}, {"o"}), node("DequantizeLinear", {"o", "r", "z"}, {"c"}),
       node("MatMul", {"k", "c"}, {"m"}), node("QuantizeLinear", {"m", "p", "z"}, {"n"}),
       node("DequantizeLinear", {"n", "p", "z"}, {"y"})},
      {w, weight("b", randn({29})), scale("s", 0.02), scale("t", 0.01), scale("u", 0.1), scale("r", 0.08),
       scale("p", 2), zero("z", 120), zero("v", 100)});
  const Tensor x = randn({2, 11, 37});
  std::map<std::string, std::size_t> changes = file.changes(x);
  if (ops::prefers_pairs(Device())) CHECK(changes["fuse_epilogues"] == 1);
  onnx::Model model = file.load();
  check_program(model, x);
}

TEST_CASE("graph: convolutions of bytes add a residual and quantise again in one kernel") {
  manual_seed(4);
  const auto bytes = [](const std::string& name, const Sizes& sizes) {
    const Tensor numbers = (rand(Shape(sizes)) * 256 - 128).to(DType::i8);
    return of::raw_tensor<std::int8_t>(name, static_cast<int>(dtype_row(DType::i8).onnx), sizes,
                                       numbers.to_vector<std::int8_t>());
  };
  const auto zero = [](const std::string& name, std::uint8_t value) {
    return of::raw_tensor<std::uint8_t>(name, of::u8, {}, {value});
  };
  const auto scale = [](const std::string& name, double value) { return weight(name, full({}, value)); };
  const Proto none = of::raw_tensor<std::int8_t>("n", static_cast<int>(dtype_row(DType::i8).onnx), {}, {0});
  const ModelFile file(
      {node("QuantizeLinear", {"x", "s", "z"}, {"q"}), node("DequantizeLinear", {"q", "s", "z"}, {"d"}),
       node("DequantizeLinear", {"w1", "t", "n"}, {"e1"}), node("DequantizeLinear", {"w2", "t", "n"}, {"e2"}),
       node("Conv", {"d", "e1"}, {"c1"}, {attribute("pads", Sizes{1, 1, 1, 1})}),
       node("QuantizeLinear", {"c1", "u", "v"}, {"q1"}), node("DequantizeLinear", {"q1", "u", "v"}, {"d1"}),
       node("Conv", {"d", "e2"}, {"c2"}), node("QuantizeLinear", {"c2", "u", "z"}, {"q2"}),
       node("DequantizeLinear", {"q2", "u", "z"}, {"d2"}), node("Add", {"d1", "d2"}, {"a"}), node("Relu", {"a"}, {"r"}),
       node("QuantizeLinear", {"r", "p", "o"}, {"q3"}), node("DequantizeLinear", {"q3", "p", "o"}, {"d3"}),
       node("DequantizeLinear", {"w3", "t", "n"}, {"e3"}), node("Conv", {"d3", "e3"}, {"c3"}),
       node("QuantizeLinear", {"c3", "u", "v"}, {"q4"}), node("DequantizeLinear", {"q4", "u", "v"}, {"y"})},
      {bytes("w1", {21, 3, 3, 3}), bytes("w2", {21, 3, 1, 1}), bytes("w3", {5, 21, 3, 3}), scale("s", 0.03),
       scale("t", 0.01), scale("u", 0.1), scale("p", 0.08), zero("z", 120), zero("v", 100), zero("o", 0), none});
  const Tensor x = randn({2, 3, 9, 7});
  std::map<std::string, std::size_t> changes = file.changes(x);
  if (ops::prefers_pairs(Device())) CHECK(changes["fuse_epilogues"] == 1);
  onnx::Model model = file.load();
  check_program(model, x);
  check_program(model, randn({1, 3, 5, 16}));
}

TEST_CASE("graph: rounding to quantised numbers joins the convolution before it") {
  manual_seed(2);
  const auto q = [](const std::string& name, const Sizes& sizes) {
    const Tensor numbers = (rand(Shape(sizes)) * 256 - 128).to(DType::i8);
    return of::raw_tensor<std::int8_t>(name, static_cast<int>(dtype_row(DType::i8).onnx), sizes,
                                       numbers.to_vector<std::int8_t>());
  };
  const Proto zero = of::raw_tensor<std::uint8_t>("z", static_cast<int>(dtype_row(DType::u8).onnx), {}, {20});
  const ModelFile file(
      {node("DequantizeLinear", {"w1", "s"}, {"v1"}), node("DequantizeLinear", {"w2", "s"}, {"v2"}),
       node("Conv", {"x", "v1"}, {"c1"}, {attribute("pads", Sizes{1, 1, 1, 1})}), node("Relu", {"c1"}, {"r1"}),
       node("QuantizeLinear", {"r1", "t", "z"}, {"q1"}), node("DequantizeLinear", {"q1", "t", "z"}, {"d1"}),
       node("Conv", {"d1", "v2"}, {"c2"}), node("QuantizeLinear", {"c2", "t", "z"}, {"q2"}),
       node("DequantizeLinear", {"q2", "t", "z"}, {"y"})},
      {q("w1", {4, 3, 3, 3}), q("w2", {5, 4, 1, 1}), weight("s", full({}, 0.01)), weight("t", full({}, 0.05)), zero});
  std::map<std::string, std::size_t> changes = file.changes(randn({2, 3, 9, 7}));
  CHECK(changes["fold_constants"] == 2);
  CHECK(changes["fuse_elements"] == 3);
  CHECK(changes["fuse_epilogues"] == 2);
  onnx::Model model = file.load();
  const Tensor x = randn({2, 3, 9, 7});
  const Tensor right = model(x).detach();
  const NoGrad no_grad;
  const Tensor found = model(x);
  // Rounding of sums may move a number to its neighbour.
  CHECK((found - right).abs().max().item() <= 0.051);
  CHECK((found - right).abs().mean().item() < 0.001);
}

TEST_CASE("graph: programs follow the weights, and state_dict stays") {
  onnx::Model model = residual_block().load();
  const Tensor x = randn({1, 3, 6, 5});
  check_program(model, x);
  const NamedTensors before = model.state_dict();
  for (auto& [name, parameter] : model.named_parameters()) {
    NoGrad no_grad;
    parameter.add_(randn(parameter.shape()));
  }
  check_program(model, x);
  const NamedTensors after = model.state_dict();
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(before[i].first == after[i].first);

  onnx::Model copy = nn::clone(model);
  check_program(copy, x);
  check_program(model, x);
}

TEST_CASE("graph: a large constant stays in the file, and a program keeps only what its commands read") {
  manual_seed(9);
  constexpr std::int64_t channels = 128;
  const ModelFile file(
      {node("Constant", {}, {"w"}, {of::tensor_attribute("value", weight("", randn({channels, channels, 3, 3})))}),
       node("Conv", {"x", "w"}, {"c"}), node("Mul", {"c", "two"}, {"y"})},
      {weight("two", full({}, 2.0))});
  const std::uint64_t bytes = channels * channels * 9 * sizeof(float);
  const auto used = [] {
    return Device().memory_stats().in_use;
  };  // Without the memory that only captured graphs hold.
  const std::uint64_t before = used();
  onnx::Model model = file.load();
  CHECK(used() < before + bytes);
  const auto run = [&](std::int64_t width) {
    const NoGrad no_grad;
    return model(ones({1, channels, 4, width}));
  };
  const std::vector<float> first = run(5).to_vector<float>();
  CHECK(used() < before + bytes);
  // A file that takes the place of the model's is no change.
  std::filesystem::rename(file.path(), file.path() + ".old");
  write_file(file.path(), "another file");
  CHECK(run(5).to_vector<float>() == first);
  CHECK(run(6).size(3) == 4);
  check_program(model, randn({1, channels, 4, 7}));
}

TEST_CASE("graph: a constant is not read again from a file that was changed") {
  const ModelFile file({node("Constant", {}, {"w"}, {of::tensor_attribute("value", weight("", ones({64, 64})))}),
                        node("Mul", {"w", "two"}, {"v"}), node("MatMul", {"x", "v"}, {"y"})},
                       {weight("two", full({}, 2.0))});
  onnx::Model model = file.load();
  const NoGrad no_grad;
  CHECK(model(ones({2, 64})).to_vector<float>() == std::vector<float>(128, 128));
  std::filesystem::last_write_time(file.path(), std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  CHECK(model(ones({2, 64})).to_vector<float>() == std::vector<float>(128, 128));
  if (io::MappedFile::may_be_replaced())
    CHECK(refusal(ErrorCode::io, [&] {
            model(ones({3, 64}));
          }) == doctest::Contains("the file was changed after it was loaded"));
}

TEST_CASE("graph: a batch norm without a convolution, and numbers in formulas") {
  manual_seed(2);
  const ModelFile file(
      {node("BatchNormalization", {"x", "scale", "shift", "mean", "var"}, {"b"}, {attribute("epsilon", 0.1f)}),
       node("Clip", {"b", "zero", "six"}, {"c"}), node("Mul", {"c", "b"}, {"d"}), node("Div", {"d", "six"}, {"e"}),
       node("Softmax", {"e"}, {"y"})},
      {weight("scale", randn({3})), weight("shift", randn({3})), weight("mean", randn({3})),
       weight("var", rand({3}) + 0.5), weight("zero", full({}, 0.0)), weight("six", full({}, 6.0))});
  std::map<std::string, std::size_t> changes = file.changes(randn({4, 3, 5}));
  CHECK(changes["fold_affine"] == 1);
  CHECK(changes["fuse_elements"] == 3);
  onnx::Model model = file.load();
  check_program(model, randn({4, 3, 5}));
  check_program(model, randn({2, 3, 4, 3}));
}

TEST_CASE("graph: operands that broadcast are not merged into wrong shapes") {
  manual_seed(3);
  // exp(row) is smaller than the sum, and (x + 1) has two users.
  const ModelFile file({node("Exp", {"row"}, {"e"}), node("ReduceMean", {"x"}, {"m"}, {attribute("axes", Sizes{1})}),
                        node("Tanh", {"m"}, {"t"}), node("Add", {"x", "one"}, {"p"}), node("Mul", {"p", "t"}, {"q"}),
                        node("Sub", {"q", "e"}, {"r"}), node("Softmax", {"p"}, {"s"}), node("Add", {"r", "s"}, {"y"})},
                       {weight("row", randn({1, 1, 5})), weight("one", full({1, 1, 1, 1}, 1.0))});
  onnx::Model model = file.load();
  const Tensor x = randn({3, 4, 5});
  CHECK(model(x).dim() == 4);
  check_program(model, x);
}

TEST_CASE("graph: transposes around convolutions with channels last cancel") {
  manual_seed(4);
  const auto transpose = [](const std::string& x, const std::string& y, const Sizes& perm) {
    return node("Transpose", {x}, {y}, {attribute("perm", perm)});
  };
  const Sizes to_channels_first{0, 3, 1, 2}, to_channels_last{0, 2, 3, 1};
  const ModelFile file(
      {transpose("x", "x1", to_channels_first), node("Conv", {"x1", "w1"}, {"c1"}),
       transpose("c1", "t1", to_channels_last), node("Cast", {"t1"}, {"s1"}, {attribute("to", std::int64_t{of::f32})}),
       node("Sub", {"s1", "mean"}, {"m1"}), node("Mul", {"m1", "scale"}, {"n1"}), node("Div", {"n1", "two"}, {"d1"}),
       node("Relu", {"d1"}, {"r1"}), transpose("r1", "x2", to_channels_first), node("Conv", {"x2", "w2"}, {"c2"}),
       transpose("c2", "t2", to_channels_last), node("Sub", {"mean", "t2"}, {"m2"}), node("Add", {"m2", "r1"}, {"y"})},
      {weight("w1", randn({4, 3, 1, 3})), weight("w2", randn({4, 4, 1, 1})), weight("mean", randn({4})),
       weight("scale", randn({1, 1, 4})), weight("two", full({1}, 2.0))});
  const Tensor x = randn({2, 5, 6, 3});
  std::map<std::string, std::size_t> changes = file.changes(x);
  CHECK(changes["remove_identities"] == 1);
  CHECK(changes["fold_affine"] == 4);
  CHECK(changes["fuse_epilogues"] == 2);
  onnx::Model model = file.load();
  check_program(model, x);
}

TEST_CASE("graph: programs keep the weights of an LSTM in their own order, until one is written") {
  manual_seed(4);
  const std::int64_t features = 5, hidden = 7;
  // Pads the steps by their mirror image first. The positions for that are a constant of the program too.
  const ModelFile file(
      {node("Pad", {"x", "pads"}, {"long"}, {attribute("mode", "reflect")}),
       node("LSTM", {"long", "w", "r", "b"}, {"y"}, {attribute("hidden_size", hidden)})},
      {weight("w", randn({1, 4 * hidden, features})), weight("r", randn({1, 4 * hidden, hidden})),
       weight("b", randn({1, 8 * hidden})), of::raw_tensor<std::int64_t>("pads", of::i64, {6}, {2, 0, 0, 1, 0, 0})});
  onnx::Model model = file.load();
  const Tensor x = randn({4, 3, features});
  CHECK(model(x).shape() == Shape{7, 1, 3, hidden});
  check_program(model, x);
  {
    const NoGrad no_grad;
    Tensor(model.parameter("r")).mul_(-0.5);
  }
  check_program(model, x);
  const NoGrad no_grad;
  model(x);
  const auto launches = [&](const char* kernel) {
    const Profile profile;
    model(x);
    Device().synchronize();
    std::int64_t count = 0;
    for (const auto& row : profile.rows())
      if (row.kernel == kernel) count += static_cast<std::int64_t>(row.launches);
    return count;
  };
  CHECK(launches("rnn_pack_forward") == 0);
}

TEST_CASE("graph: a shape that depends on values runs without a program") {
  const ModelFile file({node("ReduceMax", {"x"}, {"m"}, {attribute("keepdims", std::int64_t{0})}),
                        node("Cast", {"m"}, {"n"}, {attribute("to", std::int64_t{of::i64})}),
                        node("Unsqueeze", {"n", "zero"}, {"s"}), node("Expand", {"x", "s"}, {"y"})},
                       {of::raw_tensor<std::int64_t>("zero", of::i64, {1}, {0})});
  const onnx::Model model = file.load();
  const NoGrad no_grad;
  for (const float size : {3.0f, 5.0f})
    CHECK(model({{"x", full({1}, size)}})["y"].shape() == Shape{static_cast<std::int64_t>(size)});
  CHECK(model.optimized({{"x", full({1}, 3.0)}}) ==
        "no program for these inputs: the nodes of the file run one after another\n"
        "ReduceMax \"#0\": - -> -\nCast \"#1\": - -> -\nUnsqueeze \"#2\": -, (1) -> -\nExpand \"#3\": -, - -> -\n");
}

TEST_CASE("graph: a model runs in a capture of the user's, before and after it has a program") {
  const NoGrad no_grad;
  const Tensor x = randn({1, 3, 6, 5}), other = randn({1, 3, 6, 5});
  for (const bool has_program : {false, true}) {
    const onnx::Model model = residual_block().load();
    if (has_program) model({{"x", x}});
    Tensor input = x.clone(), y;
    const CapturedGraph graph = capture([&] { y = model({{"x", input}})["y"]; });
    input.copy_from(other);
    graph.replay();
    CHECK(y.allclose(model({{"x", other}})["y"], 1e-4, 1e-4));
  }
}

TEST_CASE("graph: two threads run one model") {
  if (slow_device()) CRISOL_SKIP("oclgrind 21.10 aborts when two threads launch at once");
  onnx::Model model = residual_block().load();
  const NoGrad no_grad;
  std::vector<Tensor> inputs, expected;
  for (int i = 0; i < 2; ++i) {
    inputs.push_back(randn({1, 3, 6, 5}));
    expected.push_back(model(inputs.back()));
  }
  std::vector<int> wrong(2);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      const NoGrad in_this_thread;
      for (int k = 0; k < 20; ++k) wrong[i] += model({{"x", inputs[i]}})["y"].allclose(expected[i], 0, 0) ? 0 : 1;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>{0, 0});
}

TEST_CASE("graph: an input whose values are sizes is read in every run, also if a run changes no size") {
  for (const char* op : {"Reshape", "Expand"}) {
    const onnx::Model model =
        loaded(of::model(of::graph({.nodes = {node(op, {"x", "s"}, {"y"})},
                                    .inputs = {value("x", of::f32, {"A", "B"}), value("s", of::i64, {"2"})},
                                    .outputs = {value("y", Proto().message(1, Proto().integer(1, of::f32)))}})));
    const bool is_reshape = std::string(op) == "Reshape";
    const Tensor x = is_reshape ? randn({2, 3}) : randn({1, 3});
    const NoGrad no_grad;
    for (const std::int64_t rows : {x.size(0), is_reshape ? std::int64_t{3} : std::int64_t{4}}) {
      const Shape shape{rows, is_reshape ? 6 / rows : 3};
      const Tensor sizes = from_vector(std::vector<std::int64_t>{shape[0], shape[1]});
      CHECK(model({{"x", x}, {"s", sizes}})["y"].shape() == shape);
    }
  }
}

TEST_CASE("graph: what a branch draws is drawn in every run") {
  const auto branch = [](const char* name) {
    return of::graph_attribute(name,
                               of::graph({.nodes = {node("RandomUniform", {}, {"r"}, {attribute("shape", Sizes{5})})},
                                          .outputs = {Proto().text(1, "r")}}));
  };
  const ModelFile file(
      {node("If", {"yes"}, {"r"}, {branch("then_branch"), branch("else_branch")}), node("Add", {"x", "r"}, {"y"})},
      {of::raw_tensor<std::uint8_t>("yes", of::boolean, {}, {1})});
  const onnx::Model model = file.load();
  const NoGrad no_grad;
  const Tensor x = zeros({5});
  CHECK_FALSE(model({{"x", x}})["y"].allclose(model({{"x", x}})["y"]));
}

TEST_CASE("graph: a program is made without running the model first") {
  const ModelFile file({node("RandomUniformLike", {"x"}, {"r"}), node("Mul", {"r", "x"}, {"y"})}, {});
  const onnx::Model model = file.load();
  const NoGrad no_grad;
  const Tensor x = ones({7});
  manual_seed(3);
  const Tensor first = model({{"x", x}})["y"], second = model({{"x", x}})["y"];
  manual_seed(3);
  const Tensor drawn = rand({7}), drawn_next = rand({7});
  CHECK(first.allclose(drawn, 0, 0));
  CHECK(second.allclose(drawn_next, 0, 0));
}

TEST_CASE("graph: an input that does not fit leaves the program of others") {
  const onnx::Model model = residual_block().load(), other = residual_block().load();
  const NoGrad no_grad;
  const Tensor x = randn({1, 3, 6, 5});
  CHECK_THROWS_WITH_AS(static_cast<void>(model({{"x", randn({1, 2, 6, 5})}})), doctest::Contains("Conv"), Error);
  const auto kernels_of = [&](const onnx::Model& m) {
    m({{"x", x}});
    const Profile profile;
    m({{"x", x}});
    std::int64_t launches = 0;
    for (const ProfileRow& row : profile.rows()) launches += row.launches;
    return launches;
  };
  CHECK(kernels_of(model) == kernels_of(other));
}

TEST_CASE("graph: a program gives back the constants that it reads in another form") {
  manual_seed(5);
  const ModelFile file(
      {node("Conv", {"x", "w"}, {"c"}), node("Mul", {"c", "s"}, {"m"}), node("MatMul", {"m", "v"}, {"y"})},
      {weight("w", randn({64, 64, 1, 1})), weight("s", randn({1, 64, 1, 1})), weight("v", randn({64, 192}))});
  const Device device;
  const onnx::Model model = file.load();
  const NoGrad no_grad;
  const Tensor x = randn({1, 64, 4, 64});
  const std::uint64_t v_bytes = 64 * 192 * 4, x_bytes = 64 * 4 * 64 * 4, y_bytes = 64 * 4 * 192 * 4;
  const std::uint64_t before = device.memory_stats().in_use;
  model({{"x", x}});
  // The program's input and output, and one other layout of v, each rounded up. The scaled w, with 16 KB, belongs to
  // the commands alone.
  CHECK(device.memory_stats().in_use - before <= x_bytes + y_bytes + v_bytes + 12 * 1024);
  const std::uint64_t after = device.memory_stats().in_use;
  model({{"x", x}});
  CHECK(device.memory_stats().in_use == after);
  // Another program shares the layout of v.
  model({{"x", randn({1, 64, 2, 64})}});
  CHECK(device.memory_stats().in_use - after <= x_bytes + y_bytes);
}
