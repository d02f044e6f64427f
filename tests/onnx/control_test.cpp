// Conditions, loops, sequences and optional values in ONNX models.
#include <cmath>

#include "onnx/models.h"
#include "onnx/ops/control/loop_limit.h"
#include "support/gradcheck.h"

using doctest::Contains;

namespace {

Proto body(const std::string& name, const of::GraphParts& parts) { return of::graph_attribute(name, of::graph(parts)); }

/// A value without a type, as graphs within nodes may have them.
Proto open(const std::string& name) { return Proto().text(1, name); }

Proto sequence_type(int element) {
  return Proto().message(4, Proto().message(1, Proto().message(1, Proto().integer(1, element))));
}

Proto boolean(const std::string& name, bool value) {
  return of::raw_tensor<std::uint8_t>(name, of::boolean, {}, {static_cast<std::uint8_t>(value ? 1 : 0)});
}

/// y = x w if `condition` is true, and x + b otherwise; w and b are initializers of the branches.
Proto choice(const Tensor& w, const Tensor& b) {
  return of::model(of::graph({.nodes = {node("If", {"condition"}, {"y"},
                                             {body("then_branch", {.nodes = {node("MatMul", {"x", "w"}, {"p"})},
                                                                   .initializers = {weight("w", w)},
                                                                   .outputs = {open("p")}}),
                                              body("else_branch", {.nodes = {node("Add", {"x", "b"}, {"s"})},
                                                                   .initializers = {weight("b", b)},
                                                                   .outputs = {open("s")}})})},
                              .inputs = {value("condition", of::boolean, {}), value("x", of::f32, {"N", "3"})},
                              .outputs = {value("y", of::f32, {"N", "3"})}}));
}

/// The body of a loop that multiplies "v" by `factor` of the graph around it, and also gives each product.
of::GraphParts powers() {
  return {.nodes = {node("Identity", {"go"}, {"goes"}), node("Mul", {"v", "factor"}, {"product"}),
                    node("Identity", {"product"}, {"row"})},
          .inputs = {open("i"), open("go"), open("v")},
          .outputs = {open("goes"), open("product"), open("row")}};
}

Proto loop(const of::GraphParts& parts, const std::vector<std::string>& inputs,
           const std::vector<Proto>& initializers) {
  return of::model(of::graph({.nodes = {node("Loop", inputs, {"last", "rows"}, {body("body", parts)}).text(3, "loop")},
                              .initializers = initializers,
                              .inputs = {value("x", of::f32, {"3"})},
                              .outputs = {value("last", of::f32, {"3"}), value("rows", of::f32, {"", "3"})}}));
}

}  // namespace

TEST_CASE("onnx: a condition runs one branch, whose weights are parameters of the model") {
  manual_seed(1);
  const Tensor w = randn({3, 3}), b = randn({3}), x = randn({2, 3});
  onnx::Model model = loaded(choice(w, b));
  const Tensor yes = full({}, 1, DType::boolean), no = full({}, 0, DType::boolean);
  CHECK(same(model({{"condition", yes}, {"x", x}})["y"], matmul(x, w)));
  CHECK(same(model({{"condition", no}, {"x", x}})["y"], x + b));
  REQUIRE(model.named_parameters().size() == 2);
  model({{"condition", yes}, {"x", x}})["y"].sum().backward();
  CHECK(same(model.parameter("w").grad(), matmul(x.t(), ones({2, 3}))));
  CHECK(!model.parameter("b").grad().defined());
}

TEST_CASE("onnx: a condition in a condition sees the values of both graphs around it") {
  const auto inner = [](const char* first, const char* second) {
    return node("If", {"b"}, {"r"},
                {body("then_branch", {.nodes = {node("Add", {first, "x"}, {"p"})}, .outputs = {open("p")}}),
                 body("else_branch", {.nodes = {node("Sub", {second, "x"}, {"p"})}, .outputs = {open("p")}})});
  };
  onnx::Model model = loaded(of::model(of::graph(
      {.nodes = {node(
           "If", {"a"}, {"y"},
           {body("then_branch", {.nodes = {node("Neg", {"x"}, {"t"}), node("Mul", {"t", "x"}, {"u"}), inner("t", "u")},
                                 .outputs = {open("r")}}),
            body("else_branch", {.nodes = {node("Exp", {"x"}, {"t"}), inner("t", "t")}, .outputs = {open("r")}})})},
       .inputs = {value("a", of::boolean, {}), value("b", of::boolean, {}), value("x", of::f32, {"4"})},
       .outputs = {value("y", of::f32, {"4"})}})));
  const Tensor x = randn({4});
  const auto y = [&](int a, int b) {
    return model({{"a", full({}, a, DType::boolean)}, {"b", full({}, b, DType::boolean)}, {"x", x}})["y"];
  };
  CHECK(same(y(1, 1), -x + x));
  CHECK(same(y(1, 0), -x * x - x));
  CHECK(same(y(0, 1), exp(x) + x));
  CHECK(same(y(0, 0), exp(x) - x));
}

TEST_CASE("onnx: a loop hands values on, joins rows, and gradients flow through it") {
  const std::vector<Proto> initializers{stored_number("n", 5), boolean("yes", true), weight("factor", full({3}, 0.5)),
                                        stored_number("zero", 0)};
  onnx::Model model = loaded(loop(powers(), {"n", "yes", "x"}, initializers));
  Tensor x = from_vector(std::vector<float>{1, 2, -4}).requires_grad_();
  const onnx::Outputs y = model({{"x", x}});
  CHECK(same(y["last"], x * std::pow(0.5, 5)));
  CHECK(y["rows"].shape() == Shape{5, 3});
  CHECK(same(y["rows"][3], x * std::pow(0.5, 4)));
  (y["last"].sum() + y["rows"].sum()).backward();
  // The sum of 0.5^k for k from 1 to 5, and 0.5^5 once more.
  CHECK(same(x.grad(), full({3}, 1 - std::pow(0.5, 5) + std::pow(0.5, 5))));
  CHECK(model.parameter("factor").grad().defined());

  const onnx::Outputs none = loaded(loop(powers(), {"zero", "yes", "x"}, initializers))({{"x", x}});
  CHECK(same(none["last"], x));
  CHECK(none["rows"].shape() == Shape{0, 3});
}

TEST_CASE("onnx: a loop without a count ends by its condition, and runs a thousand times") {
  of::GraphParts parts = powers();
  parts.nodes[0] = node("Less", {"i", "last_i"}, {"goes"});
  const std::vector<Proto> initializers{stored_number("last_i", 999), weight("factor", full({3}, 1.001))};
  onnx::Model model = loaded(loop(parts, {"", "", "x"}, initializers));
  const NoGrad no_grad;
  const onnx::Outputs y = model({{"x", ones({3})}});
  CHECK(y["rows"].shape() == Shape{1000, 3});
  CHECK(y["last"].allclose(full({3}, std::pow(1.001, 1000)), 1e-3, 0));
}

TEST_CASE("onnx: a loop without an end is refused after a limit of iterations") {
  const Tensor x = ones({3});
  const onnx::LoopLimit limit(50);
  of::GraphParts parts = powers();
  parts.nodes[0] = node("LessOrEqual", {"i", "last_i"}, {"goes"});
  const auto run = [&](std::int64_t last) {
    const onnx::Outputs y = loaded(
        loop(parts, {"", "", "x"}, {stored_number("last_i", last - 2), weight("factor", full({3}, 1.0))}))({{"x", x}});
    return y["rows"].size(0);
  };
  CHECK(run(50) == 50);
  CHECK(run(50) == 50);  // Each run counts anew.
  CHECK(refusal(ErrorCode::invalid_argument, [&] { run(51); }) ==
        Contains("a loop and the loops within it run more than 50 iterations"));
  CHECK(run(50) == 50);
}

TEST_CASE("onnx: Scan runs along any axes, in both directions") {
  const Tensor x = randn({2, 4, 3}), start = randn({2, 3});
  const auto scan = [&](const std::vector<Proto>& attributes) {
    std::vector<Proto> all{
        body("body", {.nodes = {node("Add", {"s", "row"}, {"sum"}), node("Mul", {"sum", "row"}, {"product"})},
                      .inputs = {open("s"), open("row")},
                      .outputs = {open("sum"), open("product")}}),
        attribute("num_scan_inputs", std::int64_t{1})};
    all.insert(all.end(), attributes.begin(), attributes.end());
    return of::model(of::graph({.nodes = {node("Scan", {"start", "x"}, {"last", "rows"}, all)},
                                .inputs = {value("start", of::f32, {"2", "3"}), value("x", of::f32, {"2", "", "3"})},
                                .outputs = {value("last", of::f32, {}), value("rows", of::f32, {})}}));
  };
  const onnx::Outputs y = loaded(scan({attribute("scan_input_axes", Sizes{1}),
                                       attribute("scan_output_axes", Sizes{-1})}))({{"start", start}, {"x", x}});
  CHECK(same(y["last"], start + x.sum(1)));
  REQUIRE(y["rows"].shape() == Shape{2, 3, 4});
  CHECK(same(y["rows"].select(2, 1), (start + x.select(1, 0) + x.select(1, 1)) * x.select(1, 1)));

  const onnx::Outputs z =
      loaded(scan({attribute("scan_input_axes", Sizes{1}), attribute("scan_input_directions", Sizes{1}),
                   attribute("scan_output_directions", Sizes{1})}))({{"start", start}, {"x", x}});
  CHECK(same(z["rows"].select(0, 3), (start + x.select(1, 3)) * x.select(1, 3)));
  CHECK(refused(scan({attribute("scan_input_axes", Sizes{3})})) == Contains("Scan: axis 3 of 3 axes"));
  CHECK(refused(scan({attribute("scan_input_axes", Sizes{0, 1})})) ==
        Contains("Scan: scan_input_axes has 2 numbers, 1 expected"));
}

TEST_CASE("onnx: gradients of Scan") {
  onnx::Model model = loaded(of::model(of::graph(
      {.nodes = {node(
           "Scan", {"s", "x"}, {"last", "rows"},
           {body("body", {.nodes = {node("Mul", {"state", "row"}, {"product"}), node("Tanh", {"product"}, {"next"})},
                          .inputs = {open("state"), open("row")},
                          .outputs = {open("next"), open("product")}}),
            attribute("num_scan_inputs", std::int64_t{1})})},
       .inputs = {value("s", of::f32, {"2"}), value("x", of::f32, {"", "2"})},
       .outputs = {value("last", of::f32, {}), value("rows", of::f32, {})}})));
  check_gradients(
      [&](const std::vector<Tensor>& in) {
        const onnx::Outputs y = model({{"s", in[0]}, {"x", in[1]}});
        return cat({y["last"], y["rows"].reshape({6})}, 0);
      },
      {randn({2}), randn({3, 2})});
}

TEST_CASE("onnx: sequences are built, cut, mapped and joined") {
  const std::vector<Proto> initializers{stored_number("one", 1), stored_number("two", 2), stored_number("last", -1)};
  const Proto file = of::model(of::graph(
      {.nodes = {node("SplitToSequence", {"x", "two"}, {"parts"}, {attribute("axis", std::int64_t{1})}),
                 node("SequenceInsert", {"parts", "x", "one"}, {"longer"}),
                 node("SequenceErase", {"longer", "last"}, {"s"}),
                 node("SequenceMap", {"s", "x"}, {"halves", "sums"},
                      {body("body", {.nodes = {node("Mul", {"e", "half"}, {"h"}), node("ReduceSum", {"whole"}, {"t"})},
                                     .initializers = {of::raw_tensor<float>("half", of::f32, {}, {0.5f})},
                                     .inputs = {open("e"), open("whole")},
                                     .outputs = {open("h"), open("t")}})}),
                 node("SequenceLength", {"halves"}, {"length"}), node("SequenceAt", {"halves", "last"}, {"at"}),
                 node("ConcatFromSequence", {"halves"}, {"joined"}, {attribute("axis", std::int64_t{1})})},
       .initializers = initializers,
       .inputs = {value("x", of::f32, {"2", ""})},
       .outputs = {value("halves", sequence_type(of::f32)), value("length", of::i64, {}), value("at", of::f32, {}),
                   value("joined", of::f32, {})}}));
  const Tensor x = randn({2, 5});
  onnx::Model model = loaded(file);
  const onnx::Outputs y = model({{"x", x}});
  const std::vector<Tensor> halves = y.sequence("halves");
  REQUIRE(halves.size() == 3);
  CHECK(same(halves[0], x.narrow(1, 0, 2) * 0.5));
  CHECK(same(halves[1], x * 0.5));
  CHECK(y["length"].item<int>() == 3);
  CHECK(same(y["at"], x.narrow(1, 2, 2) * 0.5));
  CHECK(same(y["joined"], cat(halves, 1)));
  CHECK(y.tensors().size() == 6);
  CHECK(refusal(ErrorCode::invalid_argument, [&] { y["halves"]; }) ==
        "[onnx] output \"halves\" has 3 tensors: it is a sequence or optional, take it by sequence()");
  CHECK(model.outputs()[0].type == "sequence(f32)");
}

TEST_CASE("onnx: inputs may be sequences and optional, and may be left out") {
  const Proto optional_type = Proto().message(9, Proto().message(1, of::tensor_type(of::f32, {"2"})));
  onnx::Model model = loaded(of::model(of::graph(
      {.nodes = {node("OptionalHasElement", {"o"}, {"has"}), node("SequenceLength", {"s"}, {"length"})},
       .inputs = {value("o", optional_type), value("s", sequence_type(of::f32))},
       .outputs = {value("has", of::boolean, {}), value("length", of::i64, {}), value("o", optional_type)}})));
  const Tensor x = ones({2});
  const onnx::Outputs all = model({{"s", x}, {"o", x}, {"s", ones({3, 1})}});
  CHECK(all["has"].item<int>() == 1);
  CHECK(all["length"].item<int>() == 2);
  CHECK(same(all["o"], x));
  const onnx::Outputs none = model(NamedTensors{});
  CHECK(none["has"].item<int>() == 0);
  CHECK(none["length"].item<int>() == 0);
  CHECK(none.sequence("o").empty());
  CHECK(refusal(ErrorCode::invalid_argument, [&] { none["o"]; }) == Contains("output \"o\" has 0 tensors"));
  CHECK(refusal(ErrorCode::invalid_argument, [&] {
          model({{"o", x}, {"o", x}});
        }) == "[onnx] input \"o\" is given twice");
  CHECK(refusal(ErrorCode::invalid_argument, [&] {
          model({{"s", zeros({1}, DType::i64)}});
        }) == "[onnx] input \"s\" has elements of i64, f32 expected");
}

TEST_CASE("onnx: graphs within nodes that do not fit are refused when the model is loaded") {
  const auto model = [](const Proto& node) {
    return of::model(of::graph(
        {.nodes = {node},
         .inputs = {value("c", of::boolean, {}), value("x", of::f32, {"3"}), value("s", sequence_type(of::f32))},
         .outputs = {value("y", of::f32, {})}}));
  };
  const of::GraphParts relu{.nodes = {node("Relu", {"x"}, {"r"})}, .outputs = {open("r")}};
  const of::GraphParts sequence{.nodes = {node("SequenceConstruct", {"x"}, {"r"})}, .outputs = {open("r")}};
  of::GraphParts unknown = relu;
  unknown.nodes = {node("Relu", {"x"}, {"t"}), node("Mystery", {"t"}, {"r"}).text(3, "m")};
  unknown.name = "inner";
  of::GraphParts with_input = relu;
  with_input.inputs = {open("i")};
  const auto branches = [&](const of::GraphParts& yes, const of::GraphParts& no,
                            const std::vector<std::string>& y = {"y"}) {
    return refused(model(node("If", {"c"}, y, {body("then_branch", yes), body("else_branch", no)})));
  };
  CHECK(branches(relu, unknown) == Contains("Mystery of version 17: \"inner/m\""));
  CHECK(branches(relu, sequence) ==
        Contains("If: output 0 is a sequence in one place, and a tensor in another: \"#0\""));
  CHECK(branches(relu, with_input) == Contains("If: the graph of attribute else_branch has 1 inputs, 0 expected"));
  CHECK(branches(relu, relu, {"y", "z"}) == Contains("If: 2 outputs, the branches give 1 and 1"));
  CHECK(refused(model(node("If", {"c"}, {"y"}, {body("then_branch", relu)}))) ==
        Contains("If: attribute else_branch is missing"));
  CHECK(refused(model(node("Loop", {"", "c", "x"}, {"y"}, {body("body", relu)}))) ==
        Contains("Loop: the graph of attribute body has 0 inputs, 3 expected"));
  CHECK(refused(model(node("Relu", {"s"}, {"y"}))) == Contains("Relu: input 0 is a sequence, a tensor expected"));
  CHECK(refused(model(node("SequenceAt", {"x", "x"}, {"y"}))) ==
        Contains("SequenceAt: input 0 is a tensor, a sequence expected"));
  of::GraphParts hidden = relu;
  hidden.nodes = {node("Relu", {"not_there"}, {"r"})};
  CHECK(refused(model(node("If", {"c"}, {"y"}, {body("then_branch", relu), body("else_branch", hidden)})),
                ErrorCode::io) == Contains("uses the value \"main/not_there\", which nothing before it makes"));
}

TEST_CASE("onnx: element types and numbers of axes are known through the graph, and checked when it is loaded") {
  const auto text = [](const std::vector<Proto>& nodes) {
    return refused(of::model(of::graph({.nodes = nodes,
                                        .initializers = {numbers("axes", {0}), weight("w", ones({2, 2}))},
                                        .inputs = {value("x", of::i64, {"N", "2"})},
                                        .outputs = {value("y", of::f32, {})}})));
  };
  CHECK(text({node("Neg", {"x"}, {"a"}), node("Sqrt", {"a"}, {"y"}).text(3, "root")}) ==
        Contains("Sqrt: input 0 of i64 is not supported, f32, f16, f64 or bf16 is: \"root\""));
  CHECK(text({node("Cast", {"x"}, {"a"}, {attribute("to", std::int64_t{1})}), node("Softmax", {"a"}, {"b"}),
              node("Concat", {"b", "b"}, {"y"}, {attribute("axis", std::int64_t{2})})}) ==
        Contains("Concat: axis 2 of 2 axes"));
  CHECK(text({node("Shape", {"x"}, {"a"}), node("MatMul", {"a", "w"}, {"y"})}) ==
        Contains("MatMul: factors of i64 and f32"));
  CHECK(text({node("Shape", {"x"}, {"a"}), node("Sqrt", {"a"}, {"y"})}) ==
        Contains("Sqrt: input 0 of i64 is not supported"));
  CHECK(text({node("Equal", {"x", "x"}, {"a"}), node("Softmax", {"a"}, {"y"})}) ==
        Contains("Softmax: input 0 of bool is not supported"));
  CHECK(
      text({node("Cast", {"x"}, {"a"}, {attribute("to", std::int64_t{1})}), node("GlobalAveragePool", {"a"}, {"y"})}) ==
      Contains("GlobalAveragePool: input 0 with 2 axes is not supported, at least 3 expected"));
}

TEST_CASE("onnx: rows of no iterations have the sizes that an iteration would give") {
  const auto graph = [](std::vector<Proto> nodes, std::vector<Proto> inputs, std::vector<Proto> outputs) {
    return of::graph(
        {.nodes = std::move(nodes), .inputs = std::move(inputs), .outputs = std::move(outputs), .name = "body"});
  };
  const Proto body = graph({node("Identity", {"c"}, {"co"}), node("Add", {"v", "v"}, {"vo"}),
                            node("Concat", {"vo", "v"}, {"row"}, {attribute("axis", std::int64_t{0})})},
                           {value("i", of::i64, {}), value("c", of::boolean, {}), value("v", of::f32, {"K"})},
                           {value("co", of::boolean, {}), value("vo", of::f32, {"K"}), value("row", of::f32, {"L"})});
  const Proto loop =
      of::model(of::graph({.nodes = {node("Loop", {"n", "", "x"}, {"v", "rows"}, {of::graph_attribute("body", body)})},
                           .inputs = {value("n", of::i64, {}), value("x", of::f32, {"K"})},
                           .outputs = {value("rows", of::f32, {"", ""})}}));
  onnx::Model model = loaded(loop);
  const auto rows = [&](std::int64_t n) {
    return model({{"n", from_vector(std::vector<std::int64_t>{n}, Shape())}, {"x", ones({3})}})["rows"].shape();
  };
  CHECK(rows(0) == Shape{0, 6});
  CHECK(rows(2) == Shape{2, 6});
  {
    const NoGrad no_grad;
    CHECK(rows(0) == Shape{0, 6});
  }
  const Proto step = graph({node("Add", {"s", "x"}, {"so"}), node("Unsqueeze", {"x", "last"}, {"row"})},
                           {value("s", of::f32, {"3"}), value("x", of::f32, {"3"})},
                           {value("so", of::f32, {"3"}), value("row", of::f32, {"3", "1"})});
  const Proto scan = of::model(
      of::graph({.nodes = {node("Scan", {"s", "x"}, {"t", "rows"},
                                {of::graph_attribute("body", step), attribute("num_scan_inputs", std::int64_t{1})})},
                 .initializers = {numbers("last", {1})},
                 .inputs = {value("s", of::f32, {"3"}), value("x", of::f32, {"T", "3"})},
                 .outputs = {value("rows", of::f32, {"", "", ""})}}));
  CHECK(loaded(scan)({{"s", ones({3})}, {"x", zeros({0, 3})}})["rows"].shape() == Shape{0, 3, 1});
}
