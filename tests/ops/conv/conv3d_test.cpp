// Convolution of volumes and its gradients, compared with the reference: odd windows, groups, views, refusals.
#include "crisol/ops/conv.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "reference/images/conv2d.h"
#include "reference/images/conv2d_cases.h"
#include "support/compare.h"

namespace crisol {

namespace {

using namespace testing;
using Case = reference::Conv3dCase;
using reference::conv3d_tolerance;

/// A tensor (N, C, D, H, W) with these values. Its channels are the last axis in memory.
Tensor channels_last(const std::vector<double>& values, const Shape& shape) {
  Tensor transposed = zeros({shape[0], shape[2], shape[3], shape[4], shape[1]});
  const Tensor view = ops::permute(transposed, {0, 4, 1, 2, 3});
  ops::copy_into(view, tensor_of(values, shape));
  return view;
}

void check_case(const Case& c, const std::function<Tensor(const std::vector<double>&, const Shape&)>& tensor) {
  CAPTURE(c.x);
  CAPTURE(c.weight);
  const Shape shape = reference::conv3d_shape(c.x, c.weight, c.options);
  const auto x = random_values(1, c.x.numel()), weight = random_values(2, c.weight.numel());
  const auto bias = random_values(3, c.weight[0]), dy = random_values(4, shape.numel());
  const std::int64_t taps = c.weight[2] * c.weight[3] * c.weight[4], depth = c.weight[1] * taps;
  const Tensor filters = tensor(weight, c.weight), shift = tensor_of(bias, {c.weight[0]});
  check_close(ops::conv3d(tensor(x, c.x), filters, {}, c.options), shape,
              reference::conv3d(x, c.x, weight, c.weight, {}, c.options), conv3d_tolerance(depth));
  const Tensor y = ops::conv3d(tensor(x, c.x), filters, shift, c.options);
  CHECK(y.is_contiguous());
  check_close(y, shape, reference::conv3d(x, c.x, weight, c.weight, bias, c.options), conv3d_tolerance(depth + 1));
  check_close(ops::conv3d_backward_data(tensor(dy, shape), filters, c.x, c.options), c.x,
              reference::conv3d_backward_data(dy, weight, c.weight, c.x, c.options),
              conv3d_tolerance(c.weight[0] / c.options.groups * taps));
  check_close(ops::conv3d_backward_weight(tensor(dy, shape), tensor(x, c.x), c.weight, c.options), c.weight,
              reference::conv3d_backward_weight(dy, x, c.x, c.weight, c.options),
              conv3d_tolerance(shape.numel() / shape[1]));
}

}  // namespace

TEST_CASE("conv3d and its gradients: kernels, strides, paddings, dilations, groups") {
  for (const Case& c : reference::conv3d_cases)
    check_case(c, [](const auto& v, const Shape& s) { return tensor_of(v, s); });
}

TEST_CASE("conv3d reads views") {
  for (const std::size_t i : {1, 4, 5, 8, 10}) check_case(reference::conv3d_cases[i], channels_last);
}

TEST_CASE("conv3d with little memory goes piece by piece") {
  struct Restored {
    const std::uint64_t limit = ops::workspace_limit();
    ~Restored() { ops::set_workspace_limit(limit); }
  } restored;
  const auto& c = reference::conv3d_cases[1];  // An image has 3 · 3 · 5 · 7 elements, and a volume has 4 of them.
  const std::uint64_t image = 4 * 3 * 3 * 5 * 7;
  for (const std::uint64_t limit : {std::uint64_t{1}, 3 * image, 7 * image}) {
    ops::set_workspace_limit(limit);
    check_case(c, [](const auto& v, const Shape& s) { return tensor_of(v, s); });
    check_case(reference::conv3d_cases[3], channels_last);
  }
}

TEST_CASE("conv3d: no volumes, no channels, the same bits every time") {
  CHECK(ops::conv3d(zeros({0, 2, 4, 4, 4}), zeros({3, 2, 2, 2, 2})).shape() == Shape{0, 3, 3, 3, 3});
  check_close(ops::conv3d(zeros({1, 0, 3, 3, 3}), zeros({2, 0, 2, 2, 2}), tensor_of({1, -2}, {2})), {1, 2, 2, 2, 2},
              {1, 1, 1, 1, 1, 1, 1, 1, -2, -2, -2, -2, -2, -2, -2, -2}, {0});
  check_close(ops::conv3d_backward_weight(zeros({0, 3, 3, 3, 3}), zeros({0, 2, 4, 4, 4}), {3, 2, 2, 2, 2}),
              {3, 2, 2, 2, 2}, std::vector<double>(48), {0});
  const Tensor x = tensor_of(random_values(5, 6 * 7 * 8 * 9), {1, 6, 7, 8, 9}),
               dy = ops::conv3d(x, ones({4, 6, 3, 3, 3}));
  const auto gradient = [&] { return ops::conv3d_backward_weight(dy, x, {4, 6, 3, 3, 3}).to_vector<float>(); };
  CHECK(gradient() == gradient());
  const auto data = [&] { return ops::conv3d_backward_data(dy, ones({4, 6, 3, 3, 3}), x.shape()).to_vector<float>(); };
  CHECK(data() == data());
}

TEST_CASE("conv3d refuses what does not fit") {
  const Tensor x = zeros({2, 4, 5, 6, 7}), weight = zeros({6, 4, 3, 3, 3});
  const auto refused = [&](const Conv3dOptions& o, std::initializer_list<std::string_view> parts) {
    check_error([&] { ops::conv3d(x, weight, Tensor(), o); }, parts);
  };
  refused({.stride = {0, 1, 1}}, {"[conv3d]", "stride's depth is 0"});
  refused({.stride = {1, 0, 1}}, {"[conv3d]", "stride's height is 0"});
  refused({.dilation = {1, 1, -1}}, {"[conv3d]", "dilation's width is -1"});
  refused({.padding = {-1, 0, 0}}, {"[conv3d]", "padding's depth is -1"});
  refused({.dilation = {3, 1, 1}}, {"[conv3d]", "depth 7", "does not fit"});
  refused({.groups = 3}, {"[conv3d]", "4 channels", "3 groups"});
  refused({.groups = 0}, {"[conv3d]", "groups is 0"});
  refused({.groups = 2}, {"[conv3d]", "4 input channels per group", "4 channels / 2 groups"});
  check_error(
      [&] {
        ops::conv3d(zeros({4, 5, 6, 7}), weight);
      },
      {"[conv3d]", "5 axes (N, C, D, H, W)", "(4, 5, 6, 7)"});
  check_error([&] { ops::conv3d(x, zeros({6, 4, 3, 3})); }, {"[conv3d]", "weight must have 5 axes", "(6, 4, 3, 3)"});
  check_error([&] { ops::conv3d(x, zeros({6, 4, 0, 3, 3})); }, {"[conv3d]", "kernel's depth is 0"});
  check_error([&] { ops::conv3d(Tensor(), weight); }, {"undefined"});
  check_error([&] { ops::conv3d(x.to(DType::f16), weight); }, {"[conv3d]", "the weight", "f16"});
  check_error([&] { ops::conv3d(x, weight, zeros({5})); }, {"[conv3d]", "bias", "(5)"});
  check_error(
      [&] {
        ops::conv3d_backward_data(zeros({2, 6, 3, 4, 4}), weight, x.shape());
      },
      {"[conv3d_backward_data]", "(2, 6, 3, 4, 4)", "(2, 6, 3, 4, 5)"});
  check_error(
      [&] {
        ops::conv3d_backward_weight(zeros({2, 6, 3, 4, 4}), x, weight.shape());
      },
      {"[conv3d_backward_weight]", "(2, 6, 3, 4, 4)", "(2, 6, 3, 4, 5)"});
}

}  // namespace crisol
