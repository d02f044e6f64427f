// Conventions that PyTorch has: axes of scalars, dtypes of limits, indices and conditions, inputs without a batch,
// products with vectors, labels out of range.
#include <cmath>

#include "crisol/crisol.h"
#include "crisol/ops.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/processes/subprocess.h"
#include "support/random_tensor.h"

namespace crisol {

namespace {

using testing::check_error;
using testing::check_gradients;
using testing::random_tensor;

using Inputs = std::vector<Tensor>;
using Floats = std::vector<float>;

}  // namespace

TEST_CASE("a scalar has the axes 0 and -1") {
  const Tensor x = full({}, -2.5);
  for (const int axis : {0, -1}) {
    CAPTURE(axis);
    const auto is = [](const Tensor& y, float expected) {
      CHECK(y.shape() == Shape{});
      CHECK(y.to(DType::f32).item() == expected);
    };
    is(x.sum(axis), -2.5f);
    is(x.sum(axis, true), -2.5f);
    is(x.mean(axis), -2.5f);
    is(x.prod(axis), -2.5f);
    is(x.max(axis), -2.5f);
    is(x.min(axis), -2.5f);
    is(x.any(axis), 1);
    is(x.all(axis), 1);
    is(x.argmax(axis), 0);
    is(x.argmin(axis), 0);
    is(x.logsumexp(axis), -2.5f);
    is(x.norm(2, axis), 2.5f);
    is(x.var(axis, false, 0), 0);
    is(x.max_with_indices(axis).values, -2.5f);
    is(x.max_with_indices(axis).indices, 0);
    is(x.cumsum(axis), -2.5f);
    is(x.softmax(axis), 1);
    is(x.log_softmax(axis), 0);
    is(x.sort(axis).values, -2.5f);
    is(x.topk(1, axis).values, -2.5f);
    is(x.squeeze(axis), -2.5f);
    is(x.transpose(axis, 0), -2.5f);
    is(ops::squeeze(x, axis), -2.5f);
    check_gradients([&](const Inputs& in) { return in[0].squeeze(axis) + in[0].transpose(axis, 0); }, {x});
    check_gradients([&](const Inputs& in) { return in[0].sum(axis) + in[0].max(axis) + in[0].cumsum(axis); }, {x});
    check_gradients([&](const Inputs& in) { return in[0].max_with_indices(axis).values; }, {x});
    check_gradients([&](const Inputs& in) { return in[0].softmax(axis) + in[0].log_softmax(axis); }, {x});
  }
  check_error([&] { x.sum(1); }, {"[sum]", "axis 1"});
  check_error([&] { x.sum({0, -1}); }, {"[sum]", "twice"});
  check_error([&] { x.softmax(-2); }, {"[softmax]", "axis -2"});
  check_error([&] { x.cumsum(1); }, {"[cumsum]", "axis 1"});
  check_error([&] { x.squeeze(1); }, {"[squeeze]", "axis 1"});
  check_error([&] { x.transpose(0, -2); }, {"[transpose]", "axis -2"});
}

TEST_CASE("a scalar is picked and added to by index as a line of one element") {
  const Tensor x = full({}, 2.5), line = full({1}, 4), src = full({}, 0.5), src_line = full({1}, 0.5);
  const Tensor at = zeros({}, DType::i64), at_line = zeros({1}, DType::i64);
  const auto is = [](const Tensor& y, const Shape& shape, const Floats& expected) {
    CHECK(y.shape() == shape);
    CHECK(y.to_vector<float>() == expected);
  };
  for (const int axis : {0, -1}) {
    CAPTURE(axis);
    is(gather(x, axis, at), {}, {2.5f});
    is(gather(x, axis, zeros({3}, DType::i32)), {3}, {2.5f, 2.5f, 2.5f});
    is(gather(line, axis, at), {}, {4});
    for (const Tensor& index : {at, at_line}) {
      is(index_select(x, axis, index), {}, {2.5f});
      for (const Tensor& added : {src, src_line}) {
        is(index_add(x, axis, index, added), {}, {3});
        is(index_add(line, axis, index, added), {1}, {4.5f});
        is(scatter_add(x, axis, index, added), {}, {3});
        is(scatter_add(line, axis, index, added), {1}, {4.5f});
      }
    }
  }
  check_gradients([&](const Inputs& in) { return gather(in[0], 0, zeros({3}, DType::i64)); }, {x});
  check_gradients([&](const Inputs& in) { return index_select(in[0], 0, at); }, {x});
  check_gradients([&](const Inputs& in) { return scatter_add(in[0], 0, at_line, in[1]); }, {x, src});
  check_gradients([&](const Inputs& in) { return scatter_add(in[0], 0, at, in[1]); }, {line, src});
  check_gradients([&](const Inputs& in) { return index_add(in[0], 0, at, in[1]); }, {x, src_line});
  check_error([&] { gather(x, 1, at); }, {"[gather]", "axis 1"});
  check_error([&] { gather(x, 0, zeros({1, 1}, DType::i64)); }, {"[gather]", "(1, 1)", "()"});
  check_error([&] { index_select(x, 0, zeros({2}, DType::i64)); }, {"[index_select]", "1 element", "(2)"});
  check_error([&] { scatter_add(ones({2, 2}), 0, at, src); }, {"[scatter_add]", "()", "(2, 2)"});
  check_error([&] { gather(Tensor(), 0, at); }, {"[gather]", "undefined"});
}

TEST_CASE("hard_tanh keeps the dtype of its input") {
  for (const DType dtype : {DType::i32, DType::i64, DType::u8, DType::f16}) {
    CAPTURE(dtype);
    const Tensor x = from_vector<int>({0, 1, 2, 5}, dtype);
    const Tensor y = hard_tanh(x, -1.5, 2.75);  // Whole numbers: from -1 to 2.
    CHECK(y.dtype() == dtype);
    CHECK(y.to(DType::f32).to_vector<float>() == Floats{0, 1, 2, is_floating(dtype) ? 2.75f : 2});
  }
  CHECK(hard_tanh(from_vector<std::int32_t>({-5, 5})).to_vector<std::int32_t>() == std::vector<std::int32_t>{-1, 1});
  Tensor whole = from_vector<std::int32_t>({-5, 5});
  CHECK(whole.hard_tanh_(-2.0, 3.0).to_vector<std::int32_t>() == std::vector<std::int32_t>{-2, 3});
  check_error([] { hard_tanh(ones({2}, DType::boolean)); }, {"[hard_tanh]", "bool"});
  CHECK(clamp(from_vector<std::int32_t>({5}), 0.0, 2.5).dtype() == DType::f32);  // As PyTorch's clamp.
}

TEST_CASE("softplus is the identity above its threshold") {
  const Tensor x = from_vector<float>({-1, 0.5f, 1.5f, 30});
  const auto curve = [](double v, double beta) { return static_cast<float>(std::log1p(std::exp(beta * v)) / beta); };
  testing::check_close(softplus(x, 2, 2), {curve(-1, 2), curve(0.5, 2), 1.5, 30}, {128});
  testing::check_close(softplus(x), {curve(-1, 1), curve(0.5, 1), curve(1.5, 1), 30}, {128});
  const Tensor leaf = x.clone().requires_grad_();
  softplus(leaf, 2, 2).sum().backward();
  testing::check_close(leaf.grad(), {1 / (1 + std::exp(2.0)), 1 / (1 + std::exp(-1.0)), 1, 1}, {16});
  CHECK(std::isnan(softplus(full({1}, NAN)).item()));
  CHECK(nn::Softplus(2, 2).forward(x).to_vector<float>() == softplus(x, 2, 2).to_vector<float>());
}

TEST_CASE("prelu of a scalar is a scalar") {
  const Tensor weight = full({1}, 0.25);
  CHECK(prelu(full({}, -2), weight).shape() == Shape{});
  CHECK(prelu(full({}, -2), weight).item() == -0.5f);
  check_gradients([](const Inputs& in) { return prelu(in[0], in[1]); }, {full({}, -2), weight});
}

TEST_CASE("where and masked_fill take what is not 0 as true") {
  const Tensor a = from_vector<float>({1, 2, 3, 4}), b = a + 10;
  const Floats chosen{11, 2, 3, 14};
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean}) {
    CAPTURE(dtype);
    const Tensor condition = from_vector<int>({0, 1, 2, 0}, dtype);
    CHECK(where(condition, a, b).to_vector<float>() == chosen);
    CHECK(where(condition, a.to(DType::i64), b.to(DType::i64)).to(DType::f32).to_vector<float>() == chosen);
    CHECK(masked_fill(a, condition, 9).to_vector<float>() == Floats{1, 9, 9, 4});
    check_gradients([&](const Inputs& in) { return where(condition, in[0], in[1]); }, {a, b});
  }
  CHECK(where(from_vector<float>({0.5f, NAN, -0.0f, 0}), a, b).to_vector<float>() == Floats{1, 2, 13, 14});
  const Tensor condition = from_vector<float>({0, 0.5f, 1, 0});
  CHECK(fuse([](const auto& c, const auto& x, const auto& y) { return where(c, x, y) * 2; })(condition, a, b)
            .to_vector<float>() == Floats{22, 4, 6, 28});
}

TEST_CASE("indices may be u8, i32 and i64") {
  const Tensor x = random_tensor(1, {5, 3});
  const Tensor i64 = from_vector<std::int64_t>({4, 0, 4, 2}), wide = i64.reshape({4, 1}).expand({4, 3}).clone();
  const auto same = [](const Tensor& y, const Tensor& expected) {
    CHECK(y.shape() == expected.shape());
    CHECK(y.to(DType::f32).to_vector<float>() == expected.to(DType::f32).to_vector<float>());
  };
  for (const DType dtype : {DType::u8, DType::i32}) {
    CAPTURE(dtype);
    const Tensor index = i64.to(dtype), index2 = wide.to(dtype), src = random_tensor(2, {4, 3});
    same(index_select(x, 0, index), index_select(x, 0, i64));
    same(gather(x, 0, index2), gather(x, 0, wide));
    same(scatter_add(x, 0, index2, src), scatter_add(x, 0, wide, src));
    same(index_add(x, 0, index, src), index_add(x, 0, i64, src));
    same(embedding(x, index), embedding(x, i64));
    same(one_hot(index, 5), one_hot(i64, 5));
    check_gradients([&](const Inputs& in) { return embedding(in[0], index); }, {x});
    check_gradients([&](const Inputs& in) { return gather(in[0], 0, index2); }, {x});
    same(cross_entropy(random_tensor(3, {4, 5}), index), cross_entropy(random_tensor(3, {4, 5}), i64));
    same(nll_loss(random_tensor(3, {4, 5}), index), nll_loss(random_tensor(3, {4, 5}), i64));
  }
  check_error([&] { index_select(x, 0, ones({2}, DType::boolean)); }, {"[index_select]", "u8", "bool"});
}

TEST_CASE("conv2d and the pools take one image without a batch") {
  const Tensor x = random_tensor(1, {2, 6, 5}), weight = random_tensor(2, {3, 2, 3, 3}), bias = random_tensor(3, {3});
  const auto same = [](const Tensor& y, const Tensor& batched) {
    CHECK(y.dim() == 3);
    CHECK(y.to_vector<float>() == batched.to_vector<float>());
  };
  const Tensor batch = x.unsqueeze(0);
  same(conv2d(x, weight, bias), conv2d(batch, weight, bias));
  same(conv2d(x, weight, bias, {}, relu_epilogue()), conv2d(batch, weight, bias, {}, relu_epilogue()));
  same(max_pool2d(x, {2}), max_pool2d(batch, {2}));
  same(avg_pool2d(x, {2}), avg_pool2d(batch, {2}));
  same(adaptive_avg_pool2d(x, {2, 3}), adaptive_avg_pool2d(batch, {2, 3}));
  check_gradients([](const Inputs& in) { return conv2d(in[0], in[1], in[2]); }, {x, weight, bias});
  check_gradients([](const Inputs& in) { return avg_pool2d(in[0], {2}); }, {x});
  check_error([&] { max_pool2d(x[0], {2}); }, {"[max_pool2d]", "(6, 5)"});
  check_error([&] { conv2d(x, random_tensor(4, {3, 3, 3, 3})); }, {"[conv2d]"});
}

TEST_CASE("matmul with vectors, linear without columns") {
  const Tensor v = random_tensor(1, {4}), w = random_tensor(2, {3}), m = random_tensor(3, {3, 4}),
               many = random_tensor(4, {2, 5, 3, 4});
  const auto same = [](const Tensor& y, const Shape& shape, const Tensor& expected) {
    CHECK(y.shape() == shape);
    CHECK(y.to_vector<float>() == expected.to_vector<float>());
  };
  same(matmul(v, v), {}, matmul(v.unsqueeze(0), v.unsqueeze(1)));
  same(matmul(m, v), {3}, matmul(m, v.unsqueeze(1)));
  same(matmul(w, m), {4}, matmul(w.unsqueeze(0), m));
  same(matmul(many, v), {2, 5, 3}, matmul(many, v.unsqueeze(1)));
  same(matmul(w, many), {2, 5, 4}, matmul(w.unsqueeze(0), many));
  same(matmul(ones({0}), ones({0})), {}, zeros({}));
  check_gradients([](const Inputs& in) { return matmul(in[0], in[1]); }, {v, random_tensor(5, {4})});
  check_gradients([](const Inputs& in) { return matmul(in[0], in[1]); }, {m, v});
  check_gradients([](const Inputs& in) { return matmul(in[0], in[1]); }, {w, many});
  check_gradients([](const Inputs& in) { return matmul(in[0], in[1]); }, {many, v});
  const Tensor none = zeros({3, 4, 0}).requires_grad_(), weight = zeros({5, 0}).requires_grad_();
  linear(none, weight).sum().backward();  // No columns, but rows.
  CHECK(none.grad().shape() == Shape{3, 4, 0});
  CHECK(weight.grad().shape() == Shape{5, 0});
  const auto shifted = fuse([](const auto& y, const auto& b) { return relu(y + b); });
  same(matmul(m, v, shifted.epilogue(w)), {3}, relu(matmul(m, v) + w));
  check_error([&] { matmul(m, w); }, {"[matmul]", "(3, 4)", "(3)"});
  check_error([&] { matmul(v, m); }, {"[matmul]", "(4)", "(3, 4)"});
  check_error([&] { matmul(full({}, 1), v); }, {"[matmul]", "()"});
}

TEST_CASE("a label out of range is an error at the next read") {
  const Tensor x = random_tensor(1, {3, 4});
  const Tensor wrong = from_vector<std::int64_t>({1, -100, 4000000000000}),
               right = from_vector<std::int64_t>({1, -100, 3});
  for (const Reduction reduction : {Reduction::mean, Reduction::none}) {
    const Tensor loss = cross_entropy(x, wrong, {reduction});
    check_error([&] { loss.to_vector<float>(); }, {"[cross_entropy]", "4000000000000", "[0, 4)", "ignore_index"});
    CHECK(std::isnan(loss.to_vector<float>().back()));  // The error was told once.
    cross_entropy(x, right, {reduction}).to_vector<float>();
  }
  nll_loss(x, from_vector<std::int32_t>({0, -1, 2}));
  check_error([&] { x.to_vector<float>(); }, {"[nll_loss]", "label -1", "[0, 4)"});
  check_error([&] { nll_loss(x, from_vector<std::uint8_t>({0, 9, 2})).item(); }, {"[nll_loss]", "label 9"});
  nll_loss(x, right).item();
}

TEST_CASE("a label out of range is an error after a replay") {
  const Tensor x = random_tensor(1, {3, 4});
  Tensor labels = from_vector<std::int64_t>({1, 2, 3}), loss;
  const CapturedGraph graph = capture([&] { loss = cross_entropy(x, labels); });
  CHECK(std::isfinite(loss.item()));
  graph.replay();
  CHECK(std::isfinite(loss.item()));
  labels.copy_from(std::vector<std::int64_t>{1, 2, 4});
  graph.replay();
  check_error([&] { loss.item(); }, {"[cross_entropy]", "label 4", "[0, 4)"});
}

TEST_CASE("child: labels are checked" * doctest::skip()) {
  const Tensor x = random_tensor(1, {3, 4});
  check_error(
      [&] {
        cross_entropy(x, from_vector<std::int64_t>({1, -100, 4}));
      },
      {"[cross_entropy]", "4 at position 2", "[0, 4)"});
  check_error([&] { nll_loss(x, from_vector<std::int64_t>({-1, 7, 0})); }, {"[nll_loss]", "-1 at position 0"});
  CHECK(std::isfinite(nll_loss(x, from_vector<std::int64_t>({1, -100, 3})).item()));
}

TEST_CASE("CRISOL_CHECK_INDICES finds the first wrong label") {
  const testing::ProcessResult result =
      testing::run_child("child: labels are checked", {{"CRISOL_CHECK_INDICES", "1"}});
  CHECK_MESSAGE(result.status == 0, result.output);
}

}  // namespace crisol
