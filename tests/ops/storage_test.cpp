// Kernels read and store f16 and bf16 as they are, and compute in f32: for each variant, the result is the reference's,
// rounded once.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "crisol/autograd.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/dropout.h"
#include "crisol/functions/loss.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/rnn.h"
#include "crisol/fuse.h"
#include "crisol/nn/conv.h"
#include "crisol/nn/norm.h"
#include "crisol/nn/sequential.h"
#include "crisol/ops/optimizer.h"
#include "crisol/ops/vision.h"
#include "crisol/random.h"
#include "crisol/tuning.h"
#include "doctest/doctest.h"
#include "ops/attention/attention.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/vision/resample.h"
#include "rerun/rerun.h"
#include "support/compare.h"
#include "support/forced.h"
#include "tensor/kernel_args.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

/// The type of the running test's tensors.
DType half = DType::f16;

// clang-format off
#define EACH_HALF                            \
  SUBCASE("f16") { half = DType::f16; }      \
  SUBCASE("bf16") { half = DType::bf16; }
// clang-format on

constexpr const char* problems[] = {
    "softmax rows=5 length=67 step=1",
    "softmax rows=10 length=33 step=2",
    "softmax rows=5 length=3 step=1",
    "softmax_backward rows=5 length=67 step=1",
    "log_softmax rows=5 length=67 step=1",
    "log_softmax_backward rows=5 length=67 step=1",
    "layer_norm rows=5 length=67 step=1",
    "layer_norm_backward rows=5 length=67 step=1",
    "layer_norm_backward rows=5 length=3 step=1",
    "batch_norm2d images=3 channels=5 spatial=35",
    "batch_norm2d images=3 channels=5 spatial=36",
    "batch_norm2d_backward images=3 channels=5 spatial=35",
    "batch_norm2d_backward images=3 channels=5 spatial=36",
    "cross_entropy rows=5 length=67 step=1",
    "cross_entropy_backward rows=5 length=67 step=1",
    "mse_loss rows=1 length=667 step=1",
    "mse_loss_backward rows=1 length=667 step=1",
    "max_pool2d planes=3 h=21 w=40 out_h=11 out_w=20 r=3 s=3 stride_h=2 stride_w=2 pad_h=1 pad_w=1 dil_h=1 dil_w=1",
    "max_pool2d_backward planes=3 h=21 w=40 out_h=11 out_w=20 r=3 s=3 stride_h=2 stride_w=2 pad_h=1 pad_w=1 dil_h=1 "
    "dil_w=1",
    "avg_pool2d planes=3 h=21 w=40 out_h=21 out_w=40 r=3 s=3 stride_h=1 stride_w=1 pad_h=1 pad_w=1 dil_h=1 dil_w=1",
    "avg_pool2d_backward planes=3 h=21 w=40 out_h=11 out_w=20 r=3 s=3 stride_h=2 stride_w=2 pad_h=1 pad_w=1 dil_h=1 "
    "dil_w=1",
    "max_pool2d_blocks planes=3 h=9 w=8 out_h=5 out_w=4 r=3 s=3 stride_h=2 stride_w=2 pad_h=1 pad_w=1 dil_h=1 dil_w=1 "
    "block=8 include_pad=0",
    // Channels in blocks: the weights are f32, and so is what is between two convolutions.
    "conv2d_blocks n=2 c=21 h=9 w=17 k=35 r=3 s=3 stride_h=1 stride_w=1 pad_h=1 pad_w=1 dil_h=1 dil_w=1 out_h=9 "
    "out_w=17 block_in=8 block=8 kind=0",
    "conv2d_blocks n=2 c=3 h=11 w=23 k=35 r=7 s=7 stride_h=2 stride_w=2 pad_h=3 pad_w=3 dil_h=1 dil_w=1 out_h=6 "
    "out_w=12 block_in=1 block=16 kind=0",
    "conv2d_blocks n=1 c=33 h=7 w=5 k=20 r=1 s=1 stride_h=1 stride_w=1 pad_h=0 pad_w=0 dil_h=1 dil_w=1 out_h=7 "
    "out_w=5 block_in=16 block=16 kind=0",
    "conv2d_blocks n=2 c=21 h=9 w=17 k=21 r=5 s=3 stride_h=2 stride_w=2 pad_h=2 pad_w=1 dil_h=1 dil_w=2 out_h=5 "
    "out_w=8 block_in=8 block=8 kind=1",
    "conv2d_separable n=2 c=21 h=19 w=17 k=35 r=3 s=3 stride_h=1 stride_w=1 pad_h=1 pad_w=1 dil_h=1 dil_w=1 out_h=19 "
    "out_w=17 block=8",
    "adaptive_avg_pool2d planes=3 h=21 w=40 out_h=7 out_w=9",
    "adaptive_avg_pool2d_backward planes=3 h=21 w=40 out_h=7 out_w=9",
};

// The parameters of norms, and running statistics, may have the type of the elements.
constexpr const char* norms[] = {
    "layer_norm rows=5 length=67 step=1",          "layer_norm rows=5 length=3 step=1",
    "layer_norm_backward rows=5 length=67 step=1", "batch_norm2d images=3 channels=5 spatial=35",
    "batch_norm2d images=3 channels=5 spatial=36", "batch_norm2d_backward images=3 channels=5 spatial=36",
};

// `cell` is a number of RnnCell.
constexpr const char* recurrent[] = {
    "rnn_forward cell=0 reverse=0 t=3 b=5 i=11 h=13 outputs=13 padded=0",
    "rnn_forward cell=1 reverse=1 t=3 b=2 i=3 h=37 outputs=37 padded=0",
    "rnn_forward cell=2 reverse=0 t=6 b=9 i=11 h=32 outputs=32 padded=0",
    "rnn_forward cell=3 reverse=1 t=2 b=3 i=11 h=13 outputs=13 padded=0",
    "rnn_backward cell=0 reverse=0 t=3 b=5 i=11 h=13 outputs=13 padded=0",
    "rnn_backward cell=1 reverse=1 t=3 b=2 i=3 h=37 outputs=37 padded=0",
    "rnn_backward cell=2 reverse=0 t=6 b=9 i=11 h=32 outputs=32 padded=0",
    "rnn_backward cell=3 reverse=1 t=2 b=3 i=11 h=13 outputs=13 padded=0",
};

// Sums are f32, and are rounded at the end.
constexpr const char* scattered[] = {
    "index_add outer=3 size=5 inner=37 picked=70 slices=1 dtype=0",
    "scatter_add outer=2 size=5 inner=37 picked=41 slices=0 dtype=0",
    "index_reduce outer=2 size=3 inner=5 picked=13 slices=1 dtype=0 kind=1",
};

// The types of C, A and B are in three bytes.
constexpr const char* products[] = {
    "matmul m=13 n=40 k=67 batch=1 transa=0 transb=0 transc=0 weight=0 precision=0",
    "matmul m=13 n=43 k=1201 batch=3 transa=1 transb=0 transc=0 weight=0 precision=0",
    "matmul m=37 n=17 k=1201 batch=1 transa=0 transb=1 transc=0 weight=0 precision=0",
    "matmul m=5 n=100 k=67 batch=1 transa=0 transb=1 transc=0 weight=1 precision=0",
    "matmul m=50 n=100 k=1201 batch=1 transa=0 transb=1 transc=0 weight=1 precision=0",
};

/// Half of the distance between an element of the type and the next one.
double rounding_of(DType dtype, double value) {
  if (dtype == DType::f32) return 0;
  const int exponent = value == 0 ? 0 : std::max(std::ilogb(value), dtype == DType::f16 ? -14 : -126);
  return std::ldexp(epsilon_of(dtype), exponent - 1);
}

void check_rounded(const Tensor& y, const std::vector<double>& expected, reference::Tolerance tolerance) {
  const std::vector<double> actual = reference::values_of(y);
  REQUIRE(actual.size() == expected.size());
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  const double error = tolerance.factor * epsilon_of(DType::f32) * (tolerance.scale == 0 ? largest : tolerance.scale);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double allowed = error + rounding_of(y.dtype(), std::abs(expected[i]) + error);
    if (std::abs(actual[i] - expected[i]) <= allowed) continue;
    FAIL_CHECK("element ", i, " is ", actual[i], ", expected ", expected[i], " within ", allowed);
    return;
  }
}

/// The half in each of the first `count` bytes of a number.
std::string number_of(int count) {
  std::int64_t number = 0;
  for (int i = 0; i < count; ++i) number = number << 8 | static_cast<std::int64_t>(half);
  return std::to_string(number);
}

std::vector<std::string> variants_of(const rerun::Rerun& rerun, const std::string& op) {
  const ProblemLog log;
  rerun.run();
  std::vector<std::string> variants;
  for (const TuningProblem& met : log.problems())
    for (const TuningCandidate& candidate : met.candidates)
      if (met.op == op && candidate.refusal.empty() && candidate.variant.find('/') == std::string::npos)
        variants.push_back(candidate.variant);
  return variants;
}

void check_variants(const std::string& text) {
  CAPTURE(text);
  const rerun::Problem problem = rerun::parse_problem(text);
  const std::optional<rerun::Rerun> rerun = rerun::rerun_of(problem);
  REQUIRE(rerun.has_value());
  const std::vector<std::vector<double>> expected = rerun->reference();
  const std::vector<std::string> variants = variants_of(*rerun, problem.op);
  CHECK(!variants.empty());
  for (const std::string& variant : variants) {
    CAPTURE(variant);
    CHECK(run_variant(problem.op, variant, [&] {
      const std::vector<Tensor> results = rerun->run();
      REQUIRE(results.size() == expected.size());
      for (std::size_t i = 0; i < results.size(); ++i)
        check_rounded(results[i], expected[i], rerun->tolerance(variant));
    }));
  }
}

/// The problems with `count` types that are halves. bf16 takes turns, because it goes where f16 goes.
template <std::size_t n>
void check_problems(const char* const (&problems)[n], int count) {
  for (std::size_t i = 0; i < n; i += half == DType::f16 ? 1 : 4)
    check_variants(std::string(problems[i]) + " types=" + number_of(count));
}

/// The elements of a result that was computed with f16 in memory are those of f32, rounded.
void check_same(const Tensor& of_halves, const Tensor& of_floats) {
  CHECK(of_halves.dtype() == half);
  CHECK(of_floats.dtype() == DType::f32);
  CHECK(reference::values_of(of_halves) == reference::values_of(of_floats.to(half)));
}

/// The same, up to sums in another order.
void check_near(const Tensor& of_halves, const Tensor& of_floats, double roundings = 0) {
  CHECK(of_halves.dtype() == half);
  CHECK(of_floats.dtype() == DType::f32);
  check_rounded(of_halves, reference::values_of(of_floats),
                {64 + roundings * epsilon_of(half) / epsilon_of(DType::f32)});
}

Tensor halves(std::uint64_t seed, const Shape& shape) {
  return tensor_of(random_values(seed, shape.numel()), shape, half);
}

}  // namespace

TEST_CASE("storage: halves in memory, f32 in registers") {
  EACH_HALF
  check_problems(problems, 1);
  check_problems(products, 3);
  check_problems(norms, 2);
  check_problems(scattered, 1);
}

TEST_CASE("storage: recurrent layers keep their states in f32") {
  EACH_HALF
  check_problems(recurrent, 1);
  // Lengths and a projection: the padding of x holds NaN, and no gradient sees it.
  for (const RnnCell cell : {RnnCell::lstm, RnnCell::gru}) {
    const std::int64_t gates = gates_of(cell) * 12, outputs = cell == RnnCell::lstm ? 5 : 12;
    std::vector<double> x = random_values(1, 4 * 3 * 7);
    for (std::size_t i = 2 * 3 * 7; i < x.size(); ++i)
      if (i / 7 % 3 == 1) x[i] = std::numeric_limits<double>::quiet_NaN();
    const auto results = [&](DType dtype) {
      const auto leaf = [dtype](std::uint64_t seed, const Shape& shape) {
        return halves(seed, shape).to(dtype).requires_grad_();
      };
      const Tensor in = tensor_of(x, {4, 3, 7}, half).to(dtype).requires_grad_();
      const Tensor h0 = leaf(2, {3, outputs}), c0 = cell == RnnCell::lstm ? leaf(3, {3, 12}) : Tensor();
      const RnnWeights w{leaf(4, {gates, 7}), leaf(5, {gates, outputs}), leaf(6, {gates}), leaf(7, {gates}),
                         cell == RnnCell::lstm ? leaf(8, {outputs, 12}) : Tensor()};
      const RnnOutput out = rnn({in, h0, c0, from_vector(std::vector<std::int64_t>{4, 2, 3})}, w, {cell, false});
      std::vector<Tensor> all =
          grad({out.y, out.h_n}, {in, h0, w.weight_ih, w.weight_hh, w.bias_ih, w.bias_hh},
               {.grad_outputs = {halves(9, out.y.shape()).to(dtype), halves(10, out.h_n.shape()).to(dtype)}});
      all.push_back(out.y.detach());
      all.push_back(out.h_n.detach());
      return all;
    };
    const std::vector<Tensor> of_halves = results(half), of_floats = results(DType::f32);
    for (std::size_t i = 0; i < of_halves.size(); ++i) check_near(of_halves[i], of_floats[i]);
  }
}

TEST_CASE("storage: resizing and sampling of halves have the bits of f32, rounded") {
  EACH_HALF
  ops::AxisWeights weights;
  weights.size = 7;
  for (int j = 0; j < 9; ++j) {
    weights.add(j / 2, 0.25);
    weights.add(j / 2 + 1, 0.75);
    weights.end();
  }
  for (const Shape& shape : {Shape{3, 7, 37}, Shape{3, 5, 7}})
    for (const char* const variant : {"lines", "rows", "elements"}) {
      CAPTURE(std::string(variant));
      const Tensor x = halves(1, shape);
      const int axis = shape[1] == 7 ? 1 : 2;
      run_variant("resample", variant,
                  [&] { check_same(ops::resample(x, axis, weights), ops::resample(x.to(DType::f32), axis, weights)); });
    }
  for (const Shape& shape : {Shape{2, 3, 5, 7}, Shape{2, 3, 4, 5, 6}}) {
    CAPTURE(shape);
    Shape places = shape;
    places[1] = 3;
    for (int i = 2; i < shape.rank(); ++i) places[i - 1] = 3;
    places[shape.rank() - 1] = shape.rank() - 2;
    const Tensor x = halves(1, shape), grid = tensor_of(random_values(2, places.numel()), places);
    const Tensor y = ops::grid_sample(x, grid), dy = halves(3, y.shape());
    const Tensor wide = x.to(DType::f32), dy_wide = dy.to(DType::f32);
    check_same(y, ops::grid_sample(wide, grid));
    check_same(ops::grid_sample_backward(dy, grid, shape), ops::grid_sample_backward(dy_wide, grid, shape));
    // A sum over channels, which a compiler may contract in another way in another program.
    check_close(ops::grid_sample_backward_grid(dy, x, grid), places,
                reference::values_of(ops::grid_sample_backward_grid(dy_wide, wide, grid)), {64});
  }
}

TEST_CASE("storage: attention of halves has the bits of f32, rounded") {
  EACH_HALF
  for (const Shape& shape : {Shape{2, 3, 13, 20}, Shape{1, 2, 40, 16}})
    for (const bool causal : {false, true})
      for (const char* const variant : {"rows", "tiles"}) {
        if (half != DType::f16 && (causal || shape[0] == 1)) continue;
        CAPTURE(shape);
        CAPTURE(std::string(variant));
        const Tensor q = halves(1, shape), k = halves(2, shape), v = halves(3, shape);
        const Tensor bias = tensor_of(random_values(4, shape[2] * shape[2]), {shape[2], shape[2]});
        run_variant("attention", variant, [&] {
          check_same(
              ops::fused_attention({q, k, v, bias, causal, 0.25}, false),
              ops::fused_attention({q.to(DType::f32), k.to(DType::f32), v.to(DType::f32), bias, causal, 0.25}, false));
        });
      }
}

TEST_CASE("storage: optimisers read gradients of halves") {
  EACH_HALF
  const Tensor hyper = ops::make_hyper(Device()), progress = ops::make_progress(Device());
  ops::write_hyper(hyper, 0.01, 0.9);
  ops::advance_step(progress, hyper, 0.99);
  for (const std::int64_t count : {15, 1003}) {
    const Tensor g = halves(1, {count}), start = tensor_of(random_values(2, count), {count});
    // The parameters and two buffers after a step.
    const auto after = [&](const auto& step, const Tensor& gradients) {
      const Tensor p = start.clone(), a = start.abs(), b = start.abs();
      step(p, gradients, a, b);
      return std::array{reference::values_of(p), reference::values_of(a), reference::values_of(b)};
    };
    const auto check = [&](const auto& step) { CHECK(after(step, g) == after(step, g.to(DType::f32))); };
    check([&](const Tensor& p, const Tensor& d, const Tensor& m, const Tensor& v) {
      ops::adam_step(p, d, m, v, Tensor(), hyper, progress, {});
    });
    check(
        [&](const Tensor& p, const Tensor& d, const Tensor& m, const Tensor&) { ops::lion_step(p, d, m, hyper, {}); });
    check([&](const Tensor& p, const Tensor& d, const Tensor& m, const Tensor&) {
      ops::sgd_step(p, d, m, hyper, progress, {});
    });
    check([&](const Tensor& p, const Tensor& d, const Tensor& v, const Tensor& m) {
      ops::rmsprop_step(p, d, v, m, Tensor(), hyper, {});
    });
  }
}

TEST_CASE("storage: convolutions of halves have the bits of f32, rounded") {
  EACH_HALF
  struct Op {
    const char* name;
    const dispatch::Table<ops::Conv2dProblem>& table;
    Shape first, second, result;
    std::vector<const char*> variants;
  };
  struct Case {
    Shape x, weight;
    Conv2dOptions options;
  };
  // CPUs cut the depths of the second case into blocks.
  const Case cases[] = {{{2, 4, 9, 11}, {6, 2, 3, 3}, {.stride = 2, .padding = 1, .groups = 2}},
                        {{3, 64, 18, 19}, {60, 64, 3, 3}, {.padding = 1}},
                        {{2, 6, 9, 11}, {6, 1, 3, 3}, {.stride = 2, .padding = 1, .groups = 6}},
                        {{1, 8, 5, 5}, {40, 8, 3, 3}, {}}};
  for (const auto& [x, w, options] : cases) {
    if (half != DType::f16 && options.groups != 2) continue;  // Other cases have other kernels, but the same loads.
    const ops::Conv2dSizes sizes = ops::conv2d_sizes("conv2d", x, w, options);
    const Shape y = sizes.output_shape();
    const std::vector<Op> all{{"conv2d",
                               ops::conv2d_table,
                               x,
                               w,
                               y,
                               {"cpu_gemm", "matrix", "block", "direct", "winograd", "planes", "few_pixels"}},
                              {"conv2d_backward_data",
                               ops::conv2d_backward_data_table,
                               y,
                               w,
                               x,
                               {"cpu_gemm", "matrix", "block", "direct", "winograd", "planes"}},
                              {"conv2d_backward_weight",
                               ops::conv2d_backward_weight_table,
                               y,
                               x,
                               w,
                               {"cpu_dot", "matrix", "block", "direct", "winograd", "planes"}}};
    for (const Op& op : all)
      for (const char* const variant : op.variants) {
        CAPTURE(std::string(op.name));
        CAPTURE(std::string(variant));
        const auto results = [&](const Tensor& a, const Tensor& b) {
          const Tensor c = full(op.result, 7, a.dtype());
          const ops::Conv2dProblem problem = ops::conv2d_problem(sizes, {&a, &b, &c});
          const dispatch::PreparedPtr prepared = dispatch::prepare(op.table, problem, state_of(c));
          if (std::string(op.name) == "conv2d")
            ops::launch_conv2d(*prepared, a, in(b), Tensor(), c, nullptr);
          else
            dispatch::launch(*prepared, {in(a), in(b), out(c)});
          return c;
        };
        const Tensor a = halves(1, op.first), b = halves(2, op.second);
        const bool ran = run_variant(op.name, variant,
                                     [&] { check_same(results(a, b), results(a.to(DType::f32), b.to(DType::f32))); });
        CHECK((ran || std::string(variant) != "direct"));
      }
  }
}

TEST_CASE("storage: linear and conv2d of halves have the gradients of f32, rounded") {
  EACH_HALF
  const auto check = [](const Shape& x, const Shape& weight, const auto& f) {
    const auto results = [&](DType dtype) {
      Tensor in = halves(1, x).to(dtype), w = halves(2, weight).to(dtype), bias = halves(3, {weight[0]}).to(dtype);
      for (Tensor* const each : {&in, &w, &bias}) each->requires_grad_();
      const Tensor y = f(in, w, bias);
      y.backward(halves(4, y.shape()).to(dtype));
      return std::array{y.detach(), in.grad(), w.grad(), bias.grad()};
    };
    const auto of_halves = results(half), of_floats = results(DType::f32);
    for (std::size_t i = 0; i < of_halves.size(); ++i) check_same(of_halves[i], of_floats[i]);
  };
  check({5, 37}, {11, 37}, [](const Tensor& x, const Tensor& w, const Tensor& b) { return linear(x, w, b); });
  check({2, 4, 9, 11}, {6, 2, 3, 3}, [](const Tensor& x, const Tensor& w, const Tensor& b) {
    return conv2d(x, w, b, {.stride = 2, .padding = 1, .groups = 2});
  });
  // Epilogues run on results of f16.
  const Tensor x = halves(1, {5, 37}), w = halves(2, {11, 37});
  const auto positive = fuse([](const Expr& v) { return relu(v); });
  const Tensor y = linear(x, w, Tensor(), positive.epilogue());
  check_same(y, linear(x.to(DType::f32), w.to(DType::f32)).relu());
  // The kernels read another operand of f16, and do not round the result of the product before.
  const auto gate = fuse([](const Expr& v, const Expr& other) { return sigmoid(v) * other - 0.5; });
  const Tensor other = halves(5, {5, 11}), plane = halves(6, {1, 6, 5, 6});
  check_near(linear(x, w, Tensor(), gate.epilogue(other)),
             linear(x.to(DType::f32), w.to(DType::f32), Tensor(), gate.epilogue(other.to(DType::f32))));
  const Tensor image = halves(7, {1, 4, 5, 6}), filter = halves(8, {6, 4, 3, 3});
  check_near(conv2d(image, filter, Tensor(), {.padding = 1}, gate.epilogue(plane)),
             conv2d(image.to(DType::f32), filter.to(DType::f32), Tensor(), {.padding = 1},
                    gate.epilogue(plane.to(DType::f32))));
  const Tensor wide = w.to(DType::f32);
  check_error([&] { linear(x, wide); }, {"[linear]", "the weight", name_of(half), "f32"});
  check_error(
      [&] {
        conv2d(halves(1, {1, 2, 3, 3}), full({1, 2, 3, 3}, 1));
      },
      {"[conv2d]", "the weight", name_of(half)});
}

TEST_CASE("storage: convolutions of volumes and transposed convolutions of halves") {
  EACH_HALF
  const auto check = [](const Shape& x, const Shape& weight, const auto& f) {
    const auto results = [&](DType dtype) {
      const Tensor in = halves(1, x).to(dtype).requires_grad_(), w = halves(2, weight).to(dtype).requires_grad_();
      const Tensor y = f(in, w);
      y.backward(halves(3, y.shape()).to(dtype));
      return std::array{y.detach(), in.grad(), w.grad()};
    };
    const auto of_halves = results(half), of_floats = results(DType::f32);
    for (std::size_t i = 0; i < of_halves.size(); ++i) check_near(of_halves[i], of_floats[i]);
  };
  check({2, 4, 5, 6, 7}, {6, 2, 3, 2, 3}, [](const Tensor& x, const Tensor& w) {
    return conv3d(x, w, Tensor(), {.stride = {2, 1, 1}, .padding = 1, .groups = 2});
  });
  check({2, 4, 7, 3, 3}, {6, 4, 3, 1, 1}, [](const Tensor& x, const Tensor& w) { return conv3d(x, w); });
  check({2, 4, 11}, {4, 3, 3}, [](const Tensor& x, const Tensor& w) {
    return conv_transpose1d(x, w, Tensor(), {.stride = 2, .padding = 1, .output_padding = 1});
  });
  check({2, 4, 5, 7}, {4, 3, 3, 3},
        [](const Tensor& x, const Tensor& w) { return conv_transpose2d(x, w, Tensor(), {.stride = 2, .groups = 2}); });
  check({1, 4, 3, 4, 5}, {4, 3, 2, 2, 2},
        [](const Tensor& x, const Tensor& w) { return conv_transpose3d(x, w, Tensor(), {.stride = 2}); });
  check_error(
      [&] {
        conv_transpose2d(halves(1, {1, 2, 3, 3}), full({2, 1, 3, 3}, 1));
      },
      {"the weight", name_of(half), "f32"});
}

TEST_CASE("storage: norms of gradients, dropout and losses of halves") {
  EACH_HALF
  for (const std::int64_t count : {15, 1003}) {
    const Tensor g = halves(1, {count}), more = tensor_of(random_values(2, count), {count});
    const Tensor norm = ops::global_norm({g, more}), expected = ops::global_norm({g.to(DType::f32), more});
    CHECK(norm.dtype() == DType::f32);
    check_close(norm, reference::values_of(expected), {4});
    const Tensor scaled = g.clone(), wide = g.to(DType::f32).clone();
    ops::scale_by_clip(scaled, norm, 0.5);
    ops::scale_by_clip(wide, norm, 0.5);
    check_same(scaled, wide);
    // The same words of the generator drop the same elements.
    const auto dropped = [&](DType dtype) {
      const Tensor x = g.to(dtype).clone().requires_grad_();
      Generator generator(7);
      const Tensor y = dropout(x, 0.25, true, generator);
      y.backward(g.to(dtype));
      return std::array{y.detach(), x.grad()};
    };
    const auto of_halves = dropped(half), of_floats = dropped(DType::f32);
    for (std::size_t i = 0; i < of_halves.size(); ++i) check_same(of_halves[i], of_floats[i]);
  }
  // A sum of squares of 2^16 overflows in f16, but not in bf16.
  CHECK((half == DType::f16) == std::isinf(mse_loss(full({4}, 250, half), full({4}, -6, half), Reduction::sum).item()));
  CHECK(mse_loss(full({4}, 3, half), full({4}, 1, half)).item() == 4);
}

TEST_CASE("storage: a module of halves trains like one of f32") {
  EACH_HALF
  const auto results = [](DType dtype) {
    manual_seed(3);
    nn::Sequential net(nn::Conv2d(3, 8, 3, {.bias = false}), nn::BatchNorm2d(8), nn::Conv2d(8, 4, 1));
    net.to(half).to(dtype);
    const Tensor y = net(halves(1, {2, 3, 6, 7}).to(dtype));
    y.backward(halves(2, y.shape()).to(dtype));
    std::vector<Tensor> all{y.detach()};
    for (const Tensor& parameter : net.parameters()) all.push_back(parameter.grad());
    for (const auto& [name, buffer] : net.named_buffers())
      if (is_floating(buffer.dtype())) all.push_back(buffer.detach());
    return all;
  };
  const std::vector<Tensor> of_halves = results(half), of_floats = results(DType::f32);
  REQUIRE(of_halves.size() == of_floats.size());
  for (std::size_t i = 0; i < of_halves.size(); ++i) check_near(of_halves[i], of_floats[i], 8);
  nn::BatchNorm2d norm(2);
  check_error([&] { norm.to(DType::i32); }, {"[to]", "i32"});
}
