// The kernels of decompositions with every way in which groups share a matrix.
#include <algorithm>
#include <cmath>

#include "crisol/ops/elementwise.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/sort.h"
#include "crisol/ops/triangle.h"
#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "ops/decompose/householder.h"
#include "ops/decompose/jacobi.h"
#include "reference/decompose.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;

/// Calls check(sharing) for work-items alone and in groups, with one group to a matrix and with several.
template <class Check>
void for_each_sharing(const Check& check) {
  const dispatch::Target target = dispatch::target_of(state_of(ones({1})));
  for (const ops::RowGeometry& geometry : {ops::vector_rows(target), ops::tree_rows(target)})
    for (const std::int64_t slots : {1, 3}) {
      CAPTURE(geometry.group);
      CAPTURE(slots);
      check(ops::RowSharing{geometry, slots});
    }
}

}  // namespace

TEST_CASE("householder: every sharing gives the product Q R") {
  const Tensor x = tensor_of(random_values(1, 2 * 6 * 21), {2, 6, 21});
  for_each_sharing([&](const ops::RowSharing& sharing) {
    const ops::MatrixRows rows = ops::load_rows(x, false);
    const ops::Reflections made = ops::reflect(rows, sharing);
    const Tensor r = ops::mul(ops::tril(ops::narrow(rows.x, 2, 0, 6)), ops::reshape(rows.scales, {2, 1, 1}));
    check_close(ops::matmul(r, ops::columns_of(made, 6)), values_of(x), {30, 1});
  });
}

TEST_CASE("decompositions: groups have no longer loops than the device runs") {
  dispatch::Target target = dispatch::target_of(state_of(ones({1})));
  target.loop_budget = 4000;
  for (const std::int64_t units : {1, 50, 1000})
    for (const std::int64_t length : {16, 1600, 16000}) {
      CAPTURE(units);
      CAPTURE(length);
      const ops::RowSharing sharing = ops::sharing_of(target, DType::f32, 100, units, length);
      const std::int64_t chunks = length / sharing.geometry.lanes / sharing.geometry.group;
      CHECK((units / sharing.slots) * 2 * chunks <= target.loop_budget);
    }
  check_error([&] { ops::sharing_of(target, DType::f32, 1, 1, 1 << 20); }, {"1048576"});
}

TEST_CASE("jacobi: every sharing gives the values of the reference") {
  const Tensor x = tensor_of(random_values(2, 2 * 7 * 7), {2, 7, 7});
  for (const bool symmetric : {false, true})
    for_each_sharing([&](const ops::RowSharing& sharing) {
      CAPTURE(symmetric);
      const ops::MatrixRows rows = ops::load_rows(x, true, symmetric);
      const Tensor values = ops::sort(ops::rotate_rows(rows, symmetric, sharing), -1, !symmetric).values;
      const std::vector<double> all = values_of(x);
      for (std::int64_t i = 0; i < 2; ++i) {
        const std::vector<double> matrix(all.begin() + i * 49, all.begin() + (i + 1) * 49);
        const auto expected = symmetric ? reference::eigenvalues(matrix, 7) : reference::singular_values(matrix, 7, 7);
        check_close(ops::select(values, 0, i), expected, {30, 3});
      }
    });
}

}  // namespace crisol
