// Matrix products and convolutions.
#include <iterator>

#include "base/text.h"
#include "cli/selftest/check.h"
#include "crisol/functions/attention.h"
#include "crisol/ops/conv.h"
#include "crisol/ops/matmul.h"
#include "reference/images/conv2d.h"
#include "reference/images/conv2d_cases.h"
#include "reference/matmul.h"
#include "reference/softmax.h"

namespace crisol::cli::selftest {

namespace {

using reference::random_values;

std::string matmul_problem(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch = 1, int transa = 0,
                           int transb = 0, int weight = 0) {
  return concat("matmul m=", m, " n=", n, " k=", k, " batch=", batch, " transa=", transa, " transb=", transb,
                " transc=0 weight=", weight, " precision=0");
}

void check_matmul(Check& check) {
  const std::int64_t sizes[][3] = {{1, 1, 1},     {1, 300, 64},   {7, 33, 5},   {64, 64, 64},
                                   {130, 71, 90}, {24, 2000, 17}, {200, 3, 200}};
  for (const auto& [m, k, n] : sizes) check.rerun(matmul_problem(m, k, n));
  check.rerun(matmul_problem(40, 8, 40, 2));
  const struct { Shape a, b; } broadcast[] = {{{3, 5, 4}, {4, 6}}, {{2, 1, 5, 4}, {3, 4, 6}}};
  for (const auto& c : broadcast) {
    const auto a = random_values(1, c.a.numel()), b = random_values(2, c.b.numel());
    const reference::Product expected = reference::matmul(a, c.a, b, c.b);
    check.close(ops::matmul(tensor_of(a, c.a), tensor_of(b, c.b)), expected.shape, expected.values, {2, 5});
  }
}

void check_attention(Check& check) {
  for (const reference::AttentionSizes& s :
       {reference::AttentionSizes{2, 5, 7, 3, 2}, {6, 33, 65, 16, 40}, {1, 20, 530, 9, 5}, {3, 70, 40, 32, 100}}) {
    const auto q = random_values(12, s.heads * s.rows * s.depth), k = random_values(13, s.heads * s.keys * s.depth),
               v = random_values(14, s.heads * s.keys * s.columns), bias = random_values(15, s.heads * s.rows * s.keys);
    check.close(
        scaled_dot_product_attention(tensor_of(q, {s.heads, s.rows, s.depth}), tensor_of(k, {s.heads, s.keys, s.depth}),
                                     tensor_of(v, {s.heads, s.keys, s.columns}),
                                     tensor_of(bias, {s.heads, s.rows, s.keys}), {.scale = 0.5}),
        {s.heads, s.rows, s.columns}, reference::attention(q, k, v, bias, s, 0.5), {64, 1});
  }
}

Op convolutions(const char* op) {
  std::vector<std::string> problems;
  const auto add = [&](const reference::Conv2dCase& c) {
    const Conv2dOptions& o = c.options;
    problems.push_back(concat(op, " n=", c.x[0], " c=", c.x[1], " h=", c.x[2], " w=", c.x[3], " k=", c.weight[0],
                              " r=", c.weight[2], " s=", c.weight[3], " stride_h=", o.stride.h,
                              " stride_w=", o.stride.w, " pad_h=", o.padding.h, " pad_w=", o.padding.w,
                              " dil_h=", o.dilation.h, " dil_w=", o.dilation.w, " groups=", o.groups, " precision=0"));
  };
  for (const reference::Conv2dCase& c : reference::small_conv2d_cases) add(c);
  // Only every third of the large cases, because their references take long.
  for (std::size_t i = 0; i < std::size(reference::large_conv2d_cases); i += 3) add(reference::large_conv2d_cases[i]);
  return from_problems(op, std::move(problems));
}

void check_conv3d(Check& check) {
  for (const reference::Conv3dCase& c : reference::conv3d_cases) {
    const Shape y = reference::conv3d_shape(c.x, c.weight, c.options);
    const auto x = random_values(8, c.x.numel()), w = random_values(9, c.weight.numel());
    const auto bias = random_values(10, c.weight[0]), dy = random_values(11, y.numel());
    const std::int64_t depth = c.weight.numel() / c.weight[0], taps = c.weight[2] * c.weight[3] * c.weight[4];
    const Tensor images = tensor_of(x, c.x), weight = tensor_of(w, c.weight), gradient = tensor_of(dy, y);
    check.close(ops::conv3d(images, weight, tensor_of(bias, {c.weight[0]}), c.options), y,
                reference::conv3d(x, c.x, w, c.weight, bias, c.options), reference::conv3d_tolerance(depth + 1));
    check.close(ops::conv3d_backward_data(gradient, weight, c.x, c.options), c.x,
                reference::conv3d_backward_data(dy, w, c.weight, c.x, c.options),
                reference::conv3d_tolerance(c.weight[0] / c.options.groups * taps));
    check.close(ops::conv3d_backward_weight(gradient, images, c.weight, c.options), c.weight,
                reference::conv3d_backward_weight(dy, x, c.x, c.weight, c.options),
                reference::conv3d_tolerance(y.numel() / y[1]));
  }
}

}  // namespace

std::vector<Op> products() {
  return {
      {"matmul", check_matmul},
      from_problems("matmul_transposed", {matmul_problem(45, 70, 38), matmul_problem(45, 70, 38, 1, 1),
                                          matmul_problem(45, 70, 38, 1, 0, 1), matmul_problem(45, 70, 38, 1, 1, 1)}),
      from_problems("linear", {matmul_problem(1, 128, 45, 1, 0, 1, 1), matmul_problem(64, 784, 45, 1, 0, 1, 1),
                               matmul_problem(6, 7, 45, 1, 0, 1, 1)}),
      {"attention", check_attention},
      convolutions("conv2d"),
      convolutions("conv2d_backward_data"),
      convolutions("conv2d_backward_weight"),
      {"conv3d", check_conv3d}};
}

}  // namespace crisol::cli::selftest
