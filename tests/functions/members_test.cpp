// Functions as members of Tensor: each member gives the result of the function with its name.
#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/skip.h"

namespace crisol {

namespace {

std::vector<std::uint8_t> bytes_of(const Tensor& x) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(x.numel()) * size_of(x.dtype()));
  x.read_bytes(bytes.data());
  return bytes;
}

void same(const char* name, const Tensor& member, const Tensor& function) {
  CAPTURE(std::string(name));
  CHECK(member.shape() == function.shape());
  CHECK(member.dtype() == function.dtype());
  CHECK(bytes_of(member) == bytes_of(function));
}

}  // namespace

#define AT_NONE
#define AT_ONE(name, initial, at) at
#define AT_TWO(name, initial, at, name_2, initial_2, at_2) at, at_2
#define AND_AT_NONE
#define AND_AT_ONE(name, initial, at) , at
#define AND_AT_TWO(name, initial, at, name_2, initial_2, at_2) , at, at_2

TEST_CASE("members: every row of pointwise.def") {
  if (testing::slow_device()) {
    testing::note_skip("programs of a hundred rows compile slowly");
    return;
  }
  const Tensor u = from_vector<float>({0.25f, 0.5f, 0.75f}), v = from_vector<float>({0.5f, 0.375f, 0.625f});
  const Tensor w = from_vector<float>({0.125f, 0.25f, 0.5f});
#define CRISOL_UNARY(name, x, scalars, ...) same(#name, u.name(AT_##scalars), crisol::name(u AND_AT_##scalars));
#define CRISOL_BINARY(name, a, b, scalars, ...) \
  same(#name, u.name(v AND_AT_##scalars), crisol::name(u, v AND_AT_##scalars));
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, ...) \
  CRISOL_IN_PLACE_##rule(same(#name, u.name(v, w AND_AT_##scalars), crisol::name(u, v, w AND_AT_##scalars));)
#include "crisol/ops/pointwise.def"
}

TEST_CASE("members: reductions, products, order and arrangement") {
  const Tensor x = from_vector<float>({3, 1, 2, -1, 5, 4}, {2, 3});
#define REDUCTION(name)                         \
  same(#name, x.name(), crisol::name(x));       \
  same(#name, x.name(1), crisol::name(x, {1})); \
  same(#name, x.name({0, 1}, true), crisol::name(x, {0, 1}, true));
  REDUCTION(sum)
  REDUCTION(mean)
  REDUCTION(prod)
  REDUCTION(max)
  REDUCTION(min)
  REDUCTION(any)
  REDUCTION(all)
  REDUCTION(argmax)
  REDUCTION(argmin)
  REDUCTION(logsumexp)
  same("var", x.var(0, true, 0), var(x, {0}, true, 0));
  same("stddev", x.stddev(1), stddev(x, {1}));
  same("norm", x.norm(1, 0), norm(x, 1, {0}));
  same("max_with_indices", x.max_with_indices(1).indices, max_with_indices(x, 1).indices);
  same("min_with_indices", x.min_with_indices(0).values, min_with_indices(x, 0).values);
  same("cumsum", x.cumsum(-1), cumsum(x, -1));
  same("matmul", x.matmul(x.t()), matmul(x, x.transpose(0, 1)));
  same("softmax", x.softmax(0), softmax(x, 0));
  same("log_softmax", x.log_softmax(-1), log_softmax(x, -1));
  same("sort", x.sort(0, true).values, sort(x, 0, true).values);
  same("argsort", x.argsort(), argsort(x));
  same("topk", x.topk(2).indices, topk(x, 2).indices);
  const Tensor index = from_vector<std::int64_t>({1, 0}, {2, 1});
  same("gather", x.gather(1, index), gather(x, 1, index));
  same("index_select", x.index_select(0, index.reshape(-1)), index_select(x, 0, index.reshape(-1)));
  same("tril", x.tril(), tril(x));
  same("triu", x.triu(1), triu(x, 1));
  same("split", x.split(2, 1)[1], split(x, 2, 1)[1]);
  same("chunk", x.chunk(2)[1], chunk(x, 2)[1]);
  same("flip", x.flip(1), flip(x, {1}));
  same("roll", x.roll(1, 0), roll(x, 1, 0));
  same("repeat", x.repeat({2, 1}), repeat(x, {2, 1}));
  same("tile", x.tile(2), tile(x, {2}));
  same("isclose", x.isclose(x + 1), isclose(x, x + 1));
  CHECK(x.allclose(x.clone()));
  CHECK_FALSE(x.allclose(x + 1));
}

TEST_CASE("members: t and T") {
  const Tensor x = arange(0, 24).reshape({2, 3, 4});
  CHECK(x[0].t().shape() == Shape{4, 3});
  CHECK(x[{0, 0}].t().shape() == Shape{4});
  CHECK(x[{0, 0, 0}].t().shape() == Shape{});
  CHECK(x.T().shape() == Shape{4, 3, 2});
  CHECK(x.T()[{3, 1, 0}].item() == 7);
  testing::check_error([&] { x.t(); }, {"[t]", "(2, 3, 4)", "transpose"});
}

TEST_CASE("members: fused functions have them too") {
  const auto f = fuse([](const auto& x, const auto& y) { return x.mul(y).clamp(-1.0, 1.0).sigmoid().sum(-1); });
  const Tensor x = from_vector<float>({3, 1, 2, -1, 5, 4}, {2, 3});
  testing::check_close(f(x, x), testing::values_of(x.mul(x).clamp(-1.0, 1.0).sigmoid().sum(-1)), {4});
}

}  // namespace crisol
