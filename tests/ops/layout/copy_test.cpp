#include "crisol/ops/copy.h"

#include <cmath>
#include <limits>

#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/skip.h"
#include "tensor/impl.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr DType all_dtypes[] = {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean, DType::bf16};

// Whole numbers, converted to a dtype.
std::vector<double> as_dtype(std::vector<double> values, DType dtype) {
  if (dtype == DType::boolean)
    for (double& value : values) value = value != 0;
  return values;
}

}  // namespace

TEST_CASE("copy: every pair of dtypes, from and to every layout") {
  const Shape shape{3, 5, 7};
  const std::vector<double> values = random_integers(3, shape.numel(), 0, 3);
  for (const DType from : all_dtypes) {
    for (const DType to : all_dtypes) {
      for (const Layout layout : all_layouts) {
        // Each dtype pair compiles a program, and strided layouts need another kernel. So only some pairs run with
        // strided layouts.
        const bool contiguous = layout == Layout::contiguous || layout == Layout::offset;
        if (!contiguous && from != to && from != DType::f32) continue;
        CAPTURE(from);
        CAPTURE(to);
        CAPTURE(name_of(layout));
        const std::vector<double> held = as_dtype(values, from);
        const Tensor x = view_of(values, shape, layout, from);
        const Tensor converted = ops::cast(x, to);
        CHECK(converted.dtype() == to);
        check_close(converted, shape, as_dtype(held, to), {0});
        const Tensor target = view_of(std::vector<double>(values.size(), 1), shape, layout, to);
        ops::copy_into(target, x);
        check_close(target, shape, as_dtype(held, to), {0});
      }
    }
  }
}

TEST_CASE("copy: conversions follow C") {
  const std::vector<double> values{-2.75, -0.5, 0, 0.25, 1.5, 3.999, 100, -100};
  const Tensor x = tensor_of(values, {8});
  check_close(ops::cast(x, DType::i32), {-2, 0, 0, 0, 1, 3, 100, -100}, {0});
  check_close(ops::cast(x, DType::i64), {-2, 0, 0, 0, 1, 3, 100, -100}, {0});
  check_close(ops::cast(x, DType::boolean), {1, 1, 0, 1, 1, 1, 1, 1}, {0});
  check_close(ops::cast(ops::cast(x, DType::f16), DType::boolean), {1, 1, 0, 1, 1, 1, 1, 1}, {0});

  // Halves: ties to even, overflow to infinity, subnormals kept. The expected values come from the host's own
  // conversion.
  const std::vector<double> edges{1 + 0x1p-11, 1 + 3 * 0x1p-11, 65504, 65520, 0x1p-24, 0x1p-14, -0x1p-20, 0.1};
  std::vector<double> rounded;
  for (const double edge : edges) rounded.push_back(static_cast<float>(Half(static_cast<float>(edge))));
  for (const Layout layout : {Layout::contiguous, Layout::strided})
    check_close(ops::cast(view_of(edges, {8}, layout), DType::f16), rounded, {0});
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  check_close(ops::cast(tensor_of({nan, infinity, -infinity}, {3}), DType::f16), {nan, infinity, -infinity}, {0});

  const std::int64_t large = (std::int64_t{1} << 53) + 1;  // Neither double nor float holds it.
  const Tensor integers = from_vector<std::int64_t>({large, -large, 7});
  CHECK(ops::clone(integers).to_vector<std::int64_t>() == std::vector<std::int64_t>{large, -large, 7});
  CHECK(ops::clone(integers.impl() ? make_view(integers, {2}, {2}, 0) : integers).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{large, 7});
  check_close(ops::cast(integers, DType::boolean), {1, 1, 1}, {0});
}

TEST_CASE("copy: broadcasting, scalars and empty tensors") {
  const Tensor target = zeros({2, 3, 2});
  ops::copy_into(target, tensor_of({1, 2, 3}, {3, 1}));
  check_close(target, {1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}, {0});
  ops::copy_into(target, tensor_of({7}, {}, DType::i32));
  check_close(target, std::vector<double>(12, 7), {0});
  ops::copy_into(zeros({2, 0, 3}), zeros({3}));
  ops::copy_into(zeros({2, 0, 3}), zeros({2, 0, 1}));
  CHECK(ops::clone(zeros({0, 4})).shape() == Shape{0, 4});
  CHECK(ops::cast(zeros({0, 4}), DType::u8).dtype() == DType::u8);
  const Tensor row = tensor_of({1, 2, 3}, {3});
  check_close(ops::contiguous(make_view(row, {2, 3}, {0, 1}, 0)), {2, 3}, {1, 2, 3, 1, 2, 3}, {0});
}

TEST_CASE("copy: contiguous gives the tensor itself where it can, clone never") {
  const Tensor x = tensor_of({1, 2, 3, 4}, {2, 2});
  CHECK(ops::contiguous(x).impl() == x.impl());
  CHECK(ops::cast(x, DType::f32).impl() == x.impl());
  CHECK_FALSE(ops::clone(x).shares_storage_with(x));
  const Tensor transposed = make_view(x, {2, 2}, {1, 2}, 0);
  check_close(ops::contiguous(transposed), {1, 3, 2, 4}, {0});
  CHECK_FALSE(ops::contiguous(transposed).shares_storage_with(x));
}

TEST_CASE("copy: transposes of every size around the tile") {
  const MustRun variants("transpose_copy", {on_cpus("squares"), "tiles"});
  const std::int64_t sizes[] = {1, 2, 15, 16, 17, 33, 64};
  for_each_variant(variants, [&] {
    for (const std::int64_t rows : sizes) {
      for (const std::int64_t columns : sizes) {
        if (slow_device() && rows * columns > 300) continue;
        const Shape shape{2, rows, columns};
        const std::vector<double> values = random_integers(5, shape.numel(), -1000, 1000);
        for (const DType dtype : {DType::f32, DType::i32, DType::f16}) {
          if (dtype != DType::f32 && rows != 33) continue;
          CAPTURE(shape);
          CAPTURE(dtype);
          const Tensor x = tensor_of(values, shape, dtype);
          std::vector<double> expected;
          for (std::int64_t b = 0; b < 2; ++b)
            for (std::int64_t j = 0; j < columns; ++j)
              for (std::int64_t i = 0; i < rows; ++i)
                expected.push_back(values[static_cast<std::size_t>((b * rows + i) * columns + j)]);
          const Tensor transposed = make_view(x, {2, columns, rows}, {rows * columns, 1, columns}, 0);
          check_close(ops::contiguous(transposed), {2, columns, rows}, expected, {0});
          // Into a transposed destination.
          const Tensor target = zeros(shape, dtype);
          ops::copy_into(make_view(target, {2, columns, rows}, {rows * columns, 1, columns}, 0),
                         tensor_of(expected, {2, columns, rows}, dtype));
          check_close(target, shape, values, {0});
        }
      }
    }
  });
}

TEST_CASE("copy: transposes between views") {
  const MustRun variants("transpose_copy", {on_cpus("squares"), "tiles"});
  for_each_variant(variants, [] {
    // NCHW to NHWC and back, from and to the middle of larger tensors.
    const Shape shape{2, 18, 5, 7}, transposed{2, 5, 7, 18};
    const std::vector<double> values = random_values(6, shape.numel());
    std::vector<double> expected;
    for (std::size_t n = 0; n < 2; ++n)
      for (std::size_t p = 0; p < 35; ++p)
        for (std::size_t c = 0; c < 18; ++c) expected.push_back(values[(n * 18 + c) * 35 + p]);
    for (const Layout from : all_layouts) {
      for (const Layout to : all_layouts) {
        const Tensor x = view_of(values, shape, from);
        const Tensor y = view_of(std::vector<double>(values.size(), 0), transposed, to);
        ops::copy_into(y, ops::permute(x, {0, 2, 3, 1}));
        check_close(y, transposed, expected, {0});
      }
    }
  });
}

TEST_CASE("copy: more elements than one work-item takes") {
  if (slow_device()) CRISOL_SKIP("too large for this device");
  const Shape shape{67, 129, 31};
  const std::vector<double> values = random_values(11, shape.numel());
  for (const Layout layout : all_layouts) {
    CAPTURE(name_of(layout));
    check_close(ops::clone(view_of(values, shape, layout)), shape, values, {0});
  }
}

TEST_CASE("fill_into: every dtype and layout") {
  for (const DType dtype : all_dtypes) {
    for (const Layout layout : all_layouts) {
      // Each case needs one more program.
      if (layout != Layout::contiguous && dtype != DType::f32 && dtype != DType::f16) continue;
      const Tensor x = view_of(std::vector<double>(24, 1), {2, 3, 4}, layout, dtype);
      ops::fill_into(x, 5);
      check_close(x, as_dtype(std::vector<double>(24, 5), dtype), {0});
    }
  }
  const Tensor part = zeros({4, 4});
  ops::fill_into(make_view(part, {2, 2}, {4, 1}, 5), 2.5);
  check_close(part, {0, 0, 0, 0, 0, 2.5, 2.5, 0, 0, 2.5, 2.5, 0, 0, 0, 0, 0}, {0});
  ops::fill_into(zeros({0}), 1);
}

TEST_CASE("copy: versions rise and refusals change nothing") {
  const Tensor x = tensor_of({1, 2, 3}, {3});
  const auto version = [](const Tensor& t) { return t.impl()->storage->version.load(); };
  const auto before = version(x);
  check_error([&] { ops::copy_into(x, zeros({2})); }, {"[copy_into]", "(2)", "(3)"});
  check_error([&] { ops::copy_into(x, zeros({2, 3})); }, {"[copy_into]", "(2, 3)", "does not broadcast to (3)"});
  check_error([&] { ops::copy_into(make_view(x, {2, 3}, {0, 1}, 0), zeros({2, 3})); }, {"[copy_into]", "expanded"});
  check_error([&] { ops::fill_into(make_view(x, {2, 3}, {0, 1}, 0), 1); }, {"[fill_into]", "expanded"});
  check_error([&] { ops::copy_into(Tensor(), x); }, {"[copy_into]", "undefined"});
  CHECK(version(x) == before);
  check_close(x, {1, 2, 3}, {0});
  ops::copy_into(x, zeros({3}));
  CHECK(version(x) > before);
  const auto copied = version(x);
  ops::fill_into(x, 1);
  CHECK(version(x) > copied);
}

TEST_CASE("write_bytes: every layout, and the caller's memory is free at once") {
  const std::vector<double> values = random_values(13, 24);
  for (const Layout layout : all_layouts) {
    CAPTURE(name_of(layout));
    const Tensor x = view_of(std::vector<double>(24, 0), {2, 3, 4}, layout);
    std::vector<float> bytes(values.begin(), values.end());
    const auto before = x.impl()->storage->version.load();
    ops::write_bytes(x, bytes.data());
    std::fill(bytes.begin(), bytes.end(), 7.0f);
    check_close(x, {2, 3, 4}, std::vector<double>(values.begin(), values.end()), {1e-7});
    CHECK(x.impl()->storage->version.load() > before);
  }
  ops::write_bytes(zeros({0, 3}), nullptr);
  const float number = 1;
  check_error([&] { ops::write_bytes(make_view(zeros({1}), {3}, {0}, 0), &number); }, {"expanded"});
  check_error([&] { ops::write_bytes(Tensor(), &number); }, {"[write_bytes]", "undefined"});
}
