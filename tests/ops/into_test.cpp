// NAME_into of the raw ops: the same bits as NAME in every layout of out, and nothing else is written.
#include <cstring>
#include <functional>

#include "crisol/functions/elementwise.h"
#include "crisol/ops.h"
#include "doctest/doctest.h"
#include "ops/into.h"
#include "support/compare.h"

namespace crisol {

using namespace testing;

namespace {

Tensor values(const Shape& shape, int seed = 1) { return tensor_of(random_values(seed, shape.numel()), shape); }
Tensor whole(const std::vector<std::int64_t>& numbers, const Shape& shape) { return from_vector(numbers, shape); }

}  // namespace

TEST_CASE("into: every row of the pointwise table") {
  const Tensor x = rand({3, 5}, Generator(1)), y = rand({3, 5}, Generator(2)), z = rand({3, 5}, Generator(3));
  const Tensors one{x}, two{x, y}, three{x, y, z};
  std::vector<IntoCase> cases{
#define AT_NONE
#define AT_ONE(name, initial, at) , at
#define AT_TWO(name, initial, at, name_2, initial_2, at_2) , at, at_2
#define SAVED_none
#define SAVED_x , in[1]
#define SAVED_y , in[1]
#define CRISOL_UNARY(name, x, scalars, rule, saved, ...) \
  ONE(one, name, in[0] AT_##scalars),                    \
      CRISOL_GRADIENT_##rule(ONE(two, name##_backward, in[0] SAVED_##saved AT_##scalars), )
#define CRISOL_BINARY(name, a, b, scalars, ...) ONE(two, name, in[0], in[1] AT_##scalars),
#define CRISOL_TERNARY(name, a, b, c, scalars, ...) ONE(three, name, in[0], in[1], in[2] AT_##scalars),
#include "crisol/ops/pointwise.def"
  };
  // The kernels of other layouts are compiled for a few rows alone.
  for (IntoCase& c : cases) {
    const std::string name = c.name;
    c.every_layout = name == "mul" || name == "neg_backward";
    c.reads_all = name.find("_backward") == std::string::npos;
  }
  check_into(cases);
}

TEST_CASE("into: operands of a pointwise op that are numbers, or that broadcast") {
  const Tensor x = values({3, 5}), row = values({5}, 2), out = empty({3, 5});
  ops::add_into(out, x, row);
  check_bits({out}, {ops::add(x, row)});
  ops::add_into(out, 2, x);
  check_bits({out}, {ops::add(2, x)});
  ops::add_into(x, x, x);
  check_error([&] { ops::add_into(out, row, row); }, {"[add]", "must have shape (5)", "(3, 5)"});
  check_error([&] { ops::add_into(out, 1, 2); }, {"[add]", "at least one tensor"});
  check_error([&] { ops::add_into(x, x, ops::select(x, 0, 1)); }, {"[add]", "share a part"});
  const Tensor i = whole({1, 2, 3}, {3});
  check_error([&] { ops::sqrt_into(i, i); }, {"[sqrt]", "f32", "i64"});
}

TEST_CASE("into: reductions and scans") {
  const Tensors x{values({3, 4, 5})}, positive{rand({3, 4, 5}, Generator(4))}, one{values({7})};
  check_into({
      ONE(x, sum, in[0], {1}),
      ONE(x, sum, in[0], {0, 2}, true),
      ONE(x, mean, in[0], {-1}),
      ONE(x, prod, in[0], {0}),
      ONE(x, max, in[0], {2}),
      ONE(x, min, in[0], {1}, true),
      ONE(x, argmax, in[0], {1}),
      ONE(x, argmin, in[0], {2}),
      ONE(x, any, in[0], {0}),
      ONE(x, all, in[0], {1}),
      ONE(x, var, in[0], {1}),
      ONE(x, stddev, in[0], {2}, true, 0),
      ONE(x, norm, in[0], 3, {0}),
      ONE(x, logsumexp, in[0], {2}),
      ONE(one, sum, in[0]),
      TWO(x, max_with_indices, values, indices, in[0], 1),
      TWO(x, min_with_indices, values, indices, in[0], -1, true),
      ONE(x, cumsum, in[0], 1),
      ONE(positive, cumprod, in[0], 2),
      ONE(one, cumsum, in[0], 0),
      ONE(x, softmax, in[0], 2),
      ONE(x, softmax, in[0], 0),
      ONE(x, log_softmax, in[0], 1),
  });
  const Tensors two{values({3, 5}, 1), rand({3, 5}, Generator(5))};
  check_into({ONE(two, softmax_backward, in[0], in[1], 1), ONE(two, log_softmax_backward, in[0], in[1], 0)});
  const Tensors half{values({3, 5}).to(DType::f16)}, halves{half[0], half[0].clone()};
  check_into({ONE(half, sum, in[0], {1}), ONE(half, softmax, in[0], 1), ONE(half, log_softmax, in[0], 0),
              ONE(half, cumsum, in[0], 1), ONE(half, cumprod, in[0], 0),
              ONE(halves, softmax_backward, in[0], in[1], 1)});
}

TEST_CASE("into: other places for elements") {
  const Tensor x = values({3, 4, 5});
  const Tensors just{x}, several{x, values({3, 4, 5}, 2)}, with_index{x, whole({2, 0, 1, 1}, {4})},
      with_places{x, whole({1, 0, 2, 1, 0, 2}, {1, 2, 3})},
      scattered{x, whole({1, 0, 2, 1, 0, 2}, {1, 2, 3}), values({1, 2, 3}, 3)},
      slices{x, whole({2, 0}, {2}), values({3, 2, 5}, 3)};
  check_into({
      ONE(just, flip, in[0], {0, 2}),
      ONE(just, tril, in[0], 1),
      ONE(just, triu, in[0], -1),
      ONE(just, pad, in[0], {{1, 2}, {0, 1}}, 2.5),
      ONE(just, pad, in[0], {{-1, 0}}),
      ONE(several, cat, {in[0], in[1]}, 1),
      ONE(just, cat, {in[0]}, 0),
      ONE(several, stack, {in[0], in[1]}, -1),
      ONE(with_places, gather, in[0], 1, in[1]),
      ONE(with_index, index_select, in[0], 2, in[1]),
      ONE(scattered, scatter, in[0], 1, in[1], in[2]),
      ONE(scattered, scatter_add, in[0], 1, in[1], in[2]),
      ONE(scattered, scatter_reduce, in[0], 1, in[1], in[2], ScatterReduction::amax),
      ONE(slices, index_add, in[0], 1, in[1], in[2]),
      ONE(slices, index_copy, in[0], 1, in[1], in[2]),
      ONE(slices, index_reduce, in[0], 1, in[1], in[2], ScatterReduction::prod),
      TWO(just, sort, values, indices, in[0], 1, true),
      ONE(just, argsort, in[0], 2),
      TWO(just, topk, values, indices, in[0], 2, 1),
  });
  const Tensors table{values({6, 4}), whole({5, 0, 2, 2, 1, 3}, {2, 3})},
      gradient{values({2, 3, 4}), whole({5, 0, 2, 2, 1, 3}, {2, 3})},
      sorted{from_vector<float>({-1, 0, 1, 2}), values({3, 5})};
  check_into({ONE(table, embedding, in[0], in[1]), ONE(gradient, embedding_backward, in[0], in[1], 6),
              ONE(sorted, searchsorted, in[0], in[1], true)});
}

TEST_CASE("into: products and convolutions") {
  const Tensors square{values({4, 4}), values({4, 4}, 2)}, batches{values({2, 3, 5}), values({2, 5, 4}, 2)},
      shared{values({2, 3, 5}), values({5, 4}, 2)}, numbers{whole({1, 2, 3, 4}, {2, 2}), whole({5, 6, 7, 8}, {2, 2})},
      halves{values({3, 5}).to(DType::f16), values({5, 2}, 2).to(DType::f16)},
      layer{values({3, 5}), values({4, 5}, 2), values({4}, 3)};
  check_into({ONE(square, matmul, in[0], in[1]), ONE(batches, matmul, in[0], in[1]), ONE(shared, matmul, in[0], in[1]),
              ONE(numbers, matmul, in[0], in[1]), ONE(halves, matmul, in[0], in[1]),
              ONE(layer, linear, in[0], in[1], in[2])});
  const Tensors images{values({2, 3, 6, 5}), values({4, 3, 3, 3}, 2), values({4}, 3)},
      data{values({2, 4, 4, 3}), values({4, 3, 3, 3}, 2)}, weight{values({2, 4, 4, 3}), values({2, 3, 6, 5}, 2)},
      volumes{values({1, 2, 4, 5, 4}), values({3, 2, 2, 3, 3}, 2), values({3}, 3)};
  check_into({ONE(images, conv2d, in[0], in[1], in[2]), ONE(data, conv2d_backward_data, in[0], in[1], {2, 3, 6, 5}),
              ONE(weight, conv2d_backward_weight, in[0], in[1], {4, 3, 3, 3}),
              ONE(volumes, conv3d, in[0], in[1], in[2])});
}

TEST_CASE("into: a product of rows that do not follow each other") {
  const Tensor a = values({3, 2, 5}), b = values({5, 4}, 2), memory = full({3, 3, 4}, 7);
  const Tensor out = ops::narrow(memory, 1, 0, 2);
  ops::matmul_into(out, a, b);
  check_bits({out}, {ops::matmul(a, b)});
  check_bits({ops::narrow(memory, 1, 2, 1)}, {full({3, 1, 4}, 7)});
}

TEST_CASE("into: images") {
  const Tensors image{values({2, 3, 6, 5})}, wide{values({2, 3, 3, 2})},
      places{values({2, 3, 6, 5}), values({2, 3, 4, 2}, 2)},
      dy_and_places{values({2, 3, 3, 4}), values({2, 3, 4, 2}, 2)},
      all{values({2, 3, 3, 4}), values({2, 3, 6, 5}, 3), values({2, 3, 4, 2}, 2)};
  const Tensor indices = ops::max_pool2d(image[0], {.kernel = 2}).indices;
  const Tensors of_max{wide[0], indices};
  check_into({
      TWO(image, max_pool2d, values, indices, in[0], {.kernel = 2}),
      ONE(of_max, max_pool2d_backward, in[0], in[1], {2, 3, 6, 5}, {.kernel = 2}),
      ONE(image, avg_pool2d, in[0], {.kernel = 2}),
      ONE(wide, avg_pool2d_backward, in[0], {2, 3, 6, 5}, {.kernel = 2}),
      ONE(image, adaptive_avg_pool2d, in[0], 3),
      ONE(wide, adaptive_avg_pool2d_backward, in[0], {2, 3, 6, 5}),
      ONE(image, enlarge, in[0], 2, 3),
      ONE(places, grid_sample, in[0], in[1]),
      ONE(dy_and_places, grid_sample_backward, in[0], in[1], {2, 3, 6, 5}),
      ONE(all, grid_sample_backward_grid, in[0], in[1], in[2]),
  });
}

TEST_CASE("into: norms, losses and decompositions") {
  const Tensors rows{values({3, 5}), values({5}, 2), values({5}, 3)}, two{values({3, 5}), values({3, 5}, 2)},
      three{values({3, 5}), values({3, 5}, 2), values({3, 5}, 3)},
      channels{values({2, 3, 4}), values({3}, 2), values({3}, 3)}, matrix{values({4, 3})}, square{values({3, 3})};
  check_into({
      THREE(rows, layer_norm, y, mean, rstd, in[0], {5}, in[1], in[2]),
      THREE(channels, batch_norm2d, y, mean, invstd, in[0], in[1], in[2], Tensor(), Tensor(), {.training = true}),
      ONE(two, mse_loss, in[0], in[1]),
      ONE(two, mse_loss, in[0], in[1], Reduction::none),
      ONE(three, mse_loss_backward, in[0], in[1], in[2], Reduction::none),
      TWO(matrix, qr, q, r, in[0]),
      TWO(square, eigh, eigenvalues, eigenvectors, in[0]),
      THREE(matrix, svd, u, s, vh, in[0], false),
      ONE(matrix, svdvals, in[0]),
  });
}

TEST_CASE("into: random numbers") {
  const Tensors none, x{values({3, 5})}, weights{rand({2, 5}, Generator(6))},
      mask{values({3, 5}), full({3, 5}, 1, DType::u8)};
  check_into({TWO(x, dropout, y, mask, in[0], 0.5, Generator(7)), ONE(mask, dropout_backward, in[0], in[1], 0.5),
              ONE(weights, multinomial, in[0], 4, true, Generator(7))});
  const auto fill = [](const char* name, auto plain, auto into) {
    return IntoCase{name,
                    {},
                    [=](const Tensors&) { return Tensors{plain(Generator(7))}; },
                    [=](const Tensors& out, const Tensors&) { into(out[0], Generator(7)); }};
  };
  const Shape shape{3, 5};
  const std::vector<IntoCase> fills{
      fill(
          "uniform", [=](const Generator& g) { return rand(shape, g); },
          [](const Tensor& out, const Generator& g) { ops::uniform_into(out, 0, 1, g); }),
      fill(
          "normal", [=](const Generator& g) { return randn(shape, g); },
          [](const Tensor& out, const Generator& g) { ops::normal_into(out, 0, 1, g); }),
      fill(
          "randint", [=](const Generator& g) { return randint(-3, 9, shape, g); },
          [](const Tensor& out, const Generator& g) { ops::randint_into(out, -3, 9, g); }),
      fill(
          "bernoulli", [=](const Generator& g) { return bernoulli(0.5, shape, g); },
          [](const Tensor& out, const Generator& g) { ops::bernoulli_into(out, 0.5, g); }),
      fill(
          "randperm", [=](const Generator& g) { return randperm(9, g); },
          [](const Tensor& out, const Generator& g) { ops::randperm_into(out, g); })};
  for (const IntoCase& c : fills) {
    CAPTURE(c.name);
    check_layouts(c, c.plain({}));
    check_error([&] { c.into({Tensor()}, {}); }, {"undefined"});
    check_error([&] { c.into({full({3, 5}, 7, DType::u8)}, {}); }, {"u8"});
  }
}

}  // namespace crisol
