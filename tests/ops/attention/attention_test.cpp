// scaled_dot_product_attention against the reference: every variant, odd sizes, masks, layouts and gradients.
#include "crisol/functions/attention.h"

#include <algorithm>
#include <cmath>

#include "crisol/capture.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/softmax.h"
#include "crisol/grad_mode.h"
#include "crisol/ops/attention.h"
#include "crisol/profile.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "ops/attention/attention.h"
#include "reference/softmax.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/gradcheck.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr double inf = INFINITY;

using reference::AttentionSizes;
using Values = std::vector<double>;

// One tile, several tiles, several blocks of keys, blocks of rows, and less than a tile.
const AttentionSizes cases[] = {{1, 1, 1, 1, 1},     {2, 5, 7, 3, 2},    {1, 13, 33, 32, 32},
                                {6, 33, 65, 16, 40}, {1, 20, 530, 9, 5}, {3, 70, 40, 13, 35}};

MustRun variants() { return MustRun("attention", {on_cpus("rows"), on_cpus("single"), "tiles", "composed"}); }

struct Example {
  AttentionSizes sizes;
  Values q, k, v;

  explicit Example(const AttentionSizes& s)
      : sizes(s),
        q(random_values(1, s.heads * s.rows * s.depth)),
        k(random_values(2, s.heads * s.keys * s.depth)),
        v(random_values(3, s.heads * s.keys * s.columns)) {}

  Shape shape_of_q() const { return {sizes.heads, sizes.rows, sizes.depth}; }
  Shape shape_of_k() const { return {sizes.heads, sizes.keys, sizes.depth}; }
  Shape shape_of_v() const { return {sizes.heads, sizes.keys, sizes.columns}; }
  std::size_t scores() const { return static_cast<std::size_t>(sizes.heads * sizes.rows * sizes.keys); }

  /// Checks the function with tensors of the layout, for each variant.
  void check(const Values& bias, const Tensor& mask, const AttentionOptions& options, Layout layout) const {
    const double scale = options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(sizes.depth));
    const Values expected = reference::attention(q, k, v, bias, sizes, scale);
    const Tensor from_q = view_of(q, shape_of_q(), layout), from_k = view_of(k, shape_of_k(), layout),
                 from_v = view_of(v, shape_of_v(), layout);
    for_each_variant(variants(), [&] {
      check_close(scaled_dot_product_attention(from_q, from_k, from_v, mask, options),
                  {sizes.heads, sizes.rows, sizes.columns}, expected, {64, 1});
    });
  }
};

/// Zeros, and -inf for keys behind the query.
Values causal_bias(const AttentionSizes& s) {
  Values bias;
  for (std::int64_t i = 0; i < s.heads * s.rows; ++i)
    for (std::int64_t j = 0; j < s.keys; ++j) bias.push_back(j > i % s.rows ? -inf : 0);
  return bias;
}

}  // namespace

TEST_CASE("attention: every size and layout agrees with the reference") {
  for (const AttentionSizes& sizes : cases) {
    CAPTURE(sizes.rows);
    CAPTURE(sizes.keys);
    const Example example(sizes);
    const bool in_all = sizes.heads > 1 && sizes.rows < 64;
    for (const Layout layout : all_layouts) {
      CAPTURE(std::string(name_of(layout)));
      if (in_all || layout == Layout::contiguous) example.check(Values(example.scores(), 0), Tensor(), {}, layout);
    }
    example.check(causal_bias(sizes), Tensor(), {.is_causal = true, .scale = 1.5}, Layout::contiguous);
  }
}

TEST_CASE("attention: masks broadcast, and a query that sees no key gets zeros") {
  for (const AttentionSizes& sizes : {AttentionSizes{2, 5, 7, 3, 2}, {3, 14, 37, 8, 33}, {2, 2, 600, 4, 4}}) {
    CAPTURE(sizes.keys);
    const Example example(sizes);
    const auto rows = static_cast<std::size_t>(sizes.rows), keys = static_cast<std::size_t>(sizes.keys);
    const Values numbers = random_values(4, static_cast<std::int64_t>(example.scores()), -2, 2);
    example.check(numbers, tensor_of(numbers, {sizes.heads, sizes.rows, sizes.keys}), {}, Layout::contiguous);
    // A number for each key, and one for each query.
    Values of_keys(example.scores()), of_rows(example.scores());
    for (std::size_t i = 0; i < example.scores(); ++i) {
      of_keys[i] = numbers[i % keys];
      of_rows[i] = numbers[i / keys % rows];
    }
    example.check(of_keys, tensor_of({numbers.begin(), numbers.begin() + sizes.keys}, {sizes.keys}), {},
                  Layout::offset);
    example.check(of_rows, tensor_of({numbers.begin(), numbers.begin() + sizes.rows}, {sizes.rows, 1}), {},
                  Layout::permuted);
    // Query 1 sees nothing, the others every second key, but none behind them.
    Values conditions, seen;
    for (std::size_t i = 0; i < rows * keys; ++i) conditions.push_back(i / keys == 1 || i % 2 != 0 ? 0 : 1);
    const Tensor mask = tensor_of(conditions, {sizes.rows, sizes.keys}).ne(0);
    const Values causal = causal_bias(sizes);
    Values open(example.scores()), closed(example.scores());
    for (std::size_t i = 0; i < example.scores(); ++i) {
      open[i] = conditions[i % conditions.size()] != 0 ? 0 : -inf;
      closed[i] = open[i] + causal[i];
    }
    example.check(open, mask, {}, Layout::contiguous);
    example.check(closed, mask, {.is_causal = true}, Layout::contiguous);
  }
}

TEST_CASE("attention: few queries read the keys from the first to the last one that the mask allows") {
  const AttentionSizes sizes{2, 2, 600, 4, 4};
  Example example(sizes);
  Values bias(example.scores(), -inf), conditions(example.scores(), 0);
  for (const std::size_t seen : {130, 139, 600 + 201, 1200 + 190, 1800 + 129, 1800 + 131}) {
    bias[seen] = 0;
    conditions[seen] = 1;
  }
  const Tensor mask = tensor_of(conditions, {sizes.heads, sizes.rows, sizes.keys}).ne(0);
  example.check(bias, mask, {}, Layout::contiguous);
  // The variants take blocks of at most 128 keys. NaN in keys outside would reach the result, also with a weight of 0.
  const Tensor q = tensor_of(example.q, example.shape_of_q());
  Tensor k = tensor_of(example.k, example.shape_of_k()), v = tensor_of(example.v, example.shape_of_v());
  const Tensor expected = scaled_dot_product_attention(q, k, v, mask);
  for (Tensor* const x : {&k, &v}) {
    x->narrow(1, 0, 128).fill_(std::nan(""));
    x->narrow(1, 256, 344).fill_(std::nan(""));
  }
  for_each_variant(MustRun("attention", {on_cpus("single"), "tiles"}), [&] {
    const Tensor y = scaled_dot_product_attention(q, k, v, mask);  // Inside a CHECK, a refusal would be a failure.
    CHECK(y.allclose(expected, 1e-5, 1e-6));
  });
}

TEST_CASE("attention: leading axes broadcast, and heads share keys with enable_gqa") {
  // (N, L, H, D) in memory, as layers make them.
  const Tensor q = randn({2, 9, 4, 8}).transpose(1, 2), k = randn({2, 11, 2, 8}).transpose(1, 2),
               v = randn({2, 11, 2, 5}).transpose(1, 2), mask = randn({2, 4, 9, 11});
  const auto repeated = [](const Tensor& x) {
    return x.unsqueeze(2).expand({2, 2, 2, x.size(2), x.size(3)}).reshape({2, 4, x.size(2), x.size(3)});
  };
  const auto plain = [&](const Tensor& keys, const Tensor& values, const Tensor& bias) {
    return matmul(softmax(matmul(q, keys.transpose(-2, -1)) / std::sqrt(8.0) + bias, -1), values);
  };
  for_each_variant(variants(), [&] {
    for (const Tensor& bias : {mask, mask.narrow(1, 2, 1), mask[0][0]}) {
      const Tensor y = scaled_dot_product_attention(q, k, v, bias, {.enable_gqa = true});
      CHECK(y.shape() == Shape{2, 4, 9, 5});
      CHECK(y.allclose(plain(repeated(k), repeated(v), bias), 1e-5, 1e-5));
    }
    const Tensor shared = k[1][0], values = v.narrow(1, 1, 1);
    CHECK(scaled_dot_product_attention(q, shared, values).allclose(plain(shared, values, zeros({})), 1e-5, 1e-5));
  });
}

TEST_CASE("attention: no keys, no rows, f16") {
  for_each_variant(MustRun("attention", {}), [&] {
    CHECK(scaled_dot_product_attention(ones({2, 3, 4}), zeros({2, 0, 4}), zeros({2, 0, 5})).allclose(zeros({2, 3, 5})));
    CHECK(scaled_dot_product_attention(ones({2, 0, 4}), zeros({2, 3, 4}), zeros({2, 3, 5})).shape() == Shape{2, 0, 5});
  });
  const Tensor q = randn({3, 6, 8}).to(DType::f16), k = randn({3, 7, 8}).to(DType::f16),
               v = randn({3, 7, 8}).to(DType::f16);
  for_each_variant(variants(), [&] {
    const Tensor y = scaled_dot_product_attention(q, k, v);
    CHECK(y.dtype() == DType::f16);
    const Tensor wide = scaled_dot_product_attention(q.to(DType::f32), k.to(DType::f32), v.to(DType::f32));
    CHECK(y.to(DType::f32).allclose(wide, 1e-3, 1e-3));
  });
}

TEST_CASE("attention: infinite and undefined scores give NaN in their rows alone") {
  const Tensor q = ones({3, 2}), k = ones({4, 2}), v = ones({4, 1});
  for (const double strange : {inf, std::nan("")}) {
    Values bias(12, 0);
    bias[5] = strange;
    for_each_variant(variants(), [&] {
      check_close(scaled_dot_product_attention(q, k, v, tensor_of(bias, {3, 4})), {3, 1}, {1, std::nan(""), 1},
                  {16, 1});
    });
  }
}

TEST_CASE("attention: gradients") {
  const auto tensor = [](int seed, const Shape& shape) { return tensor_of(random_values(seed, shape.numel()), shape); };
  const std::vector<Tensor> inputs{tensor(1, {2, 6, 5}), tensor(2, {2, 7, 5}), tensor(3, {1, 7, 4}), tensor(4, {6, 7})};
  Values seen(42, 1);
  for (std::size_t j = 0; j < 7; ++j) seen[7 + j] = 0;
  const Tensor mask = tensor_of(seen, {6, 7}).ne(0);
  for_each_variant(variants(), [&] {
    check_gradients([](const auto& in) { return scaled_dot_product_attention(in[0], in[1], in[2], in[3]); }, inputs);
    check_gradients(
        [&](const auto& in) {
          return scaled_dot_product_attention(in[0], in[1], in[2], mask, {.is_causal = true, .scale = 0.7});
        },
        {inputs[0], inputs[1], inputs[2]});
  });
  for_each_variant(variants(), [&] {
    check_gradients_of_gradients(
        [](const auto& in) { return scaled_dot_product_attention(in[0], in[1], in[2], in[3], {.is_causal = true}); },
        inputs);
  });
}

TEST_CASE("attention: the gradient in one kernel agrees with the composed one") {
  const MustRun variants("attention_backward", {on_cpus("rows"), "composed"});
  struct Sizes {
    Shape heads;
    std::int64_t rows, keys, depth, columns;
  };
  // Less than a tile, several tiles, several blocks of rows, and several blocks of keys.
  const std::vector<Sizes> cases{{{2}, 1, 1, 1, 1},       {{2, 3}, 5, 7, 3, 2},     {{4}, 13, 33, 32, 33},
                                 {{3}, 100, 130, 16, 40}, {{2}, 130, 100, 9, 7},    {{2}, 14, 1100, 8, 5},
                                 {{2}, 200, 300, 33, 20}, {{2, 2}, 60, 600, 4, 32}, {{2}, 1040, 1060, 4, 3}};
  for (const auto& [heads, rows, keys, depth, columns] : cases)
    for (const bool causal : {false, true}) {
      CAPTURE(rows);
      CAPTURE(keys);
      CAPTURE(causal);
      const auto of = [&](int seed, std::int64_t m, std::int64_t n) {
        Shape shape = heads;
        shape.push_back(m);
        shape.push_back(n);
        return tensor_of(random_values(seed, shape.numel()), shape);
      };
      // Keys are columns in memory, and rows of values lie apart.
      const Tensor q = of(1, rows, depth), k = of(2, depth, keys).transpose(-2, -1),
                   v = of(3, keys, columns + 2).narrow(-1, 1, columns), dy = of(4, rows, columns);
      const auto operands = [&] {
        std::vector<Tensor> list{q.detach(), k.detach(), v.detach()};
        for (Tensor& x : list) x.requires_grad_();
        return list;
      };
      const std::vector<Tensor> own = operands();
      const Tensor places = arange(0, static_cast<double>(std::max(rows, keys)));
      const Tensor hidden = where(places.narrow(0, 0, keys).gt(places.narrow(0, 0, rows).unsqueeze(1)), -inf, 0.0);
      const Tensor scores = matmul(own[0], own[1].transpose(-2, -1)) * 0.4;
      const Tensor y = matmul(softmax(causal ? scores + hidden : scores, -1), own[2]);
      y.backward(dy);
      for_each_variant(variants, [&](const std::string& variant) {
        const ops::AttentionGradients fused = ops::attention_backward(q, k, v, y.detach(), dy, causal, 0.4);
        CHECK(fused.q.defined() == (variant != "composed"));
        if (!fused.q.defined()) return;
        CHECK(fused.q.allclose(own[0].grad(), 1e-4, 1e-5));
        CHECK(fused.k.allclose(own[1].grad(), 1e-4, 1e-5));
        CHECK(fused.v.allclose(own[2].grad(), 1e-4, 1e-5));
      });
    }
}

TEST_CASE("attention: the gradient in one kernel takes halves, shared keys and a mask") {
  const Tensor q = randn({2, 9, 4, 8}).transpose(1, 2), k = randn({2, 1, 11, 8}), v = randn({2, 1, 11, 5});
  Values open;
  for (std::int64_t i = 0; i < 99; ++i) open.push_back(i / 11 == 1 || i % 3 == 0 ? 0 : 1);
  const Tensor mask = tensor_of(open, {9, 11}).ne(0);
  const auto gradients = [&](const char* variant, DType dtype) {
    std::vector<Tensor> inputs{q.to(dtype).detach(), k.to(dtype).detach(), v.to(dtype).detach()};
    for (Tensor& x : inputs) x.requires_grad_();
    run_variant("attention", variant, [&] {
      sum(scaled_dot_product_attention(inputs[0], inputs[1], inputs[2], mask).to(DType::f32).square()).backward();
    });
    return std::vector<Tensor>{inputs[0].grad(), inputs[1].grad(), inputs[2].grad()};
  };
  // Elsewhere the result is composed too, so that no gradient of the op is called.
  const Expected rows = on_cpus("rows");
  const MustRun variants("attention_backward", {rows, where(rows.must_run, "composed")});
  const std::vector<Tensor> expected = gradients("composed", DType::f32);
  for_each_variant(variants, [&] {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      const double tolerance = dtype == DType::f32 ? 1e-4 : dtype == DType::f16 ? 1e-2 : 1e-1;
      const std::vector<Tensor> result = gradients(rows.must_run ? "rows" : "composed", dtype);
      for (std::size_t i = 0; i < result.size(); ++i) {
        CAPTURE(i);
        CHECK(result[i].dtype() == dtype);
        CHECK(result[i].to(DType::f32).allclose(expected[i], tolerance, tolerance / 2));
      }
    }
  });
}

TEST_CASE("attention: small probabilities are kept for the gradient") {
  Tensor q = randn({2, 8, 4});
  const auto uses_softmax = [&] {
    const VariantLog log;
    scaled_dot_product_attention(q, q, q);
    return std::any_of(log.choices().begin(), log.choices().end(),
                       [](const VariantChoice& choice) { return std::string(choice.op) == "softmax"; });
  };
  CHECK(uses_softmax() == !ops::fuses_attention(q.shape(), q.shape(), q.shape(), false, q.device()));
  q.requires_grad_();
  CHECK(uses_softmax());
}

TEST_CASE("attention: dropout drops probabilities") {
  manual_seed(5);
  const Tensor q = randn({8, 4}), k = randn({32, 4});
  CHECK(scaled_dot_product_attention(q, k, ones({32, 2}), Tensor(), {.dropout_p = 1}).allclose(zeros({8, 2})));
  const Tensor y = scaled_dot_product_attention(q, k, eye(32), Tensor(), {.dropout_p = 0.5});
  const Tensor whole = scaled_dot_product_attention(q, k, eye(32));
  CHECK(where(y.eq(0), 0, y / 2).allclose(where(y.eq(0), 0, whole), 1e-5, 1e-6));
  const double dropped = y.eq(0).to(DType::f32).mean().item<float>();
  CHECK(dropped > 0.2);
  CHECK(dropped < 0.8);
}

TEST_CASE("attention: a replayed call takes new inputs") {
  const NoGrad no_grad;
  Tensor q = randn({2, 20, 8});
  const Tensor k = randn({2, 9, 8}), v = randn({2, 9, 8});
  Tensor y;
  CapturedGraph graph = capture([&] { y = scaled_dot_product_attention(q, k, v, Tensor(), {.is_causal = true}); });
  q.copy_from(randn({2, 20, 8}));
  graph.replay();
  CHECK(y.allclose(scaled_dot_product_attention(q, k, v, Tensor(), {.is_causal = true})));
}

TEST_CASE("attention: refusals") {
  const Tensor q = zeros({2, 3, 4}), k = zeros({2, 5, 4}), v = zeros({2, 5, 6});
  const auto call = [](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& mask = Tensor(),
                       const AttentionOptions& options = {}) {
    return [=] { scaled_dot_product_attention(a, b, c, mask, options); };
  };
  constexpr const char* op = "[scaled_dot_product_attention]";
  check_error(call(q, Tensor(), v), {op, "undefined"});
  check_error(call(q, k.to(DType::f16), v), {op, "f32, f16 and f32"});
  check_error(call(zeros({4}), k, v), {op, "(4)"});
  check_error(call(q, zeros({2, 5, 3}), v), {op, "4 elements, a key 3"});
  check_error(call(q, k, zeros({2, 4, 6})), {op, "5 keys and 4 values"});
  check_error(call(q, zeros({3, 5, 4}), v), {op, "(2)", "(3)"});
  check_error(call(q, k, v, zeros({2, 4, 5})), {op, "(2, 4, 5)", "(2, 3, 5)"});
  check_error(call(q, k, v, zeros({4, 1, 3, 5})), {op, "(4, 1, 3, 5)", "(2, 3, 5)"});
  check_error(call(q, k, v, zeros({3, 5}, DType::i32)), {op, "i32"});
  check_error(call(q, k, v, Tensor(), {.dropout_p = 2}), {op, "dropout_p is 2"});
  check_error(call(zeros({3, 3, 4}), k, v, Tensor(), {.enable_gqa = true}), {op, "enable_gqa", "(3, 3, 4)"});
  check_error(call(zeros({3, 4}), k, v, Tensor(), {.enable_gqa = true}), {op, "enable_gqa", "(3, 4)"});
  const auto backward = [&](const Tensor& a, const Tensor& b, const Tensor& y, const Tensor& dy) {
    return [=] { ops::attention_backward(a, b, v, y, dy, false, 1); };
  };
  const Tensor y = zeros({2, 3, 6});
  check_error(backward(q.to(DType::i32), k, y, y), {"[attention_backward]", "i32"});
  check_error(backward(q, k.to(DType::f16), y, y), {"[attention_backward]", "one dtype"});
  check_error(backward(q, zeros({2, 5, 3}), y, y), {"[attention_backward]", "(2, 5, 3)"});
  check_error(backward(q, k, y, zeros({2, 3, 5})), {"[attention_backward]", "(2, 3, 6)", "(2, 3, 5)"});
}
