#include "crisol/ops/view.h"

#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

Tensor counted(const Shape& shape) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(static_cast<double>(i));
  return tensor_of(values, shape);
}

}  // namespace

TEST_CASE("view: reshape keeps the order, as a view where it can") {
  const Tensor x = counted({2, 3, 4});
  const std::vector<double> order = values_of(x);
  for (const Shape& shape :
       {Shape{24}, Shape{6, 4}, Shape{2, 12}, Shape{4, 3, 2}, Shape{1, 24, 1}, Shape{2, 1, 3, 4}}) {
    const Tensor y = ops::reshape(x, shape);
    check_close(y, shape, order, {0});
    CHECK(y.shares_storage_with(x));
    CHECK(y.is_contiguous());
  }
  check_close(ops::reshape(x, {-1}), {24}, order, {0});
  check_close(ops::reshape(x, {4, -1}), {4, 6}, order, {0});
  check_close(ops::reshape(counted({1}), {}), {}, {0}, {0});
  check_close(ops::reshape(counted({}), {1, 1}), {1, 1}, {0}, {0});
  CHECK(ops::reshape(zeros({0, 3}), {3, 0, 5}).shape() == Shape{3, 0, 5});
  CHECK(ops::reshape(zeros({0, 3}), {-1, 3}).shape() == Shape{0, 3});

  // Every layout, compared with the contiguous one. A strided or permuted tensor can only be split.
  for (const Layout layout : all_layouts) {
    const Tensor view = view_of(order, {2, 3, 4}, layout);
    CAPTURE(name_of(layout));
    for (const Shape& shape : {Shape{24}, Shape{6, 4}, Shape{2, 12}, Shape{2, 3, 2, 2}, Shape{1, 2, 3, 1, 4, 1}})
      check_close(ops::reshape(view, shape), shape, order, {0});
    CHECK(ops::reshape(view, {2, 3, 2, 2}).shares_storage_with(view));
  }
  const Tensor transposed = ops::transpose(x, 0, 2);  // (4, 3, 2)
  CHECK_FALSE(ops::reshape(transposed, {12, 2}).shares_storage_with(x));
  CHECK(ops::reshape(transposed, {2, 2, 3, 2}).shares_storage_with(x));
  const Tensor wide = ops::expand(counted({3, 1}), {3, 4});
  check_close(ops::reshape(wide, {12}), {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}, {0});
  check_close(ops::reshape(wide, {3, 2, 2}), {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}, {0});
  CHECK(ops::reshape(wide, {3, 2, 2}).shares_storage_with(wide));

  check_error([&] { ops::reshape(x, {5, 5}); }, {"[reshape]", "(5, 5)", "25", "(2, 3, 4)", "24"});
  check_error([&] { ops::reshape(x, {5, -1}); }, {"[reshape]", "(5, -1)", "24"});
  check_error([&] { ops::reshape(x, {-1, -1}); }, {"[reshape]", "more than one -1"});
  check_error([&] { ops::reshape(x, {-2, 12}); }, {"[reshape]", "-2"});
  check_error([&] { ops::reshape(zeros({0}), {0, -1}); }, {"[reshape]", "(0, -1)"});
  // A product that overflows to the right number of elements is still refused.
  const std::int64_t far = std::int64_t{1} << 32;
  check_error([&] { ops::reshape(zeros({0}), {far, far}); }, {"[reshape]", "(4294967296, 4294967296)"});
  check_error([&] { ops::reshape(x, {far, far, -1}); }, {"[reshape]", "(4294967296, 4294967296, 1)"});
  check_error([&] { ops::reshape(Tensor(), {1}); }, {"[reshape]", "undefined"});
}

TEST_CASE("view: flatten") {
  const Tensor x = counted({2, 3, 4});
  CHECK(ops::flatten(x).shape() == Shape{24});
  CHECK(ops::flatten(x, 1).shape() == Shape{2, 12});
  CHECK(ops::flatten(x, 0, 1).shape() == Shape{6, 4});
  CHECK(ops::flatten(x, -2, -1).shape() == Shape{2, 12});
  CHECK(ops::flatten(x, 1, 1).shape() == Shape{2, 3, 4});
  CHECK(ops::flatten(counted({})).shape() == Shape{1});
  CHECK(ops::flatten(zeros({2, 0, 3}), 1).shape() == Shape{2, 0});
  check_error([&] { ops::flatten(x, 2, 1); }, {"[flatten]", "2", "1"});
  check_error([&] { ops::flatten(x, 0, 3); }, {"[flatten]", "3", "rank 3"});
}

TEST_CASE("view: permute and transpose") {
  const Tensor x = counted({2, 3});
  check_close(ops::permute(x, {1, 0}), {3, 2}, {0, 3, 1, 4, 2, 5}, {0});
  check_close(ops::permute(x, {-1, -2}), {3, 2}, {0, 3, 1, 4, 2, 5}, {0});
  check_close(ops::transpose(x, 0, -1), {3, 2}, {0, 3, 1, 4, 2, 5}, {0});
  CHECK(ops::permute(counted({2, 3, 4}), {2, 0, 1}).shape() == Shape{4, 2, 3});
  CHECK(ops::permute(x, {1, 0}).shares_storage_with(x));
  check_error([&] { ops::permute(x, {0}); }, {"[permute]", "(0)", "(2, 3)"});
  check_error([&] { ops::permute(x, {0, 0}); }, {"[permute]", "named twice"});
  check_error([&] { ops::permute(x, {0, (std::int64_t{1} << 32) + 1}); }, {"[permute]", "axis 4294967297"});
  check_error([&] { ops::permute(x, {0, 2}); }, {"[permute]", "axis 2"});
  check_error([&] { ops::transpose(x, 0, 2); }, {"[transpose]", "axis 2", "rank 2"});
}

TEST_CASE("view: narrow and select") {
  const Tensor x = counted({3, 4});
  check_close(ops::narrow(x, 1, 1, 2), {3, 2}, {1, 2, 5, 6, 9, 10}, {0});
  check_close(ops::narrow(ops::narrow(x, 0, 1, 2), -1, 3, 1), {2, 1}, {7, 11}, {0});
  CHECK(ops::narrow(x, 0, 3, 0).shape() == Shape{0, 4});
  check_close(ops::select(x, 0, 1), {4}, {4, 5, 6, 7}, {0});
  check_close(ops::select(x, 1, -1), {3}, {3, 7, 11}, {0});
  check_close(ops::select(ops::select(x, 0, 2), 0, 1), {}, {9}, {0});
  check_error([&] { ops::narrow(x, 1, 3, 2); }, {"[narrow]", "start 3", "length 2", "(3, 4)"});
  check_error([&] { ops::narrow(x, 1, -1, 2); }, {"[narrow]", "-1"});
  check_error([&] { ops::narrow(x, 1, 0, -1); }, {"[narrow]", "-1"});
  check_error([&] { ops::narrow(x, 2, 0, 1); }, {"[narrow]", "axis 2"});
  check_error([&] { ops::select(x, 1, 4); }, {"[select]", "index 4", "(3, 4)"});
  check_error([&] { ops::select(x, 0, -4); }, {"[select]", "index -4"});
}

TEST_CASE("view: expand, squeeze, unsqueeze") {
  const Tensor x = counted({2, 1});
  check_close(ops::expand(x, {2, 3}), {2, 3}, {0, 0, 0, 1, 1, 1}, {0});
  check_close(ops::expand(x, {2, -1, 2}), {2, 2, 2}, {0, 0, 1, 1, 0, 0, 1, 1}, {0});
  CHECK(ops::expand(x, {-1, 0}).shape() == Shape{2, 0});
  CHECK(ops::expand(x, {2, 3}).shares_storage_with(x));
  CHECK(ops::squeeze(x, 1).shape() == Shape{2});
  CHECK(ops::squeeze(x, 0).shape() == Shape{2, 1});
  CHECK(ops::unsqueeze(x, 0).shape() == Shape{1, 2, 1});
  CHECK(ops::unsqueeze(x, -1).shape() == Shape{2, 1, 1});
  CHECK(ops::unsqueeze(counted({}), 0).shape() == Shape{1});
  check_close(ops::unsqueeze(ops::transpose(counted({2, 3}), 0, 1), 1), {3, 1, 2}, {0, 3, 1, 4, 2, 5}, {0});
  check_error([&] { ops::expand(x, {3, 3}); }, {"[expand]", "(2, 1)", "(3, 3)"});
  check_error([&] { ops::expand(x, {2}); }, {"[expand]", "(2)", "(2, 1)"});
  const std::int64_t huge = std::int64_t{1} << 40;
  check_error([&] { ops::expand(zeros({1}), {huge, huge}); }, {"[expand]", "too many elements"});
  check_error([&] { ops::expand(x, {-1, 2, 1}); }, {"[expand]", "(-1, 2, 1)"});
  check_error([&] { ops::squeeze(x, 2); }, {"[squeeze]", "axis 2"});
  check_error([&] { ops::unsqueeze(x, 4); }, {"[unsqueeze]", "axis 4"});
}

TEST_CASE("view: reinterpret shows the same bytes as elements of another type") {
  const Tensor x = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor bits = ops::reinterpret(x, DType::i32, {3, 2}, {1, 3}, 0);
  CHECK(bits.shares_storage_with(x));
  CHECK(bits.to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{0x3f800000, 0x40800000, 0x40000000, 0x40a00000, 0x40400000, 0x40c00000});
  const Tensor halves = ops::reinterpret(x, DType::u16, {6}, {2}, 1);
  ops::fill_into(halves, 0x4100);  // The upper half of 8.
  check_close(x, {8, 8, 8, 8, 8, 8}, {0});
  // The elements behind the last whole one of another type belong to no view.
  CHECK(ops::reinterpret(ops::reinterpret(x, DType::u8, {7}, {1}, 0), DType::f32, {6}, {1}, 0).numel() == 6);
  check_error([&] { ops::reinterpret(x, DType::f16, {13}, {1}, 0); }, {"[reinterpret]", "13", "12 elements"});
  check_error([&] { ops::reinterpret(x, DType::f16, {2}, {1, 1}, 0); }, {"[reinterpret]", "(1, 1)"});
  check_error([&] { ops::reinterpret(x, DType::f16, {2}, {1}, 13); }, {"[reinterpret]", "offset 13"});
  check_error([] { ops::reinterpret(Tensor(), DType::f16, {2}, {1}, 0); }, {"[reinterpret]", "undefined"});
}
