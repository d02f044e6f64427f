// Steps with views: reshape, flatten, permute, transpose, narrow, select, expand, squeeze, unsqueeze.
#include "crisol/ops/view.h"

#include <algorithm>
#include <numeric>

#include "program.h"
#include "reference/index_loop.h"

namespace crisol::fuzz {

namespace {

// The expected result of a view step that may copy. The tensor shows whether it did; a contiguous tensor must not be
// copied.
Model same_elements(Program& program, const Value& x, const Tensor& result, const Shape& shape) {
  Model view{x.model.storage, x.model.places, shape, x.model.dtype};
  if (shape.numel() == 0 || result.shares_storage_with(x.tensor)) return view;
  if (x.tensor.is_contiguous()) program.fail("a contiguous tensor was copied");
  return make_model(view.values(), shape, x.model.dtype);
}

std::optional<Shape> reshaped(const Shape& from, DType dtype, const Shape& wanted) {
  Shape shape = wanted;
  int open = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] < -1 || (shape[i] == -1 && open >= 0)) return std::nullopt;
    if (shape[i] == -1) open = i;
  }
  if (open >= 0) shape[open] = 1;
  if (!is_possible(shape, dtype)) return std::nullopt;
  if (open >= 0) {
    if (shape.numel() == 0 || from.numel() % shape.numel() != 0) return std::nullopt;
    shape[open] = from.numel() / shape.numel();
  }
  if (shape.numel() != from.numel()) return std::nullopt;
  return shape;
}

// A random shape that often fits: some of its sizes divide the number of elements, and one size may be open.
Shape wanted_shape(Program& program, const Shape& from) {
  Shape wanted;
  std::int64_t rest = from.numel();
  const int rank = program.in.below(5);
  for (int i = 0; i < rank; ++i) {
    const std::int64_t size = program.in.number(-1, 6);
    wanted.push_back(size);
    if (size > 0 && rest % size == 0) rest /= size;
  }
  if (program.in.flag()) wanted.push_back(rest);
  return wanted;
}

void run_reshape(Program& program, const Value& x, const std::string& step, const std::optional<Shape>& shape,
                 const std::function<Tensor()>& call) {
  program.say(step);
  if (!shape) return program.check("must be refused", std::nullopt, call);
  const Tensor result = call();
  program.check("must be the same elements", same_elements(program, x, result, *shape), [&] { return result; });
}

void reshape(Program& program) {
  const Value x = program.pick();
  const Shape wanted = wanted_shape(program, x.model.shape);
  run_reshape(program, x, concat("reshape ", text_of(x), " to ", wanted),
              reshaped(x.model.shape, x.model.dtype, wanted), [&] { return ops::reshape(x.tensor, wanted); });
}

void flatten(Program& program) {
  const Value x = program.pick();
  const int first = program.axis(x), last = program.axis(x), rank = x.model.shape.rank();
  std::optional<Shape> shape;
  const auto a = axis_of(first, rank), b = axis_of(last, rank);
  if (rank == 0) {
    shape = Shape{1};
  } else if (a && b && *a <= *b) {
    shape = x.model.shape;
    for (int i = *a; i < *b; ++i) {
      (*shape)[*a] *= (*shape)[*a + 1];
      shape->erase(*a + 1);
    }
  }
  run_reshape(program, x, concat("flatten ", text_of(x), " axes ", first, " to ", last), shape,
              [&] { return ops::flatten(x.tensor, first, last); });
}

void permute(Program& program) {
  const Value x = program.pick();
  const int rank = x.model.shape.rank();
  Shape axes;
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  for (int i = rank; i > 0; --i) {
    const auto at = order.begin() + program.in.below(i);
    axes.push_back(program.in.flag() ? *at - rank : *at);
    order.erase(at);
  }
  if (rank > 0 && program.in.below(4) == 0) axes[program.in.below(rank)] = program.in.number(-rank - 1, rank);
  if (axes.rank() < Shape::max_rank && program.in.below(16) == 0) axes.push_back(0);

  std::optional<Model> expected;
  Shape shape, from;
  bool valid = axes.rank() == rank;
  unsigned seen = 0;
  for (int i = 0; valid && i < rank; ++i) {
    const auto axis = axis_of(axes[i], rank);
    valid = axis && (seen >> *axis & 1u) == 0;
    if (!valid) break;
    seen |= 1u << *axis;
    from.push_back(*axis);
    shape.push_back(x.model.shape[*axis]);
  }
  if (valid)
    expected = view_of(x.model, shape, [&](const Shape& index) {
      Shape source = index;
      for (int i = 0; i < rank; ++i) source[static_cast<int>(from[i])] = index[i];
      return source;
    });
  program.check(concat("permute ", text_of(x), " axes ", axes), expected, [&] { return ops::permute(x.tensor, axes); });
}

void transpose(Program& program) {
  const Value x = program.pick();
  const int first = program.axis(x), second = program.axis(x), axes = std::max(x.model.shape.rank(), 1);
  std::optional<Model> expected;
  if (const auto a = axis_of(first, axes), b = axis_of(second, axes); a && b && *a == *b) {
    expected = x.model;  // A scalar has the axis 0 too.
  } else if (a && b) {
    Shape shape = x.model.shape;
    std::swap(shape[*a], shape[*b]);
    expected = view_of(x.model, shape, [&](Shape index) {
      std::swap(index[*a], index[*b]);
      return index;
    });
  }
  program.check(concat("transpose ", text_of(x), " axes ", first, ", ", second), expected,
                [&] { return ops::transpose(x.tensor, first, second); });
}

void narrow(Program& program) {
  const Value x = program.pick();
  const int axis = program.axis(x);
  const std::int64_t start = program.in.number(-1, 5), length = program.in.number(-1, 5);
  std::optional<Model> expected;
  if (const auto a = axis_of(axis, x.model.shape.rank()); a) {
    const std::int64_t size = x.model.shape[*a];
    if (start >= 0 && length >= 0 && start <= size && length <= size - start) {
      Shape shape = x.model.shape;
      shape[*a] = length;
      expected = view_of(x.model, shape, [&](Shape index) {
        index[*a] += start;
        return index;
      });
    }
  }
  program.check(concat("narrow ", text_of(x), " axis ", axis, " start ", start, " length ", length), expected,
                [&] { return ops::narrow(x.tensor, axis, start, length); });
}

void select(Program& program) {
  const Value x = program.pick();
  const int axis = program.axis(x);
  const std::int64_t at = program.in.number(-5, 5);
  std::optional<Model> expected;
  if (const auto a = axis_of(axis, x.model.shape.rank()); a) {
    const std::int64_t size = x.model.shape[*a];
    if (at >= -size && at < size) {
      Shape shape = x.model.shape;
      shape.erase(*a);
      expected = view_of(x.model, shape, [&](Shape index) {
        index.insert(*a, at < 0 ? at + size : at);
        return index;
      });
    }
  }
  program.check(concat("select ", text_of(x), " axis ", axis, " index ", at), expected,
                [&] { return ops::select(x.tensor, axis, at); });
}

void expand(Program& program) {
  const Value x = program.pick();
  const int rank = x.model.shape.rank();
  Shape wanted = x.model.shape;
  for (int i = 0; i < rank; ++i)
    if (wanted[i] == 1 || program.in.below(8) == 0) wanted[i] = program.in.number(-1, 3);
  while (wanted.rank() < Shape::max_rank && program.in.below(3) == 0) wanted.insert(0, program.in.number(-1, 3));
  if (wanted.rank() > 0 && program.in.below(16) == 0) wanted.erase(0);

  Shape shape = wanted;
  const int ahead = wanted.rank() - rank;
  bool valid = ahead >= 0;
  for (int i = 0; valid && i < wanted.rank(); ++i) {
    const std::int64_t size = i < ahead ? 1 : x.model.shape[i - ahead];
    if (i >= ahead && wanted[i] == -1) shape[i] = size;
    valid = shape[i] >= 0 && (shape[i] == size || size == 1);
  }
  valid = valid && is_possible(shape, x.model.dtype);
  const std::string step = concat("expand ", text_of(x), " to ", wanted);
  const auto call = [&] { return ops::expand(x.tensor, wanted); };
  if (!valid) return program.check(step, std::nullopt, call);
  constexpr std::int64_t most = 1 << 12;
  if (shape.numel() <= most) return program.check(step, expanded(x.model, shape), call);
  program.say(step);
  if (const Tensor result = call(); result.shape() != shape) program.fail(concat("shape ", result.shape()));
}

void squeeze(Program& program) {
  const Value x = program.pick();
  const int axis = program.axis(x);
  std::optional<Model> expected;
  if (const auto a = axis_of(axis, std::max(x.model.shape.rank(), 1)); a) {
    expected = x.model;
    if (x.model.shape.rank() > 0 && x.model.shape[*a] == 1) expected->shape.erase(*a);
  }
  program.check(concat("squeeze ", text_of(x), " axis ", axis), expected, [&] { return ops::squeeze(x.tensor, axis); });
}

void unsqueeze(Program& program) {
  const Value x = program.pick();
  const int axis = program.axis(x);
  std::optional<Model> expected;
  if (const auto a = axis_of(axis, x.model.shape.rank() + 1); a && x.model.shape.rank() < Shape::max_rank) {
    expected = x.model;
    expected->shape.insert(*a, 1);
  }
  program.check(concat("unsqueeze ", text_of(x), " axis ", axis), expected,
                [&] { return ops::unsqueeze(x.tensor, axis); });
}

}  // namespace

const std::vector<Step>& view_steps() {
  static const std::vector<Step> steps{reshape, flatten, permute, transpose, narrow,
                                       select,  expand,  squeeze, unsqueeze};
  return steps;
}

}  // namespace crisol::fuzz
