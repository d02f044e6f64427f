// Which inputs have programs.
#include <cmath>
#include <limits>

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

std::int64_t launches_of(const onnx::Model& model, const Tensor& x) {
  const NoGrad no_grad;
  model({{"x", x}});
  const Profile profile;
  model({{"x", x}});
  Device().synchronize();
  std::int64_t launches = 0;
  for (const ProfileRow& row : profile.rows()) launches += row.launches;
  return launches;
}

/// -x if the input "s" is 2, and otherwise exp(x).
onnx::Model negative_for_two() {
  return loaded(of::model(of::graph(
      {.nodes = {node("Equal", {"s", "two"}, {"c"}), node("If", {"c"}, {"y"},
                                                          {branch("then_branch", node("Neg", {"x"}, {"r"})),
                                                           branch("else_branch", node("Exp", {"x"}, {"r"}))})},
       .initializers = {stored_number("two", 2)},
       .inputs = {value("x", of::f32, {"N"}), value("s", of::i64, {})},
       .outputs = {value("y", Proto().message(1, Proto().integer(1, of::f32)))}})));
}

/// The places of numbers that are not 0 if x has more than two rows, and otherwise its sign.
ModelFile places_of_many_rows() {
  return ModelFile(
      {node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"n"}), node("Greater", {"n", "two"}, {"many"}),
       node("If", {"many"}, {"y"},
            {branch("then_branch", node("NonZero", {"x"}, {"r"})), branch("else_branch", node("Sign", {"x"}, {"r"}))})},
      {stored_number("zero", 0), stored_number("two", 2)});
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
    // The last bits may differ, because a compiler may contract the product and the sum of a program's kernel.
    const Tensor expected = runs.by_nodes(logits).to(DType::f32);
    std::vector<float> first;
    for (int run = 0; run < 3; ++run) {
      const Tensor y = runs.by_program(logits);
      REQUIRE(y.defined());
      CHECK(y.to(DType::f32).allclose(expected, 1e-6, 1e-6));
      if (run == 0) first = y.to(DType::f32).to_vector<float>();
      CHECK(y.to(DType::f32).to_vector<float>() == first);
    }
  }
}

TEST_CASE("graph: a Gather with one constant index only looks at another place") {
  const auto file_of = [](std::int64_t index) {
    return ModelFile(
        {node("Gather", {"x", "i"}, {"g"}, {attribute("axis", std::int64_t{1})}), node("Exp", {"g"}, {"y"})},
        {of::raw_tensor<std::int64_t>("i", of::i64, {}, {index})});
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

TEST_CASE("graph: of an If on a constant the nodes of one branch are left") {
  const auto then_branch = branch("then_branch", node("If", {"yes"}, {"r"},
                                                      {branch("then_branch", node("Relu", {"x"}, {"r"})),
                                                       branch("else_branch", node("NonZero", {"x"}, {"r"}))}));
  const ModelFile file(
      {node("If", {"yes"}, {"b"}, {then_branch, branch("else_branch", node("Identity", {"x"}, {"r"}))}),
       node("Conv", {"b", "w"}, {"y"})},
      {of::raw_tensor<std::uint8_t>("yes", of::boolean, {}, {1}), weight("w", randn({4, 3, 1, 1}))});
  onnx::Model model = file.load();
  const Tensor x = randn({2, 3, 5, 7});
  const std::string nodes = model.optimized({{"x", x}});
  CHECK(nodes.find("Relu") != std::string::npos);
  CHECK(nodes.find("If") == std::string::npos);
  check_program(model, x);
}

TEST_CASE("graph: an input that decides about a branch has programs for its first few numbers") {
  const onnx::Model model = negative_for_two();
  const NoGrad no_grad;
  const Tensor x = randn({6});
  const auto check = [&](const Tensor& s) {
    CAPTURE(s.item<std::int64_t>());
    CHECK(model({{"x", x}, {"s", s}})["y"].allclose(s.item<std::int64_t>() == 2 ? -x : exp(x), 1e-6, 1e-6));
  };
  const auto number_of = [](std::int64_t n) { return from_vector(std::vector<std::int64_t>{n}, Shape(), DType::i64); };
  Tensor s = number_of(2);
  check(s);
  check(s);
  CHECK(model.optimized({{"x", x}, {"s", s}}).find("Neg") != std::string::npos);
  s.copy_from(number_of(3));  // The same tensor, with another number.
  check(s);
  CHECK(model.optimized({{"x", x}, {"s", s}}).find("Exp") != std::string::npos);
  for (std::int64_t n = 4; n < 9; ++n) check(number_of(n));
  CHECK(model.optimized({{"x", x}, {"s", number_of(9)}}).rfind("no program", 0) == 0);
  check(number_of(2));
  CHECK(model.optimized({{"x", x}, {"s", number_of(2)}}).rfind("pass", 0) == 0);
}

TEST_CASE("graph: a reduction of single elements only changes the shape") {
  for (const char* op : {"ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"})
    for (const std::int64_t keeps : {0, 1}) {
      CAPTURE(op);
      const auto file_of = [&](std::int64_t axis) {
        const Proto attributes = attribute("keepdims", keeps);
        if (std::string(op) == "ReduceSum")
          return ModelFile({node(op, {"x", "a"}, {"r"}, {attributes}), node("Exp", {"r"}, {"y"})},
                           {of::raw_tensor<std::int64_t>("a", of::i64, {1}, {axis})});
        return ModelFile(
            {node(op, {"x"}, {"r"}, {attributes, attribute("axes", Sizes{axis})}), node("Exp", {"r"}, {"y"})}, {});
      };
      const Tensor x = randn({3, 1, 5});
      onnx::Model model = file_of(1).load();
      check_program(model, x);
      CHECK(file_of(1).changes(x)["remove_identities"] == 1);
      CHECK(file_of(2).changes(x)["remove_identities"] == 0);
    }
}

TEST_CASE("graph: powers become products only where every base keeps its value") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> bases{-0.0f, 0, inf, -inf, nan, -3, 2.5f, -1e-13f, 1e13f, 1e18f, 1, -1, 0.3f};
  const Tensor x = from_vector(bases).unsqueeze(0);
  struct Exponent {
    double number;
    std::string pass;
  };
  for (const Exponent& exponent :
       {Exponent{2, "simplify_powers"}, Exponent{3, "simplify_powers"}, Exponent{-1, "simplify_powers"},
        Exponent{1, "remove_identities"}, Exponent{0.5, ""}, Exponent{-2, ""}}) {
    const std::string& pass = exponent.pass;
    CAPTURE(exponent.number);
    // The second number has one axis more than x, so the result has another shape.
    const auto file_of = [&](const Shape& shape) {
      return ModelFile({node("Pow", {"x", "e"}, {"p"}), node("Neg", {"p"}, {"y"})},
                       {weight("e", full(shape, exponent.number))});
    };
    std::map<std::string, std::size_t> changes = file_of({}).changes(x), others = file_of({1, 1, 1}).changes(x);
    CHECK(changes["simplify_powers"] == (pass == "simplify_powers" ? 1 : 0));
    CHECK(changes["remove_identities"] == (pass == "remove_identities" ? 1 : 0));
    CHECK(others["simplify_powers"] + others["remove_identities"] == 0);
    onnx::Model model = file_of({}).load();
    const NoGrad no_grad;
    const std::vector<float> found = model(x).to_vector<float>();
    for (std::size_t i = 0; i < bases.size(); ++i) {
      CAPTURE(bases[i]);
      const float expected = static_cast<float>(-std::pow(double{bases[i]}, exponent.number));
      if (std::isnan(expected)) {
        CHECK(std::isnan(found[i]));
      } else if (expected == 0 || std::isinf(expected)) {
        CHECK(found[i] == expected);
        CHECK(std::signbit(found[i]) == std::signbit(expected));
      } else {
        CHECK(found[i] == doctest::Approx(expected).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("graph: sums with 0 and products with 1 are left out") {
  const Tensor x = randn({2, 3});
  struct Operation {
    const char* op;
    double number;
    bool both_ways;
  };
  for (const Operation& of :
       {Operation{"Add", 0, true}, Operation{"Mul", 1, true}, Operation{"Sub", 0, false}, Operation{"Div", 1, false}})
    for (const bool first : {false, true}) {
      CAPTURE(of.op);
      CAPTURE(first);
      const std::vector<std::string> inputs =
          first ? std::vector<std::string>{"n", "x"} : std::vector<std::string>{"x", "n"};
      const auto file_of = [&](double shift) {
        return ModelFile({node(of.op, inputs, {"o"}), node("Exp", {"o"}, {"y"})},
                         {weight("n", full({}, of.number + shift))});
      };
      CHECK(file_of(0).changes(x)["remove_identities"] == (first && !of.both_ways ? 0 : 1));
      CHECK(file_of(1).changes(x)["remove_identities"] == 0);
      onnx::Model model = file_of(0).load();
      check_program(model, x);
    }
}

TEST_CASE("graph: a number that counts for nothing is not computed") {
  // As an exporter keeps an input: whole numbers times 0 are added to a result.
  const onnx::Model model = loaded(of::model(
      of::graph({.nodes = {node("Mul", {"n", "zero"}, {"m"}),
                           node("Cast", {"m"}, {"f"}, {attribute("to", std::int64_t{of::f32})}),
                           node("Exp", {"x"}, {"e"}), node("Add", {"f", "e"}, {"s"}), node("Neg", {"s"}, {"y"})},
                 .initializers = {stored_number("zero", 0)},
                 .inputs = {value("x", of::f32, {"N"}), value("n", of::i64, {})},
                 .outputs = {value("y", Proto().message(1, Proto().integer(1, of::f32)))}})));
  const Tensor x = randn({6});
  for (const std::int64_t n : {5, 7}) {
    const NoGrad no_grad;
    const Tensor number = from_vector(std::vector<std::int64_t>{n}, Shape(), DType::i64);
    CHECK(model({{"x", x}, {"n", number}})["y"].allclose(-exp(x), 1e-5, 1e-6));
    const std::string nodes = model.optimized({{"x", x}, {"n", number}});
    CHECK(nodes.find("Mul") == std::string::npos);
    CHECK(nodes.find("Add") == std::string::npos);
  }
}

TEST_CASE("graph: a transpose that ends moved ones beside one that stays") {
  const std::vector<Proto> turn{attribute("perm", Sizes{1, 0})};
  ModelFile file(
      {node("Transpose", {"x"}, {"t"}, turn), node("Relu", {"t"}, {"r"}), node("Transpose", {"r"}, {"b"}, turn),
       node("Transpose", {"x"}, {"u"}, turn), node("Add", {"b", "u"}, {"y"})},
      {});
  onnx::Model model = file.load();
  check_program(model, randn({5, 5}));
}

TEST_CASE("graph: a small result computes single numbers for each element") {
  const ModelFile file({node("ReduceMax", {"x"}, {"m"}, {attribute("keepdims", std::int64_t{0})}),
                        node("Cast", {"m"}, {"i"}, {attribute("to", std::int64_t{of::i64})}),
                        node("Cast", {"i"}, {"f"}, {attribute("to", std::int64_t{of::f32})}), node("Exp", {"f"}, {"e"}),
                        node("Mul", {"x", "e"}, {"y"})},
                       {});
  onnx::Model model = file.load();
  for (const auto& [rows, joined] : {std::pair{5, 2}, std::pair{5000, 1}}) {
    const Tensor x = randn({rows, 3});
    CHECK(file.changes(x)["fuse_elements"] == static_cast<std::size_t>(joined));
    check_program(model, x);
  }
}

TEST_CASE("graph: a convolution over one axis computes what follows") {
  const std::vector<Proto> weights{weight("w", randn({4, 3, 3})), weight("row", randn({7})),
                                   weight("column", randn({4, 1}))};
  const Tensor x = randn({2, 3, 9});
  const auto activated = [](const Proto& w) {
    return ModelFile({node("Conv", {"x", "w"}, {"c"}), node("Relu", {"c"}, {"y"})}, {w}).load();
  };
  onnx::Model model = activated(weights[0]);
  check_program(model, x);
  CHECK(launches_of(model, x) == launches_of(activated(weight("w", randn({4, 3, 1, 3}))), x.unsqueeze(2)));
  for (const char* other : {"row", "column"}) {
    CAPTURE(other);
    onnx::Model sum = ModelFile({node("Conv", {"x", "w"}, {"c"}), node("Add", {"c", other}, {"y"})}, weights).load();
    check_program(sum, x);
  }
}
