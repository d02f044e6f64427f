// Recurrent layers from ONNX files: the library's cells, and other cells step by step.
#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/gradcheck.h"
#include "support/onnx_op.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;
using onnx_file::attribute;
using Tensors = std::vector<Tensor>;

namespace {

/// T = 5, B = 3, I = 4, H = 6 in two directions.
struct Problem {
  explicit Problem(std::int64_t gates)
      : x(randn({5, 3, 4})),
        w(randn({2, gates * 6, 4}) * 0.5),
        r(randn({2, gates * 6, 6}) * 0.5),
        b(randn({2, gates * 12}) * 0.5),
        h(randn({2, 3, 6})),
        c(randn({2, 3, 6})) {}

  Tensor x, w, r, b, h, c, lengths = from_vector(std::vector<std::int32_t>{5, 1, 3});
};

}  // namespace

TEST_CASE("onnx: recurrent layers step by step give what the library's cells give") {
  manual_seed(7);
  for (const char* name : {"LSTM", "GRU", "RNN"}) {
    CAPTURE(name);
    const bool is_lstm = std::string(name) == "LSTM", is_gru = std::string(name) == "GRU";
    const Problem p(is_lstm ? 4 : is_gru ? 3 : 1);
    std::vector<std::string> outputs{"y", "h"};
    if (is_lstm) outputs.emplace_back("c");
    std::vector<onnx_file::Proto> attributes{attribute("direction", "bidirectional")};
    if (is_gru) attributes.push_back(number("linear_before_reset", 1));
    Tensors inputs{p.x, p.w, p.r, p.b, p.lengths, p.h};
    if (is_lstm) inputs.push_back(p.c);
    const Tensors by_cell = run_op({name, attributes, 22, "", outputs}, inputs);
    CHECK(by_cell[0].shape() == Shape{5, 2, 3, 6});
    CHECK(nearly(by_cell[0][{Slice(1), 0, 1}], zeros({4, 6})));  // The second sequence has one step.
    CHECK(nearly(by_cell[1][{0, 1}], by_cell[0][{0, 0, 1}]));
    attributes.push_back(attribute("clip", 1000.f));  // Changes nothing, but no cell has it.
    const Tensors by_step = run_op({name, attributes, 22, "", outputs}, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) CHECK_MESSAGE(nearly(by_step[i], by_cell[i]), "output " << i);

    attributes.back() = number("layout", 1);
    Tensors batch_first = inputs;
    for (const std::size_t i : {0, 5, 6})
      if (i < inputs.size()) batch_first[i] = inputs[i].transpose(0, 1);
    const Tensors transposed = run_op({name, attributes, 22, "", outputs}, batch_first);
    CHECK(nearly(transposed[0], by_cell[0].permute({2, 0, 1, 3})));
    CHECK(nearly(transposed[1], by_cell[1].transpose(0, 1)));
  }
}

TEST_CASE("onnx: LSTM follows its formulas, with peepholes and coupled gates") {
  manual_seed(8);
  const Problem p(4);
  const Tensor peepholes = randn({2, 18});
  const auto one = [](const Tensor& t) { return t.narrow(0, 0, 1); };
  const Tensors found =
      run_op({"LSTM",
              {number("input_forget", 1), attribute("clip", 0.75f),
               attribute("activations", std::vector<std::string>{"HardSigmoid", "Affine", "LeakyRelu"}),
               attribute("activation_alpha", std::vector<float>{0.25f, 2, 0.125f}),
               attribute("activation_beta", std::vector<float>{0.375f, 1})},
              22,
              "",
              {"y", "h", "c"}},
             {p.x.narrow(0, 0, 2), one(p.w), one(p.r), one(p.b), Tensor(), one(p.h), one(p.c), one(peepholes)});
  Tensor h = p.h[0], c = p.c[0];
  const Tensor bias = p.b[0][Slice(0, 24)] + p.b[0][Slice(24)];
  const auto gate = [](const Tensor& a, std::int64_t i) { return a[{Ellipsis, Slice(6 * i, 6 * i + 6)}]; };
  const auto sigma = [](const Tensor& a) { return clamp(clamp(a, -0.75, 0.75) * 0.25 + 0.375, 0, 1); };
  for (std::int64_t t = 0; t < 2; ++t) {
    const Tensor a = matmul(p.x[t], p.w[0].t()) + matmul(h, p.r[0].t()) + bias;
    const Tensor i = sigma(gate(a, 0) + gate(peepholes[0], 0) * c);
    c = (1 - i) * c + i * (clamp(gate(a, 3), -0.75, 0.75) * 2.0 + 1.0);
    h = sigma(gate(a, 1) + gate(peepholes[0], 1) * c) * leaky_relu(c, 0.125);
    CHECK(nearly(found[0][{t, 0}], h));
  }
  CHECK(nearly(found[1][0], h));
  CHECK(nearly(found[2][0], c));
}

TEST_CASE("onnx: GRU resets before the product by default") {
  manual_seed(9);
  const Problem p(3);
  const Tensor w = p.w[0], r = p.r[0], h = p.h[0];
  const Tensor found = run_op(
      {"GRU", {attribute("direction", "reverse")}, 22},
      {p.x.narrow(0, 0, 1), p.w.narrow(0, 0, 1), p.r.narrow(0, 0, 1), Tensor(), Tensor(), p.h.narrow(0, 0, 1)})[0];
  const auto gate = [](const Tensor& a, std::int64_t i) { return a[Slice(6 * i, 6 * i + 6)]; };
  const auto sum = [&](std::int64_t i, const Tensor& state) {
    return matmul(p.x[0], gate(w, i).t()) + matmul(state, gate(r, i).t());
  };
  const Tensor z = sigmoid(sum(0, h)), n = tanh(sum(2, sigmoid(sum(1, h)) * h));
  CHECK(nearly(found[{0, 0}], (1 - z) * n + z * h));
  check_gradients(
      [&](const Tensors& in) {
        return run_op({"GRU", {}, 22}, in)[0];
      },
      {p.x.narrow(0, 0, 2), p.w.narrow(0, 0, 1), p.r.narrow(0, 0, 1), p.b.narrow(0, 0, 1)}, {.elements = 3});
  check_gradients(
      [&](const Tensors& in) {
        return run_op({"GRU", {number("linear_before_reset", 1)}, 22}, in)[0];
      },
      {p.x.narrow(0, 0, 2), p.w.narrow(0, 0, 1), p.r.narrow(0, 0, 1), p.b.narrow(0, 0, 1)}, {.elements = 3});
}

TEST_CASE("onnx: a recurrent layer follows its parameters from run to run") {
  namespace of = onnx_file;
  manual_seed(14);
  const Tensor x = randn({3, 2, 4}), r = randn({1, 24, 6});
  Tensor w = randn({1, 24, 4});
  const auto initializer = [](const char* name, const Tensor& t) {
    return of::raw_tensor<float>(name, of::f32, of::Sizes(t.shape().begin(), t.shape().end()), t.to_vector<float>());
  };
  const of::Proto file = of::model(of::graph({.nodes = {of::node("LSTM", {"x", "w", "r"}, {"y"})},
                                              .initializers = {initializer("w", w), initializer("r", r)},
                                              .inputs = {of::value("x", of::f32, {"3", "2", "4"})},
                                              .outputs = {of::value("y", of::f32, {})}}));
  const TemporaryFolder folder;
  write_file(folder.path() + "/lstm.onnx", file.bytes());
  onnx::Model model = onnx::load(folder.path() + "/lstm.onnx");
  const NoGrad no_grad;
  const auto expected = [&] { return run_op({"LSTM", {}, 22}, {x, w, r})[0]; };
  CHECK(nearly(model(x), expected()));
  CHECK(nearly(model(x), expected()));
  w = w * -0.5;
  Tensor parameter = model.named_parameters()["w"];
  parameter.mul_(-0.5);
  CHECK(nearly(model(x), expected()));
  w = randn({1, 24, 4});
  model.load_state_dict({{"w", w}, {"r", r}});
  CHECK(nearly(model(x), expected()));
  onnx::Model copy = nn::clone(model);
  Tensor of_copy = copy.named_parameters()["w"];
  of_copy.zero_();
  CHECK(nearly(model(x), expected()));
  CHECK(!nearly(copy(x), expected()));
}

TEST_CASE("onnx: recurrent layers that are refused") {
  const Problem p(4);
  const Tensors inputs{p.x, p.w, p.r};
  const OnnxOp both{"LSTM", {attribute("direction", "bidirectional")}, 22};
  CHECK(refusal_of_op({"LSTM", {attribute("direction", "up")}, 22}, inputs) == Contains("direction is \"up\""));
  CHECK(refusal_of_op({"LSTM", {attribute("activations", std::vector<std::string>{"Tanh"})}, 22}, inputs) ==
        Contains("1 activations, 3 expected"));
  CHECK(refusal_of_op({"RNN", {attribute("activations", std::vector<std::string>{"Sine"})}, 22}, inputs) ==
        Contains("the activation \"Sine\" is not supported"));
  CHECK(refusal_of_op({"RNN", {attribute("activations", std::vector<std::string>{"Affine"})}, 22}, inputs) ==
        Contains("the activation Affine needs activation_alpha and activation_beta"));
  CHECK(refusal_of_op({"LSTM", {}, 22}, inputs) ==
        Contains("W of shape (2, 24, 4) and R of shape (2, 24, 6) for 1 directions"));
  CHECK(refusal_of_op({"GRU", {}, 22}, inputs) == Contains("3 gates"));
  CHECK(refusal_of_op({"LSTM", {attribute("direction", "bidirectional"), number("hidden_size", 5)}, 22}, inputs) ==
        Contains("hidden_size is 5"));
  CHECK(refusal_of_op(both, {p.x, p.w, p.r, p.b.narrow(1, 0, 8)}) == Contains("B has shape (2, 8), (2, 48) expected"));
  CHECK(refusal_of_op(both, {p.x, p.w, p.r, Tensor(), p.lengths.narrow(0, 0, 2)}) ==
        Contains("sequence_lens has shape (2), (3) expected"));
  CHECK(refusal_of_op({"LSTM", {number("layout", 1)}, 12}, inputs) ==
        Contains("attribute \"layout\" is not supported"));
}

TEST_CASE("onnx: recurrent layers of f16 with stored weights, and of no steps and no samples") {
  manual_seed(8);
  const auto half = [](const char* name, const Tensor& t) {
    return onnx_file::raw_tensor<Half>(name, onnx_file::f16, {t.shape().begin(), t.shape().end()},
                                       t.to(DType::f16).to_vector<Half>());
  };
  for (const char* name : {"LSTM", "GRU", "RNN"}) {
    CAPTURE(name);
    const Problem p(std::string(name) == "LSTM" ? 4 : std::string(name) == "GRU" ? 3 : 1);
    const TemporaryFolder folder;
    const auto sizes = [](const char* value) { return onnx_file::value(value, onnx_file::f16, {"T", "N", "4"}); };
    std::vector<onnx_file::Proto> attributes{attribute("direction", "bidirectional"), number("hidden_size", 6)};
    if (std::string(name) == "GRU") attributes.push_back(number("linear_before_reset", 1));
    write_file(folder.path() + "/net.onnx",
               onnx_file::model(
                   onnx_file::graph({.nodes = {onnx_file::node(name, {"x", "w", "r", "b"}, {"y", "h"}, attributes)},
                                     .initializers = {half("w", p.w), half("r", p.r), half("b", p.b)},
                                     .inputs = {sizes("x")},
                                     .outputs = {onnx_file::value("y", onnx_file::f16, {"T", "2", "N", "6"}),
                                                 onnx_file::value("h", onnx_file::f16, {"2", "N", "6"})}}))
                   .bytes());
    onnx::Model model = onnx::load(folder.path() + "/net.onnx");
    const Tensor expected = run_op({name, attributes, 17}, {p.x, p.w, p.r, p.b})[0];
    const auto check = [&] {
      const Tensor y = model({{"x", p.x.to(DType::f16)}})["y"];
      CHECK(y.dtype() == DType::f16);
      CHECK(allclose(y.to(DType::f32), expected, 1e-2, 4e-3));
      const onnx::Outputs nothing = model({{"x", zeros({0, 3, 4}, DType::f16)}});
      CHECK(nothing["y"].shape() == Shape{0, 2, 3, 6});
      CHECK(nearly(nothing["h"].to(DType::f32), zeros({2, 3, 6})));
      CHECK(model({{"x", zeros({5, 0, 4}, DType::f16)}})["h"].shape() == Shape{2, 0, 6});
    };
    check();
    const NoGrad no_grad;  // The model then runs by a program.
    check();
    check();
  }
  const Tensor h = randn({1, 3, 6}), c = randn({1, 3, 6});
  const Tensors kept = run_op({"LSTM", {}, 22, "", {"y", "h", "c"}},
                              {zeros({0, 3, 4}), zeros({1, 24, 4}), zeros({1, 24, 6}), Tensor(), Tensor(), h, c});
  CHECK(nearly(kept[1], h));
  CHECK(nearly(kept[2], c));
}
