// Models from ONNX files as modules: results, parameters, gradients, and refusals.
#include <cmath>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "onnx/models.h"
#include "onnx/names.h"

using doctest::Contains;

TEST_CASE("onnx::load: an MLP, its parameters and its gradients") {
  manual_seed(1);
  const Tensor w1 = randn({7, 5}), b1 = randn({7}), w2 = randn({3, 7}), b2 = randn({3}), x = randn({4, 5});
  onnx::Model model = loaded(of::model(of::graph(
      {.nodes = {node("Gemm", {"images", "fc1.weight", "fc1.bias"}, {"h"}, {attribute("transB", std::int64_t{1})}),
                 node("Relu", {"h"}, {"r"}),
                 node("Gemm", {"r", "fc2.weight", "fc2.bias"}, {"logits"}, {attribute("transB", std::int64_t{1})})},
       .initializers = {weight("fc1.weight", w1), weight("fc1.bias", b1), weight("fc2.weight", w2),
                        weight("fc2.bias", b2)},
       .inputs = {value("images", of::f32, {"N", "5"})},
       .outputs = {value("logits", of::f32, {"N", "3"})}})));
  const Tensor expected = linear(relu(linear(x, w1, b1)), w2, b2);
  CHECK(same(model({{"images", x}})["logits"], expected));
  CHECK(same(model(x), expected));
  CHECK(model({{"images", randn({9, 5})}})["logits"].shape() == Shape{9, 3});
  CHECK(model.inputs().at(0).shape.at(0).name == "N");
  CHECK(model.outputs().at(0).name == "logits");

  const Tensor others = randn({1300, 5});
  model.prepare({{"images", others}});
  CHECK(model.prepare({{"images", others}}) == 0);  // Its kernels have run.
  CHECK_THROWS_WITH(model.prepare({{"images", randn({4, 6})}}), Contains("\"images\" has shape (4, 6)"));
  {
    const NoGrad no_grad;
    CHECK(same(model({{"images", others}})["logits"], linear(relu(linear(others, w1, b1)), w2, b2)));
  }

  const NamedTensors parameters = model.named_parameters();
  REQUIRE(parameters.size() == 4);
  CHECK(parameters[0].first == "fc1.weight");
  CHECK(parameters[3].first == "fc2.bias");
  CHECK(model.parameter_count() == 7 * 5 + 7 + 3 * 7 + 3);

  nn::Linear fc1(5, 7), fc2(7, 3);
  fc1.weight = w1, fc1.bias = b1, fc2.weight = w2, fc2.bias = b2;
  fc2(relu(fc1(x))).square().sum().backward();
  model(x).square().sum().backward();
  CHECK(same(model.parameter("fc1.weight").grad(), fc1.weight.grad()));
  CHECK(same(model.parameter("fc2.bias").grad(), fc2.bias.grad()));

  optim::SGD optimizer(model.parameters(), 0.01);
  const float before = model(x).square().sum().item();
  optimizer.step();
  CHECK(model(x).square().sum().item() < before);

  onnx::Model copy = nn::clone(model);
  NamedTensors zeroes = model.state_dict();
  for (auto& [name, tensor] : zeroes) tensor = zeros_like(tensor);
  copy.load_state_dict(zeroes);
  CHECK(copy(x).abs().max().item() == 0);
  CHECK(model(x).abs().max().item() > 0);
}

TEST_CASE("onnx::load: a CNN, with statistics as buffers") {
  manual_seed(2);
  const Tensor w = randn({4, 2, 3, 3}), scale = rand({4}), shift = randn({4}), mean = randn({4}), var = rand({4}) + 0.5;
  const Tensor x = randn({2, 2, 9, 7});
  onnx::Model model = loaded(
      of::model(of::graph({.nodes = {node("Conv", {"x", "w"}, {"c"},
                                          {attribute("pads", Sizes{0, 1, 1, 1}), attribute("strides", Sizes{2, 1})}),
                                     node("BatchNormalization", {"c", "bn.scale", "bn.shift", "bn.mean", "bn.var"},
                                          {"b"}, {attribute("epsilon", 1e-3f)}),
                                     node("MaxPool", {"b"}, {"p"}, {attribute("kernel_shape", Sizes{2, 2})}),
                                     node("GlobalAveragePool", {"p"}, {"g"}), node("Flatten", {"g"}, {"y"})},
                           .initializers = {weight("w", w), weight("bn.scale", scale), weight("bn.shift", shift),
                                            weight("bn.mean", mean), weight("bn.var", var)},
                           .inputs = {value("x", of::f32, {"N", "2", "", ""})},
                           .outputs = {value("y", of::f32, {"N", "4"})}})));
  const Tensor padded = pad(x, {{1, 1}, {0, 1}});
  const Tensor c = conv2d(padded, w, Tensor(), {.stride = {2, 1}});
  const Tensor b = batch_norm2d(c, scale, shift, mean, var, {.training = false, .epsilon = 1e-3f});
  const Tensor y = max_pool2d(b, {.kernel = 2, .stride = 1}).mean({2, 3});
  CHECK(same(model({{"x", x}})["y"], y));
  CHECK(model.named_parameters().size() == 3);
  REQUIRE(model.named_buffers().size() == 2);
  CHECK(model.named_buffers()[0].first == "bn.mean");
  CHECK(model.state_dict().size() == 5);
  CHECK(same(model.eval()(x), y));
  CHECK(model({{"x", randn({1, 2, 5, 6})}})["y"].shape() == Shape{1, 4});
}

TEST_CASE("onnx::load: shapes are computed on the host") {
  // x.view(x.size(0), -1) as PyTorch writes it, and sums of sizes.
  const Proto file = of::model(
      of::graph({.nodes = {node("Shape", {"x"}, {"s"}),
                           node("Constant", {}, {"zero"},
                                {of::tensor_attribute("value", of::raw_tensor<std::int64_t>("", of::i64, {}, {0}))}),
                           node("Gather", {"s", "zero"}, {"n"}), node("Unsqueeze", {"n", "axes"}, {"n1"}),
                           node("Mul", {"n1", "two"}, {"n2"}),
                           node("Concat", {"n2", "rest"}, {"to"}, {attribute("axis", std::int64_t{0})}),
                           node("Reshape", {"x", "to"}, {"y"})},
                 .initializers = {numbers("axes", {0}), numbers("two", {2}), numbers("rest", {-1})},
                 .inputs = {value("x", of::f32, {"N", "", ""})},
                 .outputs = {value("y", of::f32, {}), value("n1", of::i64, {"1"})}}));
  onnx::Model model = loaded(file);
  const onnx::Outputs outputs = model({{"x", randn({3, 4, 2})}});
  CHECK(outputs["y"].shape() == Shape{6, 4});
  CHECK(outputs["n1"].to_vector<std::int64_t>() == std::vector<std::int64_t>{3});
  CHECK(outputs.tensors().size() == 2);
  CHECK(model.parameters().empty());
}

TEST_CASE("onnx::load: functions are inlined, with attributes of the call or their defaults") {
  const Proto function =
      Proto()
          .text(1, "Leaky")
          .text(4, "a")
          .text(5, "b")
          .message(11, attribute("slope", 0.5f))
          .message(7, node("LeakyRelu", {"a"}, {"t"}, {Proto().text(1, "alpha").text(21, "slope").integer(20, 1)}))
          .message(7, node("Neg", {"t"}, {"b"}))
          .message(9, of::operator_set("", 16))
          .text(10, "mine");
  const auto with = [&](const std::vector<Proto>& attributes) {
    return one_node(node("Leaky", {"x"}, {"y"}, attributes, "mine"))
        .message(25, function)
        .message(8, of::operator_set("mine", 1));
  };
  const Tensor x = from_vector(std::vector<float>{-2, 4});
  CHECK(same(result(with({}), x), from_vector(std::vector<float>{1, -4})));
  CHECK(same(result(with({attribute("slope", 0.25f)}), x), from_vector(std::vector<float>{0.5f, -4})));
}

TEST_CASE("onnx::load: ops follow the version of their set") {
  const Tensor x = from_vector(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2});
  CHECK(same(result(one_node(node("Softmax", {"x"}, {"y"}), {}, 13), x), softmax(x, -1)));
  CHECK(same(result(one_node(node("Softmax", {"x"}, {"y"}), {}, 11), x),
             softmax(x.reshape({2, 4}), 1).reshape({2, 2, 2})));
  CHECK(
      result(one_node(node("Squeeze", {"x"}, {"y"}, {attribute("axes", Sizes{0})}), {}, 12), x.unsqueeze(0)).shape() ==
      x.shape());
  CHECK(result(one_node(node("Squeeze", {"x", "axes"}, {"y"}), {numbers("axes", {-1})}), x.unsqueeze(3)).shape() ==
        x.shape());
  CHECK(same(result(one_node(node("Clip", {"x"}, {"y"}, {attribute("max", 3.f)}), {}, 10), x), clamp(x, -100, 3)));
  CHECK(
      same(result(one_node(node("Clip", {"x", "", "top"}, {"y"}), {of::raw_tensor<float>("top", of::f32, {}, {3})}), x),
           clamp(x, -100, 3)));
  CHECK(same(
      result(one_node(node("PRelu", {"x", "slope"}, {"y"}), {of::raw_tensor<float>("slope", of::f32, {2}, {2, 3})}),
             -x),
      -x * from_vector(std::vector<float>{2, 3})));
  const Proto pair = of::raw_tensor<float>("pair", of::f32, {2}, {10, 20});
  CHECK(same(result(one_node(node("Add", {"x", "pair"}, {"y"},
                                  {attribute("broadcast", std::int64_t{1}), attribute("axis", std::int64_t{1})}),
                             {pair}, 6),
                    x),
             x + from_vector(std::vector<float>{10, 20}, {2, 1})));
  CHECK(same(result(one_node(node("PRelu", {"x", "pair"}, {"y"}), {pair}, 6), -x),
             -x * from_vector(std::vector<float>{10, 20}, {2, 1})));
  CHECK(refusal(ErrorCode::invalid_argument, [&] {
          result(one_node(node("Add", {"x", "pair"}, {"y"}), {pair}, 6), x);
        }) == Contains("operands of shapes (2, 2, 2) and (2) without broadcast"));
  CHECK(refused(one_node(node("Resize", {"x", "x"}, {"y"}), {}, 9)) ==
        Contains("Resize of version 9 (versions 10, 11 to 28 are supported): \"#0\""));
}

TEST_CASE("onnx::load: windows with padding by auto_pad, and of rows") {
  const Tensor x = randn({1, 2, 5, 6}), w = randn({3, 2, 3, 2});
  const auto conv = [&](const char* how) {
    return one_node(node("Conv", {"x", "w"}, {"y"}, {attribute("auto_pad", how), attribute("strides", Sizes{2, 1})}),
                    {weight("w", w)});
  };
  CHECK(same(result(conv("SAME_UPPER"), x), conv2d(pad(x, {{0, 1}, {1, 1}}), w, Tensor(), {.stride = {2, 1}})));
  CHECK(same(result(conv("SAME_LOWER"), x), conv2d(pad(x, {{1, 0}, {1, 1}}), w, Tensor(), {.stride = {2, 1}})));
  CHECK(same(result(conv("VALID"), x), conv2d(x, w, Tensor(), {.stride = {2, 1}})));
  const Tensor row = randn({2, 2, 8}), v = randn({3, 2, 3});
  CHECK(same(result(one_node(node("Conv", {"x", "w"}, {"y"}, {attribute("pads", Sizes{1, 1})}), {weight("w", v)}), row),
             conv2d(row.unsqueeze(2), v.unsqueeze(2), Tensor(), {.padding = {0, 1}}).squeeze(2)));
  const Proto average = one_node(node("AveragePool", {"x"}, {"y"},
                                      {attribute("kernel_shape", Sizes{2, 2}), attribute("pads", Sizes{0, 0, 1, 1})}));
  const Tensor sums = avg_pool2d(pad(x, {{0, 1}, {0, 1}}), {.kernel = 2, .stride = 1});
  const Tensor counts = avg_pool2d(pad(ones({1, 1, 5, 6}), {{0, 1}, {0, 1}}), {.kernel = 2, .stride = 1});
  CHECK(same(result(average, x), sums / counts));
}

TEST_CASE("onnx::load: parts, reductions and normalisations") {
  const Tensor x = randn({4, 5, 6});
  const auto slice = [&](const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& ends,
                         const std::vector<std::int64_t>& axes, const std::vector<std::int64_t>& steps) {
    return result(one_node(node("Slice", {"x", "a", "b", "c", "d"}, {"y"}),
                           {numbers("a", starts), numbers("b", ends), numbers("c", axes), numbers("d", steps)}),
                  x);
  };
  CHECK(same(slice({1}, {INT64_MAX}, {0}, {1}), x[Slice(1)]));
  CHECK(same(slice({-1}, {INT64_MIN}, {2}, {-2}), x[{Ellipsis, Slice({}, {}, -2)}]));
  // Backward from before the first element, ONNX starts at the first one, where Python takes none.
  CHECK(same(slice({-7}, {INT64_MIN}, {-1}, {-1}), x[{Ellipsis, Slice(0, 1)}]));
  CHECK(slice({-7}, {0}, {-1}, {-2}).numel() == 0);
  CHECK(same(slice({0, 4}, {10, 1}, {1, -1}, {3, -1}), x[{Slice(), Slice(0, 10, 3), Slice(4, 1, -1)}]));
  CHECK(slice({3}, {2}, {0}, {1}).shape() == Shape{0, 5, 6});
  CHECK(refusal(ErrorCode::invalid_argument, [&] { slice({1}, {2}, {0}, {0}); }) == Contains("a step is 0"));

  const Tensor scale = randn({6}), bias = randn({6});
  const std::vector<Proto> parameters{weight("scale", scale), weight("bias", bias)};
  CHECK(same(result(one_node(node("LayerNormalization", {"x", "scale", "bias"}, {"y"}), parameters), x),
             layer_norm(x, 6, scale, bias)));
  CHECK(same(result(one_node(node("LayerNormalization", {"x", "scale"}, {"y"}), parameters), x),
             layer_norm(x, 6, scale)));
  CHECK(same(result(one_node(node("ReduceL2", {"x"}, {"y"}, {attribute("axes", Sizes{-1})}), {}, 13), x),
             x.norm(2, -1, true)));
  CHECK(same(result(one_node(node("ReduceSum", {"x", "axes"}, {"y"}, {attribute("keepdims", std::int64_t{0})}),
                             {numbers("axes", {0, 2})}),
                    x),
             x.sum({0, 2})));
  CHECK(same(result(one_node(node("Pad", {"x", "pads"}, {"y"}), {numbers("pads", {0, 1, 0, 0, 0, 2})}), x),
             pad(x, {{0, 2}, {1, 0}})));
  const auto padded = [&](const char* mode, const std::vector<std::int64_t>& pads) {
    return result(one_node(node("Pad", {"x", "pads"}, {"y"}, {attribute("mode", mode)}), {numbers("pads", pads)}, 19),
                  from_vector(std::vector<float>{1, 2, 3}))
        .to_vector<float>();
  };
  using Floats = std::vector<float>;
  CHECK(padded("edge", {2, 1}) == Floats{1, 1, 1, 2, 3, 3});
  CHECK(padded("reflect", {2, 3}) == Floats{3, 2, 1, 2, 3, 2, 1, 2});
  CHECK(padded("wrap", {4, 1}) == Floats{3, 1, 2, 3, 1, 2, 3, 1});
  CHECK(padded("reflect", {-1, 1}) == Floats{2, 3, 2});
  CHECK(padded("edge", {-1, -2}).empty());
  CHECK(refusal(ErrorCode::invalid_argument, [&] {
          padded("edge", {-2, -2});
        }) == Contains("(-2, -2) cuts off 4 elements"));
  CHECK(refused(one_node(node("Pad", {"x", "x"}, {"y"}, {attribute("mode", "wrap")}), {}, 18)) ==
        Contains("mode is \"wrap\"; supported are: constant, reflect, edge"));
  CHECK(same(
      result(one_node(node("Pad", {"x"}, {"y"}, {attribute("pads", Sizes{1, 0, 0, 0, 0, 0}), attribute("value", 2.f)}),
                      {}, 2),
             x),
      pad(x, {{0, 0}, {0, 0}, {1, 0}}, 2)));

  const Proto filled = of::model(
      of::graph({.nodes = {node("Shape", {"x"}, {"s"}),
                           node("ConstantOfShape", {"s"}, {"y"},
                                {of::tensor_attribute("value", of::raw_tensor<float>("", of::f32, {1}, {7}))})},
                 .inputs = {value("x", of::f32, {"", "", ""})},
                 .outputs = {value("y", of::f32, {})}}));
  CHECK(same(result(filled, x), full({4, 5, 6}, 7)));
  const Tensor ties = from_vector(std::vector<float>{3, 1, 3, 2});
  const auto place = [&](std::int64_t last) {
    return result(one_node(node("ArgMax", {"x"}, {"y"}, {attribute("select_last_index", last)})), ties).item<int>();
  };
  CHECK(place(0) == 0);
  CHECK(place(1) == 2);

  onnx::Model parts = loaded(
      of::model(of::graph({.nodes = {node("Split", {"x", "sizes"}, {"a", "b"}, {attribute("axis", std::int64_t{1})})},
                           .initializers = {numbers("sizes", {2, 3})},
                           .inputs = {value("x", of::f32, {"4", "5", "6"})},
                           .outputs = {value("a", of::f32, {}), value("b", of::f32, {})}})));
  const onnx::Outputs found = parts({{"x", x}});
  CHECK(same(found["a"], x.narrow(1, 0, 2)));
  CHECK(same(found["b"], x.narrow(1, 2, 3)));
  CHECK(refused(of::model(of::graph({.nodes = {node("Split", {"x"}, {})}, .inputs = {value("x", of::f32, {"4"})}}))) ==
        Contains("Split: there are no outputs: \"#0\""));
}

TEST_CASE("onnx::load: everything that is not supported is listed") {
  const Proto branch = of::graph({.nodes = {node("StringConcat", {"x"}, {"z"})}, .outputs = {value("z", of::f32, {})}});
  const Proto file =
      of::model(of::graph({.nodes = {node("StringConcat", {"x"}, {"a"}).text(3, "first"),
                                     node("StringConcat", {"x"}, {"b"}).text(3, "second\033"),
                                     node("If", {"x"}, {"c"}, {of::graph_attribute("then_branch", branch)}),
                                     node("MoE", {"x"}, {"d"}, {}, "com.microsoft"),
                                     node("Relu", {"x"}, {"e"}, {attribute("axis", std::int64_t{1})}),
                                     node("LpPool", {"x"}, {"f", "g"}, {attribute("kernel_shape", Sizes{2, 2})}),
                                     node("Relu", {"e"}, {"y"})},
                           .initializers = {of::raw_tensor<double>("w", 14, {1}, {1})},
                           .inputs = {value("x", of::f32, {}), value("s", of::c64, {})},
                           .outputs = {value("y", of::f32, {})}}));
  const doctest::String text = refused(file);
  for (const char* line :
       {"net.onnx: the model has what is not supported:\n",
        "\n  StringConcat of version 17: \"first\", \"second?\", \"main/#0\"\n",
        "\n  If: attribute else_branch is missing: \"#2\"", "\n  com.microsoft.MoE of no imported version: \"#3\"",
        "\n  Relu: attribute \"axis\" is not supported: \"#4\"", "\n  LpPool: output 1 is not supported: \"#5\"",
        "\n  an initializer: elements of c64 are not supported: \"w\"",
        "\n  an input: elements of c64 are not supported: \"s\""})
    CHECK(text == Contains(line));
}

TEST_CASE("onnx::load: graphs that contradict themselves are refused") {
  const auto broken = [](const Proto& file) { return refused(file, ErrorCode::io); };
  CHECK(broken(one_node(node("Relu", {"z"}, {"y"}))) ==
        Contains(R"(node "#0" uses the value "z", which nothing before it makes)"));
  CHECK(broken(one_node(node("Relu", {"x"}, {"z"}))) == Contains(R"(the graph's output uses the value "y")"));
  CHECK(broken(one_node(node("Relu", {"x"}, {"x"}))) == Contains(R"(the value "x" has two sources)"));

  const auto function = [](const char* name, const char* callee) {
    Proto f;
    f.text(1, name).text(4, "a").text(5, "b").text(10, "mine").message(9, of::operator_set("mine", 1));
    f.message(7, node(callee, {"a"}, {"t"}, {}, "mine")).message(7, node(callee, {"t"}, {"b"}, {}, "mine"));
    return f;
  };
  const Proto call = one_node(node("F0", {"x"}, {"y"}, {}, "mine"));
  CHECK(broken(Proto(call).message(25, function("F0", "F0"))) ==
        Contains("functions call each other more than 50 deep"));
  Proto laughs = call;
  for (int i = 0; i < 40; ++i)
    laughs.message(25, function(("F" + std::to_string(i)).c_str(), ("F" + std::to_string(i + 1)).c_str()));
  laughs.message(25, Proto().text(1, "F40").text(4, "a").text(5, "a").text(10, "mine"));
  CHECK(broken(laughs) == Contains("the model has more than 1000000 nodes"));
}

TEST_CASE("onnx::Model: inputs are checked, and nodes are named in refusals") {
  onnx::Model model =
      loaded(of::model(of::graph({.nodes = {node("Add", {"a", "b"}, {"y"}).text(3, "sum")},
                                  .inputs = {value("a", of::f32, {"N", "2"}), value("b", of::f32, {"N", ""})},
                                  .outputs = {value("y", of::f32, {})}})));
  CHECK(loaded(of::model(of::graph({.nodes = {node("Neg", {"a"}, {"y"})},
                                    .inputs = {value("a", of::f32, {"?", "?"})},
                                    .outputs = {value("y", of::f32, {"?"})}})))({{"a", ones({3, 2})}})["y"]
            .shape() == Shape{3, 2});
  const Tensor a = ones({3, 2});
  const auto refusal_of = [&](const NamedTensors& inputs) {
    return refusal(ErrorCode::invalid_argument, [&] { model(inputs); });
  };
  CHECK(same(model({{"b", a}, {"a", a}})["y"], a * 2));
  CHECK(refusal_of({{"a", a}}) == "[onnx] input \"b\" is missing");
  CHECK(refusal_of({{"a", a}, {"a", a}}) == "[onnx] input \"a\" is given twice");
  CHECK(refusal_of({{"c", a}}) == "[onnx] the model has no input \"c\"");
  CHECK(refusal_of({{"a", a.to(DType::i64)}}) == "[onnx] input \"a\" has elements of i64, f32 expected");
  CHECK(refusal_of({{"a", ones({3, 4})}}) == "[onnx] input \"a\" has shape (3, 4), (N, 2) expected");
  CHECK(refusal_of({{"a", a}, {"b", ones({2, 2})}}) == "[onnx] input \"b\" has shape (2, 2), and \"N\" is 3 already");
  CHECK(refusal_of({{"a", Tensor()}}) == "[onnx] input \"a\" is undefined");
  CHECK(refusal_of({{"a", a}, {"b", ones({3, 5})}}) == Contains("[onnx] node \"sum\" (Add): [add] "));
  CHECK(refusal(ErrorCode::invalid_argument, [&] { model(a); }) ==
        "[onnx] the model has 2 inputs: call it with their names");
  CHECK(refusal(ErrorCode::invalid_argument, [&] {
          model({{"b", a}, {"a", a}})["z"];
        }) == "[onnx] there is no output \"z\"; there are: \"y\"");
}

TEST_CASE("onnx: names of weights in a module") {
  using Names = std::vector<std::string>;
  CHECK(onnx::module_names({"conv1.weight", "a/b:0", "x"}) == Names{"conv1.weight", "a/b:0", "x"});
  CHECK(onnx::module_names({"a.b", "a", "a"}) == Names{"a.b", "a_2", "a_3"});
  CHECK(onnx::module_names({"a..b", ".c", "", "d."}) == Names{"a__b", "_c", "_", "d_"});
  CHECK(onnx::module_names({"a.b.c", "a.b"}) == Names{"a.b.c", "a_b"});
}
