// Which inputs have programs.
#include "graph/model_file.h"

namespace {

/// A graph from a file, and its programs.
class Runs {
 public:
  explicit Runs(const ModelFile& file) : file_(file.path()), imported_(onnx::import_model(file_, Device())) {}

  /// The first output by a program; an undefined tensor if there is none for such inputs.
  Tensor by_program(const Tensor& x) {
    const NoGrad no_grad;
    const auto results = programs_.run(imported_.graph, {x}, weights(), Device());
    return results ? results->front().tensor(Device()) : Tensor();
  }
  Tensor by_nodes(const Tensor& x) const {
    return graph::run(imported_.graph, {x}, weights(), Device()).front().tensor(Device());
  }

 private:
  std::vector<Tensor> weights() const {
    std::vector<Tensor> tensors;
    for (const auto& weight : imported_.weights) tensors.push_back(weight.tensor);
    return tensors;
  }

  onnx::file::ModelFile file_;
  const onnx::Imported imported_;
  graph::Programs programs_;
};

Proto branch(const char* name, const Proto& node) {
  return of::graph_attribute(name, of::graph({.nodes = {node}, .outputs = {Proto().text(1, "r")}}));
}

/// The places of numbers that are not 0 if x has more than two rows, and otherwise its sign.
ModelFile places_of_many_rows() {
  return ModelFile(
      {node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"n"}), node("Greater", {"n", "two"}, {"many"}),
       node("If", {"many"}, {"y"},
            {branch("then_branch", node("NonZero", {"x"}, {"r"})), branch("else_branch", node("Sign", {"x"}, {"r"}))})},
      {number("zero", 0), number("two", 2)});
}

}  // namespace

TEST_CASE("graph: inputs without a program leave the programs of other inputs") {
  Runs runs(places_of_many_rows());
  for (std::int64_t rows = 3; rows < 6; ++rows) {
    CHECK_FALSE(runs.by_program(ones({rows, 2})).defined());
    CHECK_FALSE(runs.by_program(ones({rows, 2})).defined());
  }
  CHECK(runs.by_program(ones({2, 2})).shape() == Shape{2, 2});
  for (std::int64_t rows = 3; rows < 20; ++rows) CHECK_FALSE(runs.by_program(ones({rows, 2})).defined());
  CHECK(runs.by_program(ones({2, 2})).defined());
  CHECK(runs.by_program(ones({1, 2})).defined());
}

TEST_CASE("graph: a model that has no program for several shapes looks for no more") {
  Runs runs(places_of_many_rows());
  for (std::int64_t rows = 3; rows < 8; ++rows) CHECK_FALSE(runs.by_program(ones({rows, 2})).defined());
  CHECK_FALSE(runs.by_program(ones({2, 2})).defined());
}

TEST_CASE("graph: a node with a seed is a part of a program, and draws the same numbers in each run") {
  const Tensor logits = rand({3, 5});
  const Proto seed = attribute("seed", 5.0f);
  const ModelFile files[] = {
      ModelFile({node("RandomUniformLike", {"x"}, {"r"}, {seed}), node("RandomNormalLike", {"x"}, {"z"}, {seed}),
                 node("Mul", {"r", "z"}, {"d"}), node("Add", {"d", "x"}, {"y"})},
                {}),
      ModelFile({node("Bernoulli", {"x"}, {"y"}, {seed})}, {}),
      ModelFile({node("Multinomial", {"x"}, {"y"}, {seed, attribute("sample_size", std::int64_t{9})})}, {})};
  for (const ModelFile& file : files) {
    Runs runs(file);
    const std::vector<float> expected = runs.by_nodes(logits).to(DType::f32).to_vector<float>();
    for (int run = 0; run < 3; ++run) {
      const Tensor y = runs.by_program(logits);
      REQUIRE(y.defined());
      CHECK(y.to(DType::f32).to_vector<float>() == expected);
    }
  }
}

TEST_CASE("graph: a Gather with one constant index only looks at another place") {
  const auto file_of = [](std::int64_t index) {
    return ModelFile(
        {node("Gather", {"x", "i"}, {"g"}, {attribute("axis", std::int64_t{1})}), node("Exp", {"g"}, {"y"})},
        {of::raw_tensor<std::int64_t>("i", of::i64, {}, {index})});
  };
  const auto launches_of = [](const onnx::Model& model, const Tensor& input) {
    model({{"x", input}});
    const Profile profile;
    model({{"x", input}});
    Device().synchronize();
    std::int64_t launches = 0;
    for (const ProfileRow& row : profile.rows()) launches += row.launches;
    return launches;
  };
  const Tensor x = randn({4, 3, 5});
  for (const std::int64_t index : {0, 2, -1, -3}) {
    CAPTURE(index);
    onnx::Model model = file_of(index).load();
    check_program(model, x);
    const NoGrad no_grad;
    CHECK(model(x).allclose(exp(x.select(1, index)), 1e-6, 1e-6));
    CHECK(launches_of(model, x) == launches_of(ModelFile({node("Exp", {"x"}, {"y"})}, {}).load(), randn({4, 5})));
  }
  for (const std::int64_t index : {3, -4}) {
    const onnx::Model model = file_of(index).load();
    CHECK(refusal(ErrorCode::invalid_argument, [&] { model({{"x", x}}); }) == doctest::Contains("of 3 elements"));
  }
}
