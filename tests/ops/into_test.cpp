// NAME_into of the raw ops: the same bits as NAME in every layout of out, and nothing else is written.
#include <cstring>
#include <functional>

#include "crisol/functions/elementwise.h"
#include "crisol/ops.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

using namespace testing;

namespace {

using Tensors = std::vector<Tensor>;

struct Case {
  const char* name;
  Tensors inputs;
  std::function<Tensors(const Tensors& in)> plain;
  std::function<void(const Tensors& out, const Tensors& in)> into;
  bool every_layout = true;  ///< Else the offset one, whose kernels other tests compile too.
  bool reads_all = true;     ///< Some derivatives read less than they get.
};

// The calls with one, two and three results. `in` are the inputs.
// clang-format off
#define ONE(inputs, name, ...)                                                       \
  Case{#name, inputs,                                                                \
       [](const Tensors& in) { return Tensors{ops::name(__VA_ARGS__)}; },            \
       [](const Tensors& out, const Tensors& in) { ops::name##_into(out[0], __VA_ARGS__); }}
#define TWO(inputs, name, first, second, ...)                                        \
  Case{#name, inputs,                                                                \
       [](const Tensors& in) {                                                       \
         const auto made = ops::name(__VA_ARGS__);                                   \
         return Tensors{made.first, made.second};                                    \
       },                                                                            \
       [](const Tensors& out, const Tensors& in) { ops::name##_into(out[0], out[1], __VA_ARGS__); }}
#define THREE(inputs, name, first, second, third, ...)                               \
  Case{#name, inputs,                                                                \
       [](const Tensors& in) {                                                       \
         const auto made = ops::name(__VA_ARGS__);                                   \
         return Tensors{made.first, made.second, made.third};                        \
       },                                                                            \
       [](const Tensors& out, const Tensors& in) { ops::name##_into(out[0], out[1], out[2], __VA_ARGS__); }}
// clang-format on

Tensor values(const Shape& shape, int seed = 1) { return tensor_of(random_values(seed, shape.numel()), shape); }
Tensor whole(const std::vector<std::int64_t>& numbers, const Shape& shape) { return from_vector(numbers, shape); }

std::vector<std::byte> bytes_of(const Tensor& x) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(x.numel()) * size_of(x.dtype()));
  x.read_bytes(bytes.data());
  return bytes;
}

/// A tensor for a result, inside a memory that is full of sevens.
struct Place {
  Tensor memory, view;

  bool rest_is_unchanged() const {
    ops::fill_into(view, 7);
    return bytes_of(memory) == bytes_of(full(memory.shape(), 7, memory.dtype()));
  }
};

enum class Form { offset, contiguous, transposed, stepped };

Place place_of(const Tensor& like, Form form) {
  const Shape& shape = like.shape();
  const int rank = shape.rank();
  Shape size = shape, strides = shape;
  for (int i = 0; i < rank; ++i) {
    if (form == Form::transposed) size[i] = shape[rank - 1 - i];
    if (form == Form::stepped) size[i] = 2 * shape[i] + 1;
  }
  const std::int64_t begin = form == Form::offset ? 3 : form == Form::stepped ? 1 : 0;
  std::int64_t step = 1;
  for (int i = rank; i-- > 0; step *= size[i])
    strides[form == Form::transposed ? rank - 1 - i : i] = form == Form::stepped ? 2 * step : step;
  const Tensor memory = full({size.numel() + 2 * begin}, 7, like.dtype());
  return {memory, ops::as_strided(memory, shape, strides, begin)};
}

Tensors views(const std::vector<Place>& places) {
  Tensors all;
  for (const Place& place : places) all.push_back(place.view);
  return all;
}

void check_bits(const Tensors& results, const Tensors& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(bytes_of(results[i]) == bytes_of(expected[i]));
  }
}

void check_layouts(const Case& c, const Tensors& expected) {
  for (const Form form : {Form::offset, Form::contiguous, Form::transposed, Form::stepped}) {
    if (form != Form::offset && !c.every_layout) continue;
    CAPTURE(static_cast<int>(form));
    std::vector<Place> places;
    for (const Tensor& one : expected) places.push_back(place_of(one, form));
    c.into(views(places), c.inputs);
    check_bits(views(places), expected);
    for (const Place& place : places) CHECK(place.rest_is_unchanged());
  }
}

// An input that is out itself, and an input that shares only a part with out.
void check_overlap(const Case& c, const Tensors& expected) {
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    CAPTURE(i);
    const Tensor& x = c.inputs[i];
    if (i > 0 && !c.reads_all) break;
    if (!x.defined() || x.dtype() != expected[0].dtype() || x.numel() == 0 || expected[0].numel() == 0) continue;
    Tensors in = c.inputs, out;
    for (const Tensor& one : expected) out.push_back(empty_like(one));
    if (c.every_layout && x.shape() == expected[0].shape()) {
      out[0] = in[i] = x.clone();
      c.into(out, in);
      check_bits(out, expected);
    }
    const std::int64_t most = std::max(x.numel(), expected[0].numel());
    const Tensor memory = full({most + 1}, 7, x.dtype());
    in[i] = ops::reshape(ops::narrow(memory, 0, 1, x.numel()), x.shape());
    ops::copy_into(in[i], x);
    out[0] = ops::reshape(ops::narrow(memory, 0, expected[0].numel() == 1 ? 1 : 0, expected[0].numel()),
                          expected[0].shape());
    if (x.numel() == 1 && expected[0].numel() == 1) continue;
    const auto before = bytes_of(memory);
    check_error([&] { c.into(out, in); }, {"share a part"});
    CHECK(bytes_of(memory) == before);
  }
}

void check_refusals(const Case& c, const Tensors& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    Tensors out;
    for (const Tensor& one : expected) out.push_back(full(one.shape(), 7, one.dtype()));
    const auto refused = [&](const Tensor& wrong, std::initializer_list<std::string_view> parts) {
      Tensors given = out;
      given[i] = wrong;
      check_error([&] { c.into(given, c.inputs); }, parts);
      for (std::size_t k = 0; k < out.size(); ++k)
        CHECK(bytes_of(out[k]) == bytes_of(full(out[k].shape(), 7, out[k].dtype())));
    };
    Shape larger = expected[i].shape();
    larger.insert(0, 2);
    refused(Tensor(), {"undefined"});
    refused(full(larger, 7, expected[i].dtype()),
            {"must have shape", to_string(expected[i].shape()), to_string(larger)});
    const DType other = expected[i].dtype() == DType::u8 ? DType::f16 : DType::u8;
    refused(full(expected[i].shape(), 7, other), {"out must be", name_of(expected[i].dtype()), name_of(other)});
    if (expected[i].numel() > 1)
      refused(
          full({1}, 7, expected[i].dtype()).reshape(Shape::filled(expected[i].dim(), 1)).expand(expected[i].shape()),
          {"expanded"});
  }
  if (expected.size() > 1 && expected[0].dtype() == expected[1].dtype() && expected[0].shape() == expected[1].shape()) {
    Tensors out;
    for (const Tensor& one : expected) out.push_back(empty_like(one));
    out[1] = out[0];
    check_error([&] { c.into(out, c.inputs); }, {"share elements"});
  }
}

void check_cases(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Tensors expected = c.plain(c.inputs);
    check_layouts(c, expected);
    check_overlap(c, expected);
    check_refusals(c, expected);
  }
}

}  // namespace

TEST_CASE("into: every row of the pointwise table") {
  const Tensor x = rand({3, 5}, Generator(1)), y = rand({3, 5}, Generator(2)), z = rand({3, 5}, Generator(3));
  const Tensors one{x}, two{x, y}, three{x, y, z};
  std::vector<Case> cases{
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
  for (Case& c : cases) {
    const std::string name = c.name;
    c.every_layout = name == "mul" || name == "neg_backward";
    c.reads_all = name.find("_backward") == std::string::npos;
  }
  check_cases(cases);
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
  check_cases({
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
  check_cases({ONE(two, softmax_backward, in[0], in[1], 1), ONE(two, log_softmax_backward, in[0], in[1], 0)});
  const Tensors half{values({3, 5}).to(DType::f16)}, halves{half[0], half[0].clone()};
  check_cases({ONE(half, sum, in[0], {1}), ONE(half, softmax, in[0], 1), ONE(half, log_softmax, in[0], 0),
               ONE(half, cumsum, in[0], 1), ONE(half, cumprod, in[0], 0),
               ONE(halves, softmax_backward, in[0], in[1], 1)});
}

TEST_CASE("into: other places for elements") {
  const Tensor x = values({3, 4, 5});
  const Tensors just{x}, several{x, values({3, 4, 5}, 2)}, with_index{x, whole({2, 0, 1, 1}, {4})},
      with_places{x, whole({1, 0, 2, 1, 0, 2}, {1, 2, 3})},
      scattered{x, whole({1, 0, 2, 1, 0, 2}, {1, 2, 3}), values({1, 2, 3}, 3)},
      slices{x, whole({2, 0}, {2}), values({3, 2, 5}, 3)};
  check_cases({
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
  check_cases({ONE(table, embedding, in[0], in[1]), ONE(gradient, embedding_backward, in[0], in[1], 6),
               ONE(sorted, searchsorted, in[0], in[1], true)});
}

TEST_CASE("into: products and convolutions") {
  const Tensors square{values({4, 4}), values({4, 4}, 2)}, batches{values({2, 3, 5}), values({2, 5, 4}, 2)},
      shared{values({2, 3, 5}), values({5, 4}, 2)}, numbers{whole({1, 2, 3, 4}, {2, 2}), whole({5, 6, 7, 8}, {2, 2})},
      halves{values({3, 5}).to(DType::f16), values({5, 2}, 2).to(DType::f16)},
      layer{values({3, 5}), values({4, 5}, 2), values({4}, 3)};
  check_cases({ONE(square, matmul, in[0], in[1]), ONE(batches, matmul, in[0], in[1]), ONE(shared, matmul, in[0], in[1]),
               ONE(numbers, matmul, in[0], in[1]), ONE(halves, matmul, in[0], in[1]),
               ONE(layer, linear, in[0], in[1], in[2])});
  const Tensors images{values({2, 3, 6, 5}), values({4, 3, 3, 3}, 2), values({4}, 3)},
      data{values({2, 4, 4, 3}), values({4, 3, 3, 3}, 2)}, weight{values({2, 4, 4, 3}), values({2, 3, 6, 5}, 2)},
      volumes{values({1, 2, 4, 5, 4}), values({3, 2, 2, 3, 3}, 2), values({3}, 3)};
  check_cases({ONE(images, conv2d, in[0], in[1], in[2]), ONE(data, conv2d_backward_data, in[0], in[1], {2, 3, 6, 5}),
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
  check_cases({
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
  check_cases({
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
  check_cases({TWO(x, dropout, y, mask, in[0], 0.5, Generator(7)), ONE(mask, dropout_backward, in[0], in[1], 0.5),
               ONE(weights, multinomial, in[0], 4, true, Generator(7))});
  const auto fill = [](const char* name, auto plain, auto into) {
    return Case{name,
                {},
                [=](const Tensors&) { return Tensors{plain(Generator(7))}; },
                [=](const Tensors& out, const Tensors&) { into(out[0], Generator(7)); }};
  };
  const Shape shape{3, 5};
  const std::vector<Case> fills{fill(
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
  for (const Case& c : fills) {
    CAPTURE(c.name);
    check_layouts(c, c.plain({}));
    check_error([&] { c.into({Tensor()}, {}); }, {"undefined"});
    check_error([&] { c.into({full({3, 5}, 7, DType::u8)}, {}); }, {"u8"});
  }
}

}  // namespace crisol
