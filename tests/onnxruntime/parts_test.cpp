// Models from parts in memory (crisol/onnx_parts.h).
#include "crisol/onnx_parts.h"

#include <algorithm>
#include <array>

#include "crisol/opencl_interop.h"
#include "crisol/profile.h"
#include "onnx/models.h"

namespace {

constexpr int f32 = 1, i64 = 7, text = 8, c64 = 14;

onnx::ValueParts value_parts(const std::string& name, int type, const std::vector<onnx::Dimension>& shape) {
  return {name, type, shape};
}

/// y = relu(x w + b) with x of (N, 3) and w of (3, 2).
struct Net {
  std::vector<float> w{1, 2, 3, 4, 5, 6}, b{-10, 1};
  onnx::ModelParts parts() {
    onnx::ModelParts model;
    model.name = "a net in memory";
    model.operator_sets = {{"", 17}};
    onnx::GraphParts& graph = model.graph;
    graph.inputs = {value_parts("x", f32, {{-1, "N"}, {3, ""}})};
    graph.outputs = {value_parts("y", f32, {{-1, "N"}, {2, ""}})};
    graph.initializers = {{"w", f32, {3, 2}, w.data(), sizeof(float) * w.size()},
                          {"b", f32, {2}, b.data(), sizeof(float) * b.size()}};
    graph.nodes = {{"product", "Gemm", "", {"x", "w", "b"}, {"z"}, {{"alpha", 2.0F}, {"transB", std::int64_t{0}}}},
                   {"", "Relu", "", {"z"}, {"y"}, {}}};
    return model;
  }
};

}  // namespace

TEST_CASE("a model of parts computes what its file would, with several batch sizes, after the parts are gone") {
  auto net = std::make_unique<Net>();
  const onnx::Model model = onnx::load(net->parts());
  net.reset();
  REQUIRE(model.inputs().size() == 1);
  CHECK(model.inputs()[0].shape[0].name == "N");
  const Tensor x = from_vector<float>({1, 0, 2, 0, 1, 0}, {2, 3});
  CHECK(same(model({{"x", x}})["y"], from_vector<float>({12, 29, 0, 9}, {2, 2})));
  CHECK(same(model({{"x", x.narrow(0, 1, 1)}})["y"], from_vector<float>({0, 9}, {1, 2})));
}

TEST_CASE("a run copies no input that nothing needs") {
  const NoGrad no_grad;
  Net net;
  onnx::ModelParts parts = net.parts();
  parts.graph.inputs.push_back(value_parts("unused", f32, {{4, ""}}));
  const onnx::Model model = onnx::load(parts);
  const NamedTensors inputs{{"x", from_vector<float>({1, 0, 2}, {1, 3})}, {"unused", ones({4})}};
  model(inputs);  // Makes the program.
  const Profile profile;
  CHECK(same(model(inputs)["y"], from_vector<float>({12, 29}, {1, 2})));
  for (const ProfileRow& row : profile.rows()) CHECK(row.kernel != "copy");
}

TEST_CASE("outputs go to the caller's memory, also where its address or the model does not allow that") {
  const NoGrad no_grad;
  Net net;
  onnx::ModelParts parts = net.parts();
  parts.graph.nodes.push_back({"", "Identity", "", {"x"}, {"same"}, {}});
  parts.graph.outputs.push_back(value_parts("same", f32, {{-1, "N"}, {3, ""}}));
  const onnx::Model model = onnx::load(parts);
  alignas(64) std::array<float, 64> memory{};
  for (const std::size_t first : {0, 0, 1, 16}) {  // The first call makes the program.
    const Tensor x = from_vector<float>({1, 0, 2, 0, 1, static_cast<float>(first)}, {2, 3});
    std::vector<std::string> asked;
    const onnx::Outputs outputs =
        model({{"x", x}}, [&](const std::string& name, const Shape& shape, DType dtype) -> Tensor {
          asked.push_back(name);
          CHECK(shape == Shape{2, name == "y" ? 2 : 3});
          return name == "y" ? from_host_memory(memory.data() + first, shape, dtype) : Tensor();
        });
    CHECK(same(outputs["y"], model({{"x", x}})["y"]));
    CHECK(same(outputs["same"], x));
    const std::vector<float> expected = outputs["y"].to_vector<float>();
    outputs["y"].read_bytes(memory.data() + first);
    CHECK(std::equal(expected.begin(), expected.end(), memory.begin() + static_cast<std::ptrdiff_t>(first)));
    if (!asked.empty()) CHECK(asked.front() == "y");
  }
  const auto wrong = [](const std::string&, const Shape&, DType) { return zeros({3}); };
  CHECK(refusal(ErrorCode::invalid_argument, [&] {
          model({{"x", zeros({2, 3})}}, wrong);
        }) == doctest::Contains("output \"y\" is not of (2, 2) f32"));
}

TEST_CASE("parts may have graphs in nodes, tensors in attributes, and lists") {
  onnx::ModelParts model;
  model.operator_sets = {{"ai.onnx", 17}};
  const std::vector<float> two{2};
  auto then_branch = std::make_shared<onnx::GraphParts>(), else_branch = std::make_shared<onnx::GraphParts>();
  then_branch->name = "then";
  then_branch->nodes = {
      {"", "Constant", "", {}, {"two"}, {{"value", onnx::TensorParts{"", f32, {1}, two.data(), sizeof(float)}}}},
      {"", "Mul", "", {"x", "two"}, {"doubled"}, {}}};
  then_branch->outputs = {{"doubled", f32, {}}};
  else_branch->name = "else";
  else_branch->nodes = {{"", "Transpose", "", {"x"}, {"turned"}, {{"perm", std::vector<std::int64_t>{1, 0}}}}};
  else_branch->outputs = {{"turned", f32, {}}};
  model.graph.inputs = {value_parts("x", f32, {{2, ""}, {2, ""}}), value_parts("c", 9, {})};
  model.graph.outputs = {{"y", f32, {}}};
  model.graph.nodes = {{"", "If", "", {"c"}, {"y"}, {{"then_branch", then_branch}, {"else_branch", else_branch}}}};
  const Tensor x = from_vector<float>({1, 2, 3, 4}, {2, 2});
  for (const onnx::Model& loaded : {onnx::load(model), onnx::load_bytes("a branch", onnx::file_of(model))}) {
    const auto run = [&](bool condition) {
      return loaded({{"x", x}, {"c", full({}, condition, DType::boolean)}})["y"];
    };
    CHECK(same(run(true), x * 2));
    CHECK(same(run(false), x.transpose(0, 1)));
  }
}

TEST_CASE("the file of parts is the same model") {
  Net net;
  onnx::ModelParts parts = net.parts();
  parts.graph.nodes.push_back({"", "ReduceSum", "", {"y", ""}, {"sum"}, {{"keepdims", std::int64_t{0}}}});
  parts.graph.outputs.push_back(value_parts("sum", f32, {}));  // Rank 0.
  parts.graph.outputs.push_back({"z", f32, {}});               // An unknown rank.
  std::string bytes = onnx::file_of(parts);
  const onnx::Model model = onnx::load_bytes("bytes", bytes), expected = onnx::load(parts);
  bytes.assign(bytes.size(), 'x');
  REQUIRE(model.inputs().size() == 1);
  CHECK(model.inputs()[0].shape[0].name == "N");
  CHECK(model.inputs()[0].shape[1].size == 3);
  REQUIRE(model.outputs().size() == 3);
  CHECK(model.outputs()[1].has_shape);
  CHECK(model.outputs()[1].shape.empty());
  CHECK(!model.outputs()[2].has_shape);
  const Tensor x = from_vector<float>({1, 0, 2, 0, 1, 0}, {2, 3});
  CHECK(same(model({{"x", x}})["y"], expected({{"x", x}})["y"]));
  CHECK(model({{"x", x}})["sum"].item() == 50);
  CHECK(refusal(ErrorCode::io, [&] { onnx::load_bytes("some bytes", bytes); }) == doctest::Contains("some bytes"));
  parts.graph.initializers[0].bytes = std::size_t{3} << 30;
  CHECK(refusal(ErrorCode::invalid_argument, [&] { onnx::file_of(parts); }) ==
        doctest::Contains("the constants of \"a net in memory\" take 3221225480 bytes"));
}

TEST_CASE("refused_nodes names the nodes that load refuses, and judges the others by the described values") {
  Net net;
  onnx::ModelParts model = net.parts();
  CHECK(onnx::refused_nodes(model).empty());
  // An unknown op between two known ones, a type that is not computed with, and a text.
  model.graph.nodes = {{"", "Relu", "", {"x"}, {"a"}, {}},
                       {"", "NoSuchOp", "some.domain", {"a"}, {"u"}, {}},
                       {"", "Gemm", "", {"u", "w", "b"}, {"y"}, {}},
                       {"", "Cast", "", {"y"}, {"wide"}, {{"to", std::int64_t{c64}}}},
                       {"", "Shape", "", {"words"}, {"count"}, {}}};
  model.graph.inputs.push_back(value_parts("words", text, {{-1, ""}}));
  model.graph.values = {value_parts("u", f32, {{-1, "N"}, {3, ""}}), value_parts("wide", c64, {{-1, "N"}, {2, ""}}),
                        value_parts("count", i64, {{1, ""}})};
  std::vector<std::size_t> positions;
  for (const onnx::RefusedNode& node : onnx::refused_nodes(model)) {
    positions.push_back(node.node);
    CHECK(!node.reason.empty());
  }
  CHECK(positions == std::vector<std::size_t>{1, 3, 4});
  CHECK_THROWS_AS(onnx::load(model), Error);
}

TEST_CASE("parts that contradict themselves are refused") {
  Net net;
  onnx::ModelParts model = net.parts();
  model.graph.initializers[0].bytes = 20;
  CHECK(refusal(ErrorCode::invalid_argument, [&] { onnx::load(model); }) ==
        doctest::Contains("\"w\" takes 24 bytes, and 20 are given"));
  model = net.parts();
  model.graph.inputs[0].type = 1000;
  CHECK(refusal(ErrorCode::invalid_argument, [&] { onnx::load(model); }) == doctest::Contains("element type 1000"));
  model = net.parts();
  model.graph.nodes[1].inputs = {"nothing"};
  CHECK(refusal(ErrorCode::io, [&] { onnx::load(model); }) == doctest::Contains("a net in memory"));
}
