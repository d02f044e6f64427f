// The C interface: functions called by name, joining, picking and sorting. The tests compare them with the C++
// functions.
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>

#include "c_api/handle.h"
#include "crisol/crisol.h"

using namespace crisol;
using namespace crisol::testing::c_api;

TEST_CASE("C: reductions by name are the C++ functions") {
  Handle x({4, 1, 3, 2, 6, 5}, {2, 3}), y;
  const Tensor t = from_vector<float>({4, 1, 3, 2, 6, 5}, {2, 3});
  const std::int64_t axis = 1;
  std::istringstream names(crisol_reduce_names());
  int count = 0;
  for (std::string name; names >> name; ++count) {
    CAPTURE(name);
    OK(crisol_reduce(name.c_str(), x.get(), 1, &axis, 1, 1, y.place()));
    CHECK(sizes_of(y.get()) == Longs{2, 1});
    const std::size_t bytes = name == "argmax" || name == "argmin" ? 8 : name == "any" || name == "all" ? 1 : 4;
    std::vector<std::byte> values(2 * bytes);
    OK(crisol_tensor_read(y.get(), values.data(), values.size()));
  }
  CHECK(count == 13);
  const auto gives = [&](const char* name, double parameter, const Tensor& expected) {
    CAPTURE(name);
    OK(crisol_reduce(name, x.get(), 1, &axis, 0, parameter, y.place()));
    CHECK(values_of(y.get()) == expected.to_vector<float>());
  };
  gives("sum", 0, sum(t, {1}));
  gives("mean", 0, mean(t, {1}));
  gives("prod", 0, prod(t, {1}));
  gives("max", 0, max(t, {1}));
  gives("min", 0, min(t, {1}));
  gives("var", 0, var(t, {1}, false, 0));
  gives("stddev", 1, stddev(t, {1}));
  gives("norm", 1, norm(t, 1, {1}));
  gives("logsumexp", 0, logsumexp(t, {1}));
  OK(crisol_reduce("argmax", x.get(), 1, &axis, 0, 0, y.place()));
  CHECK(values_of<std::int64_t>(y.get()) == Longs{0, 1});
  OK(crisol_cumsum(x.get(), 1, y.place()));
  CHECK(values_of(y.get()) == Floats{4, 5, 8, 2, 8, 13});
}

TEST_CASE("C: pointwise functions by name are the C++ functions") {
  Handle x({-1, 0.5f, 2}, {3}), y;
  const crisol_operand one[] = {{x.get(), 0}}, two[] = {{x.get(), 0}, {nullptr, 2}}, numbers[] = {{nullptr, 1}};
  const double slope = 0.1;
  OK(crisol_pointwise("relu", 1, one, 0, nullptr, y.place()));
  CHECK(values_of(y.get()) == Floats{0, 0.5f, 2});
  OK(crisol_pointwise("mul", 2, two, 0, nullptr, y.place()));
  CHECK(values_of(y.get()) == Floats{-2, 1, 4});
  OK(crisol_pointwise("leaky_relu", 1, one, 1, &slope, y.place()));
  CHECK(values_of(y.get()) == Floats{-0.1f, 0.5f, 2});
  Handle whole(Longs{3, 5});
  const crisol_operand sum[] = {{whole.get(), 0}, {nullptr, 2}}, fraction[] = {{whole.get(), 0}, {nullptr, 0.5}};
  OK(crisol_pointwise("add", 2, sum, 0, nullptr, y.place()));
  CHECK(values_of<std::int64_t>(y.get()) == Longs{5, 7});
  OK(crisol_pointwise("add", 2, fraction, 0, nullptr, y.place()));
  CHECK(values_of(y.get()) == Floats{3.5f, 5.5f});
  int count = 0;
  std::istringstream names(crisol_pointwise_names());
  for (std::string name; names >> name;) ++count;
  CHECK(count > 70);
  const crisol_tensor* before = y.get();
  crisol_tensor* result = y.get();
  refused(crisol_pointwise("nonsense", 1, one, 0, nullptr, &result), CRISOL_INVALID_ARGUMENT, {"'nonsense'", "relu"});
  refused(crisol_pointwise("relu", 2, two, 0, nullptr, &result), CRISOL_INVALID_ARGUMENT, {"[relu]", "2 inputs", "1"});
  refused(crisol_pointwise("leaky_relu", 1, one, 0, nullptr, &result), CRISOL_INVALID_ARGUMENT, {"0 numbers", "1"});
  refused(crisol_pointwise("relu", 1, numbers, 0, nullptr, &result), CRISOL_INVALID_ARGUMENT, {"must be a tensor"});
  refused(crisol_pointwise("relu", 1, nullptr, 0, nullptr, &result), CRISOL_INVALID_ARGUMENT, {"is null"});
  CHECK(result == before);
}

TEST_CASE("C: joining, picking and sorting") {
  Handle a({1, 2}, {2}), b({3, 4}, {2}), y, z;
  const crisol_tensor* both[] = {a.get(), b.get()};
  OK(crisol_cat(2, both, 0, y.place()));
  CHECK(values_of(y.get()) == Floats{1, 2, 3, 4});
  OK(crisol_stack(2, both, 1, y.place()));
  CHECK(values_of(y.get()) == Floats{1, 3, 2, 4});
  const std::int64_t before = 1, after = 2;
  OK(crisol_pad(a.get(), &before, &after, 9, y.place()));
  CHECK(values_of(y.get()) == Floats{9, 1, 2, 9, 9});
  Handle square({1, 2, 3, 4}, {2, 2});
  const std::int64_t rows_and_columns_before[] = {1, 0}, rows_and_columns_after[] = {0, -1};
  OK(crisol_pad(square.get(), rows_and_columns_before, rows_and_columns_after, 9, y.place()));
  CHECK(sizes_of(y.get()) == Longs{3, 1});
  CHECK(values_of(y.get()) == Floats{9, 1, 3});
  OK(crisol_tril(square.get(), 0, y.place()));
  CHECK(values_of(y.get()) == Floats{1, 0, 3, 4});
  OK(crisol_triu(square.get(), 1, y.place()));
  CHECK(values_of(y.get()) == Floats{0, 2, 0, 0});
  Handle index(Longs{1, 0});
  OK(crisol_index_select(square.get(), 0, index.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{3, 4, 1, 2});
  OK(crisol_gather(a.get(), 0, index.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{2, 1});
  OK(crisol_scatter_add(a.get(), 0, index.get(), b.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{5, 5});
  OK(crisol_index_add(a.get(), 0, index.get(), b.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{5, 5});
  OK(crisol_scatter(a.get(), 0, index.get(), b.get(), nullptr, y.place()));
  const Floats replaced = values_of(y.get());
  OK(crisol_index_copy(a.get(), 0, index.get(), b.get(), nullptr, y.place()));
  CHECK(values_of(y.get()) == replaced);
  OK(crisol_scatter(a.get(), 0, index.get(), b.get(), "sum", y.place()));
  CHECK(values_of(y.get()) == Floats{5, 5});
  CHECK(crisol_index_copy(a.get(), 0, index.get(), b.get(), "median", y.place()) == CRISOL_INVALID_ARGUMENT);
  Handle place(Longs{1, 0}), five({5}, Longs{});
  OK(crisol_scatter_nd(square.get(), place.get(), five.get(), "prod", y.place()));
  CHECK(values_of(y.get()) == Floats{1, 2, 15, 4});
  OK(crisol_gather_nd(square.get(), place.get(), 0, y.place()));
  CHECK(values_of(y.get()) == Floats{3});
  OK(crisol_nonzero(a.get(), y.place()));
  CHECK(sizes_of(y.get()) == Longs{2, 1});
  const int last_axis = 1;
  OK(crisol_unique(square.get(), 1, &last_axis, y.place(), nullptr, nullptr, z.place()));
  CHECK(values_of(y.get()) == Floats{1, 2, 3, 4});
  CHECK(sizes_of(z.get()) == Longs{2});
  OK(crisol_cumprod(square.get(), 1, y.place()));
  CHECK(values_of(y.get()) == Floats{1, 2, 3, 12});
  OK(crisol_det(square.get(), y.place()));
  CHECK(std::abs(values_of(y.get())[0] + 2) < 1e-5f);
  const crisol_tensor* const factors[] = {square.get(), square.get()};
  OK(crisol_einsum("ij,jk->ik", 2, factors, y.place()));
  CHECK(values_of(y.get()) == Floats{7, 10, 15, 22});
  OK(crisol_bit_cast(a.get(), CRISOL_I32, y.place()));
  OK(crisol_embedding(square.get(), index.get(), -1, y.place()));
  CHECK(values_of(y.get()) == Floats{3, 4, 1, 2});
  OK(crisol_one_hot(index.get(), 3, CRISOL_F32, y.place()));
  CHECK(values_of(y.get()) == Floats{0, 1, 0, 1, 0, 0});
  OK(crisol_sort(square.get(), 1, 1, y.place(), z.place()));
  CHECK(values_of(y.get()) == Floats{2, 1, 4, 3});
  CHECK(values_of<std::int64_t>(z.get()) == Longs{1, 0, 1, 0});
  OK(crisol_topk(square.get(), 1, 1, 1, nullptr, z.place()));
  CHECK(values_of<std::int64_t>(z.get()) == Longs{1, 1});
  Handle weights({0, 1, 0}, {1, 3});
  OK(crisol_multinomial(weights.get(), 4, 1, y.place()));
  CHECK(values_of<std::int64_t>(y.get()) == Longs{1, 1, 1, 1});
  OK(crisol_sample_logits(weights.get(), 1e-3, 1, y.place()));
  CHECK(values_of<std::int64_t>(y.get()) == Longs{1});
}

TEST_CASE("C: positions of tensors, order, products of vectors, systems of equations") {
  Handle square({1, 2, 3, 4}, {2, 2}), line({1, 2, 3}, {3}), y, z;
  Handle back(Longs{-1, 0}), first(Longs{0, 0});
  const int axis = 1;
  OK(crisol_take(square.get(), back.get(), &axis, y.place()));
  CHECK(values_of(y.get()) == Floats{2, 1, 4, 3});
  OK(crisol_take(square.get(), back.get(), nullptr, y.place()));
  CHECK(values_of(y.get()) == Floats{4, 1});
  OK(crisol_take_along_axis(line.get(), back.get(), 0, y.place()));
  CHECK(values_of(y.get()) == Floats{3, 1});
  const crisol_tensor* const columns[] = {nullptr, back.get()};
  const crisol_tensor* const elements[] = {first.get(), back.get()};
  OK(crisol_index_get(square.get(), 2, columns, y.place()));
  CHECK(values_of(y.get()) == Floats{2, 1, 4, 3});
  OK(crisol_index_get(square.get(), 2, elements, y.place()));
  CHECK(values_of(y.get()) == Floats{2, 1});
  const crisol_operand ten{nullptr, 10};
  OK(crisol_index_put(square.get(), 2, elements, &ten, 1, y.place()));
  CHECK(values_of(y.get()) == Floats{11, 12, 3, 4});
  OK(crisol_index_put_in_place(y.get(), 2, elements, &ten, 0));
  CHECK(values_of(y.get()) == Floats{10, 10, 3, 4});
  CHECK(crisol_index_get(square.get(), 1, nullptr, y.place()) == CRISOL_INVALID_ARGUMENT);
  OK(crisol_searchsorted(line.get(), square.get(), 1, nullptr, y.place()));
  CHECK(values_of<std::int64_t>(y.get()) == Longs{1, 2, 3, 3});
  OK(crisol_isin(square.get(), line.get(), 1, y.place()));
  CHECK(values_of<std::uint8_t>(y.get()) == std::vector<std::uint8_t>{0, 0, 0, 1});
  OK(crisol_diff(line.get(), 1, 0, line.get(), nullptr, y.place()));
  CHECK(values_of(y.get()) == Floats{1, 1, -2, 1, 1});
  Handle counts(Longs{2, 0});
  OK(crisol_repeat_interleave(square.get(), counts.get(), &axis, y.place()));
  CHECK(values_of(y.get()) == Floats{1, 1, 3, 3});
  OK(crisol_diagonal(square.get(), 0, 0, 1, y.place()));
  CHECK(values_of(y.get()) == Floats{1, 4});
  const std::int64_t last[] = {1}, beginning[] = {0};
  OK(crisol_tensordot(square.get(), square.get(), 1, last, beginning, y.place()));
  CHECK(values_of(y.get()) == Floats{7, 10, 15, 22});
  OK(crisol_cross(line.get(), line.get(), 0, y.place()));
  CHECK(values_of(y.get()) == Floats{0, 0, 0});
  const crisol_operand from{line.get(), 0};
  OK(crisol_nextafter(&from, &ten, y.place()));
  CHECK(values_of(y.get())[0] == std::nextafter(1.0f, 2.0f));
  CHECK(crisol_nextafter(&ten, &ten, y.place()) == CRISOL_INVALID_ARGUMENT);
  OK(crisol_slogdet(square.get(), y.place(), z.place()));
  CHECK(values_of(y.get()) == Floats{-1});
  CHECK(std::abs(values_of(z.get())[0] - std::log(2.0f)) < 1e-5f);
  OK(crisol_inv(square.get(), y.place()));
  CHECK(std::abs(values_of(y.get())[0] + 2) < 1e-5f);
  OK(crisol_solve(square.get(), square.get(), y.place()));
  CHECK(std::abs(values_of(y.get())[3] - 1) < 1e-5f);
  Handle positive({4, 2, 2, 5}, {2, 2});
  OK(crisol_cholesky(positive.get(), 1, y.place()));
  CHECK(std::abs(values_of(y.get())[1] - 1) < 1e-5f);
  Handle diagonal({3, 0, 0, -2}, {2, 2}), w;
  OK(crisol_qr(diagonal.get(), 0, y.place(), z.place()));
  CHECK(values_of(y.get()) == Floats{1, 0, 0, 1});
  CHECK(values_of(z.get()) == Floats{3, 0, 0, -2});
  OK(crisol_eigh(diagonal.get(), y.place(), nullptr));
  CHECK(values_of(y.get()) == Floats{-2, 3});
  OK(crisol_eigvalsh(diagonal.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{-2, 3});
  OK(crisol_svd(diagonal.get(), 1, y.place(), z.place(), w.place()));
  CHECK(values_of(y.get()) == Floats{1, 0, 0, -1});
  CHECK(values_of(z.get()) == Floats{3, 2});
  CHECK(values_of(w.get()) == Floats{1, 0, 0, 1});
  OK(crisol_svdvals(diagonal.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{3, 2});
  OK(crisol_pinv(diagonal.get(), nullptr, y.place()));
  CHECK(std::abs(values_of(y.get())[3] + 0.5f) < 1e-6f);
  Handle rtol({0.9f}, {});
  OK(crisol_matrix_rank(diagonal.get(), rtol.get(), y.place()));
  CHECK(values_of<std::int64_t>(y.get()) == Longs{1});
  OK(crisol_matrix_norm(diagonal.get(), "nuc", 0, 0, y.place()));
  CHECK(values_of(y.get()) == Floats{5});
  OK(crisol_matrix_norm(diagonal.get(), nullptr, -1, 1, y.place()));
  CHECK(values_of(y.get()) == Floats{2});
  OK(crisol_matrix_power(diagonal.get(), 2, y.place()));
  CHECK(values_of(y.get()) == Floats{9, 0, 0, 4});
}

TEST_CASE("C: slices and rearrangements are the C++ functions") {
  const Tensor t = arange(0, 15).reshape({3, 5});
  Handle x(t.to_vector<float>(), {3, 5}), y;
  const auto sliced = [&](std::int64_t start, std::int64_t length, std::int64_t step, const Slice& slice) {
    OK(crisol_slice(x.get(), 1, start, length, step, y.place()));
    CHECK(values_of(y.get()) == t[{Slice(), slice}].to_vector<float>());
  };
  sliced(1, 3, 1, Slice(1, 4));
  sliced(0, 3, 2, Slice({}, {}, 2));
  sliced(4, 5, -1, Slice({}, {}, -1));
  sliced(4, 2, -3, Slice({}, 0, -3));
  sliced(2, 1, -100, Slice(2, 3));
  sliced(0, 0, 1, Slice(0, 0));
  refused(crisol_slice(x.get(), 1, 0, 3, 3, y.place()), CRISOL_INVALID_ARGUMENT, {"[slice]", "length 3", "step 3"});
  refused(crisol_slice(x.get(), 1, 1, 3, -1, y.place()), CRISOL_INVALID_ARGUMENT, {"[slice]", "step -1"});
  refused(crisol_slice(x.get(), 0, 3, 1, 1, y.place()), CRISOL_INVALID_ARGUMENT, {"[slice]", "start 3", "(3, 5)"});
  refused(crisol_slice(x.get(), 0, 0, 2, 0, y.place()), CRISOL_INVALID_ARGUMENT, {"[slice]", "step is 0"});
  OK(crisol_slice(x.get(), 1, 1, 2, 2, y.place()));
  Handle nine({9}, {1});
  OK(crisol_tensor_copy(y.get(), nine.get()));  // A positive step is a view.
  CHECK(values_of(x.get()) == Floats{0, 9, 2, 9, 4, 5, 9, 7, 9, 9, 10, 9, 12, 9, 14});

  Handle z(t.to_vector<float>(), {3, 5});
  const std::int64_t axes[] = {0, 1}, shifts[] = {1, -2}, counts[] = {2, 1};
  OK(crisol_flip(z.get(), 2, axes, y.place()));
  CHECK(values_of(y.get()) == flip(t, {0, 1}).to_vector<float>());
  OK(crisol_roll(z.get(), 2, shifts, 2, axes, y.place()));
  CHECK(values_of(y.get()) == roll(t, {1, -2}, {0, 1}).to_vector<float>());
  OK(crisol_roll(z.get(), 1, shifts, 0, nullptr, y.place()));
  CHECK(values_of(y.get()) == roll(t, 1).to_vector<float>());
  OK(crisol_repeat(z.get(), 2, counts, y.place()));
  CHECK(values_of(y.get()) == repeat(t, {2, 1}).to_vector<float>());
  OK(crisol_tile(z.get(), 1, counts, y.place()));
  CHECK(values_of(y.get()) == tile(t, 2).to_vector<float>());
  int close = -1;
  OK(crisol_allclose(z.get(), z.get(), 1e-5, 1e-8, 0, &close));
  CHECK(close == 1);
  OK(crisol_isclose(z.get(), x.get(), 1e-5, 1e-8, 0, y.place()));
  CHECK(values_of<std::uint8_t>(y.get())[1] == 0);
  OK(crisol_tensor_linspace(here, CRISOL_F32, 0, 1, 3, y.place()));
  CHECK(values_of(y.get()) == Floats{0, 0.5f, 1});
  OK(crisol_tensor_eye(here, CRISOL_F32, 2, 3, y.place()));
  CHECK(values_of(y.get()) == Floats{1, 0, 0, 0, 1, 0});
  refused(crisol_tensor_eye(here, CRISOL_F32, -1, 3, y.place()), CRISOL_INVALID_ARGUMENT, {"[eye]", "-1"});
}
