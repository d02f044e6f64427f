// index_get, index_put, take and take_along_axis: reading and writing at the positions of several tensors.
#include <array>
#include <limits>
#include <optional>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/grad_mode.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

namespace {

using Inputs = std::vector<Tensor>;
using testing::check_close;
using testing::check_error;
using testing::check_gradients;
using testing::check_wrong_index;
using testing::random_integers;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;
using Numbers = std::vector<double>;

constexpr DType all_dtypes[] = {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean};

/// Steps through the positions of a shape, the last axis fastest. Returns false after the last position.
bool next(Numbers& at, const Shape& shape) {
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (++at[static_cast<std::size_t>(axis)] < static_cast<double>(shape[axis])) return true;
    at[static_cast<std::size_t>(axis)] = 0;
  }
  return false;
}

std::int64_t place_of(const Numbers& at, const Shape& shape) {
  std::int64_t place = 0;
  for (int axis = 0; axis < shape.rank(); ++axis)
    place = place * shape[axis] + static_cast<std::int64_t>(at[static_cast<std::size_t>(axis)]);
  return place;
}

/// x[indices] by NumPy's rules: the shape of the result, and the place in x of each element, in order. Indices are
/// whole numbers; a missing one takes a whole axis.
struct Expected {
  Shape shape;
  std::vector<std::int64_t> places;

  Expected(const Shape& x, const std::vector<std::optional<Tensor>>& indices, const Shape& joint) {
    std::vector<int> picked, whole;
    for (int axis = 0; axis < x.rank(); ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      (i < indices.size() && indices[i] ? picked : whole).push_back(axis);
    }
    const bool adjacent = picked.back() - picked.front() + 1 == static_cast<int>(picked.size());
    int ahead = 0;
    for (const int axis : whole) ahead += adjacent && axis < picked.front() ? 1 : 0;
    for (int i = 0; i < ahead; ++i) shape.push_back(x[whole[static_cast<std::size_t>(i)]]);
    for (const std::int64_t size : joint) shape.push_back(size);
    for (std::size_t i = static_cast<std::size_t>(ahead); i < whole.size(); ++i) shape.push_back(x[whole[i]]);
    std::vector<Numbers> positions;
    for (const int axis : picked)
      positions.push_back(values_of(indices[static_cast<std::size_t>(axis)]->expand(joint)));
    if (shape.numel() == 0) return;
    Numbers at(static_cast<std::size_t>(shape.rank()));
    do {
      Numbers source(static_cast<std::size_t>(x.rank()));
      for (std::size_t i = 0; i < whole.size(); ++i) {
        const std::size_t from = i < static_cast<std::size_t>(ahead) ? i : i + static_cast<std::size_t>(joint.rank());
        source[static_cast<std::size_t>(whole[i])] = at[from];
      }
      const Numbers of_index(at.begin() + ahead, at.begin() + ahead + joint.rank());
      for (std::size_t k = 0; k < picked.size(); ++k) {
        const double position = positions[k][static_cast<std::size_t>(place_of(of_index, joint))];
        source[static_cast<std::size_t>(picked[k])] =
            position < 0 ? position + static_cast<double>(x[picked[k]]) : position;
      }
      places.push_back(place_of(source, x));
    } while (next(at, shape));
  }
};

struct Case {
  Shape x, joint;
  std::vector<std::optional<Tensor>> indices;

  std::vector<Tensor> given() const {
    std::vector<Tensor> all;
    for (const std::optional<Tensor>& index : indices) all.push_back(index.value_or(Tensor()));
    return all;
  }
};

Tensor positions(std::uint64_t seed, const Shape& shape, std::int64_t size, DType dtype = DType::i64) {
  const int high = static_cast<int>(size) - 1;
  return tensor_of(random_integers(seed, shape.numel(), dtype == DType::u8 ? 0 : -high - 1, high), shape, dtype);
}

/// Indices next to each other, separated by whole axes, of different ranks and dtypes, and without elements.
std::vector<Case> cases() {
  const std::optional<Tensor> whole;
  return {{{5, 3, 4}, {7}, {positions(1, {7}, 5)}},
          {{5, 3, 4}, {2, 3}, {whole, positions(2, {2, 3}, 3, DType::i32)}},
          {{5, 3, 4}, {2, 3}, {whole, positions(3, {2, 1}, 3), positions(4, {3}, 4, DType::u8)}},
          {{5, 3, 4}, {6}, {positions(5, {6}, 5), whole, positions(6, {6}, 4)}},
          {{5, 3, 4}, {2, 2}, {positions(7, {2, 2}, 5), whole, positions(8, {}, 4, DType::i32)}},
          {{5, 3, 4}, {9}, {positions(9, {9}, 5), positions(10, {1}, 3), positions(11, {9}, 4)}},
          {{2, 3, 2, 5}, {4}, {whole, positions(12, {4}, 3), whole, positions(13, {4}, 5)}},
          {{5, 3}, {}, {positions(14, {}, 5)}},
          {{5, 3}, {0}, {whole, zeros({0}, DType::i64)}},
          {{0, 3}, {2}, {whole, positions(15, {2}, 3)}}};
}

}  // namespace

TEST_CASE("index_get: positions of every kind of place, every dtype") {
  for (const Case& one : cases()) {
    CAPTURE(one.x);
    const Expected expected(one.x, one.indices, one.joint);
    for (const DType dtype : all_dtypes) {
      const bool small = dtype == DType::boolean;
      const Numbers x = random_integers(20, one.x.numel(), 0, small ? 1 : 100);
      Numbers wanted;
      for (const std::int64_t place : expected.places) wanted.push_back(x[static_cast<std::size_t>(place)]);
      const Tensor y = index_get(tensor_of(x, one.x, dtype), one.given());
      CHECK(y.dtype() == dtype);
      check_close(y, expected.shape, wanted, {0});
    }
  }
}

TEST_CASE("index_put: replaces and adds, functional and in place, in every layout") {
  for (const Case& one : cases()) {
    CAPTURE(one.x);
    const Expected expected(one.x, one.indices, one.joint);
    for (const DType dtype : all_dtypes)
      for (const bool accumulate : {false, true}) {
        if (accumulate && dtype == DType::boolean) continue;
        const int high = dtype == DType::boolean ? 1 : 9;
        const Numbers x = random_integers(21, one.x.numel(), 0, high),
                      v = random_integers(22, expected.shape.numel(), 0, high);
        Numbers wanted = x;
        for (std::size_t i = 0; i < v.size(); ++i) {
          double& element = wanted[static_cast<std::size_t>(expected.places[i])];
          element = accumulate ? element + v[i] : v[i];
        }
        const Tensor value = tensor_of(v, expected.shape, dtype);
        check_close(index_put(tensor_of(x, one.x, dtype), one.given(), value, accumulate), one.x, wanted, {0});
        for (const testing::Layout layout : testing::all_layouts) {
          Tensor target = testing::view_of(x, one.x, layout, dtype);
          target.index_put_(one.given(), value, accumulate);
          check_close(target, one.x, wanted, {0});
        }
      }
  }
}

TEST_CASE("index_put: values broadcast and are cast, and the last one stays") {
  const Tensor rows = from_vector<std::int64_t>({1, -1, 1});
  const Tensor y = index_put(zeros({3, 2}, DType::i32), {rows}, tensor_of({1.75, 2.5, 3.25}, {3, 1}));
  check_close(y, {3, 2}, {0, 0, 3, 3, 2, 2}, {0});
  check_close(index_put(zeros({2, 2}), {rows.narrow(0, 0, 1)}, 7), {2, 2}, {0, 0, 7, 7}, {0});
  constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;
  CHECK(index_put(zeros({2}, DType::i64), {rows.narrow(0, 0, 1)}, large).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{0, large});
  Tensor x = tensor_of({1, 2, 3, 4}, {4});  // The value is read before it is overwritten.
  x.index_put_({from_vector<std::int64_t>({1, 2, 3})}, x.narrow(0, 0, 3));
  check_close(x, {1, 1, 2, 3}, {0});
}

TEST_CASE("index_get and index_put: masks") {
  const Numbers v = random_values(23, 24), m = random_integers(24, 6, 0, 1);
  const Tensor x = tensor_of(v, {2, 3, 4}), mask = tensor_of(m, {2, 3}, DType::boolean);
  Numbers read, written = v, added = v;
  for (std::size_t i = 0; i < 24; ++i)
    if (m[i / 4] != 0) {
      read.push_back(v[i]);
      written[i] = -1;
      added[i] += 2;
    }
  const auto count = static_cast<std::int64_t>(read.size() / 4);
  check_close(index_get(x, {mask}), {count, 4}, read, {0});
  check_close(index_put(x, {mask}, -1), written, {0});
  check_close(index_put(x, {mask}, full({4}, -1)), written, {0});
  check_close(index_put(x, {mask}, 2, true), added, {1});
  Tensor y = x.clone();
  y.index_put_({mask}, tensor_of({-1}, {}));
  check_close(y, written, {0});
  y.index_put_({mask}, index_get(x, {mask}));
  check_close(y, v, {0});
  // Behind a whole axis, and together with positions.
  const Tensor columns = tensor_of({1, 0, 1, 1}, {4}, DType::boolean);
  check_close(index_get(x, {Tensor(), Tensor(), columns}),
              x.index_select(2, from_vector<std::int64_t>({0, 2, 3})).shape(),
              values_of(x.index_select(2, from_vector<std::int64_t>({0, 2, 3}))), {0});
  const Tensor both = index_get(x, {from_vector<std::int64_t>({1, 0, -1}), Tensor(), columns});
  check_close(both, {3, 3}, {v[12], v[16], v[20], v[2], v[6], v[10], v[15], v[19], v[23]}, {0});
  check_close(index_put(x, {Tensor(), Tensor(), columns}, 0).select(2, 1), values_of(x.select(2, 1)), {0});
  // No element, and masks of rank 0.
  CHECK(index_get(x, {zeros({2, 3, 4}, DType::boolean)}).shape() == Shape{0});
  check_close(index_put(x, {zeros({2}, DType::boolean)}, zeros({0, 3, 4})), v, {0});
  const Tensor yes = ones({}, DType::boolean), no = zeros({}, DType::boolean), scalar = tensor_of({5}, {});
  check_close(index_get(scalar, {yes}), {1}, {5}, {0});
  CHECK(index_get(scalar, {no}).shape() == Shape{0});
  CHECK(index_get(x, {no}).shape() == Shape{0, 2, 3, 4});
  check_close(index_put(scalar, {yes}, 6), {}, {6}, {0});
  check_close(index_put(scalar, {no}, 6), {}, {5}, {0});
  Tensor changed = scalar.clone();
  changed.index_put_({yes}, 6);
  check_close(changed, {}, {6}, {0});
}

TEST_CASE("index_get and index_put: positions outside their axes") {
  const Tensor x = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3}), rows = from_vector<std::int64_t>({0, -3, 2}),
               columns = from_vector<std::int64_t>({-4, 0, 1});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor of_both = index_get(x, {rows, columns}), put = index_put(x, {rows, columns}, 9);
  check_wrong_index(of_both, {"[index_get]", "an index is outside its axis"});
  check_close(of_both, {nan, nan, nan}, {0});
  check_close(put, values_of(x), {0});
  const Tensor of_rows = index_get(x, {rows});
  check_wrong_index(of_rows, {"[index_get]", "index ", "is not in [-2, 2)"});
  check_close(of_rows, {3, 3}, {1, 2, 3, nan, nan, nan, nan, nan, nan}, {0});
  Tensor written = x.clone();
  written.index_put_({from_vector<std::int64_t>({-5})}, 9);
  check_wrong_index(written, {"[index_put_]", "index -5 is not in [-2, 2)"});
  check_wrong_index(take(x, from_vector<std::int64_t>({0, 6})), {"[take]", "index 6 is not in [-6, 6)"});
  check_wrong_index(take_along_axis(x, from_vector<std::int64_t>({0, -4}, {2, 1})),
                    {"[take_along_axis]", "index -4 is not in [-3, 3)"});
}

TEST_CASE("index_get and index_put: gradients") {
  const Tensor x = tensor_of(random_values(25, 60), {3, 4, 5});
  const Tensor a = positions(26, {6}, 3), b = positions(27, {6}, 5), row = from_vector<std::int64_t>({2, 0, 2});
  const Tensor mask = tensor_of(random_integers(28, 12, 0, 1), {3, 4}, DType::boolean);
  check_gradients([&](const Inputs& in) { return index_get(in[0], {a, Tensor(), b}); }, {x});
  check_gradients([&](const Inputs& in) { return index_get(in[0], {mask}); }, {x});
  const Tensor value = tensor_of(random_values(29, 24), {6, 4}), slices = tensor_of(random_values(30, 20), {4, 5});
  for (const bool accumulate : {false, true}) {
    check_gradients(
        [&](const Inputs& in) {
          return index_put(in[0], {a, Tensor(), b}, in[1], accumulate);
        },
        {x, value});
    check_gradients([&](const Inputs& in) { return index_put(in[0], {row}, in[1], accumulate); }, {x, slices});
  }
  check_gradients([&](const Inputs& in) { return index_put(in[0], {mask}, in[1]); }, {x, tensor_of({0.5}, {})});
  testing::check_gradients_of_gradients(
      [&](const Inputs& in) {
        return square(index_put(in[0], {a, Tensor(), b}, in[1]));
      },
      {x, value});
}

TEST_CASE("index_get and index_put: refusals change nothing") {
  Tensor x = zeros({2, 3});
  const Tensor at = zeros({2}, DType::i64);
  check_error([&] { index_get(x, {}); }, {"[index_get]", "no tensor of positions"});
  check_error([&] { index_get(x, {Tensor(), Tensor()}); }, {"[index_get]", "no tensor of positions"});
  check_error([&] { index_get(x, {at, at, at}); }, {"[index_get]", "3 indices", "(2, 3)"});
  check_error([&] { index_get(x, {zeros({2})}); }, {"[index_get]", "f32"});
  check_error([&] { index_get(x, {zeros({3}, DType::i64), at}); }, {"[index_get]", "(3)", "(2)"});
  check_error([&] { index_get(x, {zeros({3}, DType::boolean)}); }, {"[index_get]", "mask", "(3)", "(2, 3)"});
  check_error([&] { index_get(Tensor(), {at}); }, {"[index_get]", "undefined"});
  check_error([&] { index_put(x, {at}, zeros({4})); }, {"[index_put]", "(4)", "(2, 3)"});
  check_error([&] { x.index_put_({at}, zeros({5, 2, 3})); }, {"[index_put_]", "(5, 2, 3)", "(2, 3)"});
  check_error([&] { index_put(zeros({2}, DType::boolean), {at}, true, true); }, {"[index_put]", "bool"});
  Tensor leaf = ones({2, 3}).requires_grad_();
  check_error([&] { leaf.index_put_({at}, 1); }, {"[index_put_]", "NoGrad"});
  Tensor recorded = x.clone();
  recorded.index_put_({at}, leaf[0]);
  CHECK(recorded.requires_grad());
  check_close(x, {0, 0, 0, 0, 0, 0}, {0});
  const NoGrad off;
  leaf.index_put_({at}, 4);
  check_close(leaf, {4, 4, 4, 1, 1, 1}, {0});
}

TEST_CASE("take and take_along_axis: every axis, broadcasting, negative positions, gradients") {
  const Shape shape{3, 4, 5};
  const Numbers v = random_values(31, 60);
  const Tensor x = tensor_of(v, shape);
  for (int axis = -3; axis < 3; ++axis) {
    CAPTURE(axis);
    const int at = axis < 0 ? axis + 3 : axis;
    const Tensor index = positions(32, {2, 3}, shape[at]);
    std::vector<std::optional<Tensor>> indices(static_cast<std::size_t>(at) + 1);
    indices.back() = index;
    const Expected expected(shape, indices, {2, 3});
    Numbers wanted;
    for (const std::int64_t place : expected.places) wanted.push_back(v[static_cast<std::size_t>(place)]);
    check_close(take(x, index, axis), expected.shape, wanted, {0});
    Shape of_index{1, 1, 1};
    of_index[at] = 6;
    Shape result = shape;
    result[at] = 6;
    const Tensor same = take(x, index.reshape({6}), axis);
    check_close(take_along_axis(x, index.reshape(of_index), axis), result, values_of(same), {0});
  }
  check_close(take(x, from_vector<std::int32_t>({59, -60, 7})), {3}, {v[59], v[0], v[7]}, {0});
  const Tensor one = x.narrow(0, 0, 1), many = positions(33, {2, 1, 7}, 5);
  const Tensor y = take_along_axis(one, many, -1);
  CHECK(y.shape() == Shape{2, 4, 7});
  check_close(y.select(0, 1), values_of(take(one.select(0, 0), many.select(0, 1).reshape({7}), 1)), {0});
  check_gradients([&](const Inputs& in) { return take_along_axis(in[0], many, -1); }, {one});
  check_gradients([&](const Inputs& in) { return take(in[0], positions(34, {2, 3}, 4), 1); }, {x});
  check_error([&] { take_along_axis(x, zeros({2}, DType::i64), 0); }, {"[take_along_axis]", "(2)", "(3, 4, 5)"});
  check_error([&] { take_along_axis(x, zeros({2, 4, 5}, DType::i64), 2); }, {"[take_along_axis]", "(3, 4", "(2, 4"});
  check_error([&] { take(x, zeros({2}, DType::boolean), 0); }, {"[take]", "bool"});
  check_error([&] { take(x, zeros({2}, DType::i64), 3); }, {"[take]", "3"});
}

}  // namespace crisol
