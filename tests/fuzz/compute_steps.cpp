// Steps with ops that compute: pointwise, copies and writes through views, reductions, joining, picking, ordering,
// products.
#include <algorithm>
#include <limits>

#include "crisol/ops/cat.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/pad.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/sort.h"
#include "crisol/ops/triangle.h"
#include "program.h"
#include "reference/indexing.h"
#include "reference/matmul.h"
#include "reference/reduce.h"

namespace crisol::fuzz {

namespace {

Model made(const reference::Values& values, DType dtype) { return make_model(values.values, values.shape, dtype); }

// --- pointwise

struct Binary {
  const char* name;
  Tensor (*run)(const Operand&, const Operand&);
  double (*value)(double, double);
  bool compares;
};

constexpr Binary binaries[] = {
    {"add", ops::add, [](double a, double b) { return a + b; }, false},
    {"mul", ops::mul, [](double a, double b) { return a * b; }, false},
    {"maximum", ops::maximum, [](double a, double b) { return std::max(a, b); }, false},
    {"lt", ops::lt, [](double a, double b) { return a < b ? 1.0 : 0.0; }, true},
};

// The expected result of `value` for two operands that broadcast.
Model combined(const Model& a, const Model& b, const Shape& shape, DType dtype, double (*value)(double, double)) {
  std::vector<double> left = expanded(a, shape).values();
  const std::vector<double> right = expanded(b, shape).values();
  std::transform(left.begin(), left.end(), right.begin(), left.begin(), value);
  return make_model(left, shape, dtype);
}

void binary(Program& program) {
  const Value a = program.pick(), b = program.pick();
  const Binary& op = binaries[program.in.below(4)];
  std::optional<Model> expected;
  if (const auto shape = broadcast(a.model.shape, b.model.shape)) {
    const DType dtype = op.compares ? DType::boolean : promoted(a.model, b.model);
    expected = combined(a.model, b.model, *shape, dtype, op.value);
  }
  program.check(concat(op.name, ' ', text_of(a), " and ", text_of(b)), expected,
                [&] { return op.run(a.tensor, b.tensor); });
}

void cast(Program& program) {
  constexpr DType dtypes[] = {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean};
  const Value x = program.pick();
  const DType dtype = dtypes[program.in.below(6)];
  Model expected = make_model(x.model.values(), x.model.shape, dtype);
  if (dtype == x.model.dtype) expected = x.model;  // cast returns the tensor itself.
  program.check(concat("cast ", text_of(x), " to ", dtype), expected, [&] { return ops::cast(x.tensor, dtype); });
}

void clone(Program& program) {
  const Value x = program.pick();
  program.check(concat("clone ", text_of(x)), make_model(x.model.values(), x.model.shape, x.model.dtype),
                [&] { return ops::clone(x.tensor); });
}

// --- writes through views

enum class Aliasing { apart, same, unsure, shared };

Aliasing aliasing_of(const Model& a, const Model& b) {
  if (a.storage != b.storage || a.places.empty() || b.places.empty()) return Aliasing::apart;
  if (a.places == b.places && a.shape == b.shape) return Aliasing::same;
  std::vector<std::size_t> left = a.places, right = b.places, both;
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
  // Views may interleave without sharing an element. The library may refuse them, because it cannot always prove this.
  return both.empty() ? Aliasing::unsure : Aliasing::shared;
}

// Replaces every element of `to` by combine(element, element of `from`), in both model and tensor.
template <class Call>
void write(Program& program, const char* op, const Value& to, const Value& from, bool allowed,
           double (*combine)(double, double), Call&& call) {
  program.say(concat(op, " to ", text_of(to), " from ", text_of(from)));
  const auto shape = broadcast(to.model.shape, from.model.shape);
  allowed = allowed && shape == to.model.shape && !to.model.has_repeated_places();
  const Aliasing aliasing = aliasing_of(to.model, from.model);
  // There can be several reasons to refuse a call. One of them is enough.
  const bool may_refuse = !allowed || aliasing == Aliasing::unsure || aliasing == Aliasing::shared ||
                          (aliasing == Aliasing::same && to.tensor.strides() != from.tensor.strides());
  const bool must_refuse = !allowed || aliasing == Aliasing::shared;
  bool refused = false;
  try {
    call();
  } catch (const Error& error) {
    refused = true;
    if (error.code() != ErrorCode::invalid_argument || !may_refuse) program.fail(concat("refused: ", error.what()));
  }
  if (!refused && must_refuse) program.fail("accepted");
  if (!refused) {
    const std::vector<double> values = expanded(from.model, to.model.shape).values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      double& element = (*to.model.storage)[to.model.places[i]];
      element = stored(combine(element, values[i]), to.model.dtype);
    }
  }
  program.check_all();
}

void copy_into(Program& program) {
  const Value to = program.pick(), from = program.pick();
  write(
      program, "copy_into", to, from, true, [](double, double from_value) { return from_value; },
      [&] { ops::copy_into(to.tensor, from.tensor); });
}

void maximum_in_place(Program& program) {
  const auto kind = [](DType dtype) { return is_floating(dtype) ? 2 : dtype == DType::boolean ? 0 : 1; };
  Value to = program.pick();
  const Value from = program.pick();
  const bool allowed = kind(promoted(to.model, from.model)) <= kind(to.model.dtype);
  write(
      program, "maximum_", to, from, allowed, [](double a, double b) { return std::max(a, b); },
      [&] { to.tensor.maximum_(from.tensor); });
}

// --- reductions

struct Reduction {
  const char* name;
  Tensor (*run)(const Tensor&, const Shape&, bool);
  double (*value)(const std::vector<double>&);
  bool needs_elements;
  DType (*result)(DType);
};

DType itself(DType dtype) { return dtype; }
DType wide(DType dtype) { return is_floating(dtype) ? dtype : DType::i64; }

constexpr Reduction reductions[] = {
    {"sum", ops::sum, reference::sum, false, wide},
    {"max", ops::max, reference::largest, true, itself},
    {"argmin", ops::argmin,
     [](const std::vector<double>& v) { return static_cast<double>(reference::first_smallest(v)); }, true,
     [](DType) { return DType::i64; }},
    {"any", ops::any, reference::any, false, [](DType) { return DType::boolean; }},
};

void reduce(Program& program) {
  const Value x = program.pick();
  const int rank = x.model.shape.rank();
  const Reduction& op = reductions[program.in.below(4)];
  const bool keepdim = program.in.flag();
  Shape axes;
  const int count = program.in.below(rank + 1);
  for (int i = 0; i < count; ++i) axes.push_back(program.in.below(8) == 0 ? program.in.number(-rank - 1, rank) : i);

  unsigned reduced = axes.empty() ? (1u << rank) - 1 : 0;
  bool valid = true;
  for (const std::int64_t wanted : axes) {
    const auto axis = axis_of(wanted, rank);
    valid = valid && axis && (reduced >> *axis & 1u) == 0;
    if (valid) reduced |= 1u << *axis;
  }
  std::optional<Model> expected;
  if (valid) {
    Shape shape;
    std::int64_t elements = 1, outputs = 1;
    for (int i = 0; i < rank; ++i) {
      const bool goes = (reduced >> i & 1u) != 0;
      (goes ? elements : outputs) *= x.model.shape[i];
      if (!goes || keepdim) shape.push_back(goes ? 1 : x.model.shape[i]);
    }
    if (!op.needs_elements || elements > 0 || outputs == 0) {
      std::vector<double> values;
      if (outputs > 0)
        for (const std::vector<double>& group : reference::reduction_groups(x.model.values(), x.model.shape, axes))
          values.push_back(op.value(group));
      expected = make_model(values, shape, op.result(x.model.dtype));
    }
  }
  program.check(concat(op.name, ' ', text_of(x), " axes ", axes, keepdim ? " keepdim" : ""), expected,
                [&] { return op.run(x.tensor, axes, keepdim); });
}

void cumsum(Program& program) {
  const Value x = program.pick();
  const int axis = program.axis(x);
  std::optional<Model> expected;
  if (const auto a = axis_of(axis, x.model.shape.rank()); a) {
    expected = make_model(reference::running(x.model.values(), x.model.shape, *a, std::plus<>()), x.model.shape,
                          wide(x.model.dtype));
  } else if (x.model.shape.rank() == 0 && (axis == 0 || axis == -1)) {  // The sum of a scalar is the scalar.
    expected = make_model(x.model.values(), {}, wide(x.model.dtype));
  }
  program.check(concat("cumsum ", text_of(x), " axis ", axis), expected, [&] { return ops::cumsum(x.tensor, axis); });
}

// --- joining and padding

void join(Program& program) {
  const bool along_new = program.in.flag();
  std::vector<Value> parts;
  for (int i = program.in.below(3); i >= 0; --i) parts.push_back(program.pick());
  const Value& first = parts.front();
  const int axis = program.axis(first), rank = first.model.shape.rank();
  const auto a = axis_of(axis, along_new ? rank + 1 : rank);
  bool valid = a.has_value() && (!along_new || rank < Shape::max_rank);
  std::vector<Tensor> tensors;
  std::vector<reference::Values> values;
  std::string text = concat(along_new ? "stack" : "cat", " axis ", axis);
  for (const Value& part : parts) {
    valid = valid && part.model.dtype == first.model.dtype && part.model.shape.rank() == rank;
    for (int i = 0; valid && i < rank; ++i)
      valid = part.model.shape[i] == first.model.shape[i] || (!along_new && i == *a);
    tensors.push_back(part.tensor);
    values.push_back(values_of(part));
    text += ", " + text_of(part);
  }
  std::optional<Model> expected;
  if (valid) expected = made(along_new ? reference::stack(values, *a) : reference::cat(values, *a), first.model.dtype);
  program.check(text, expected, [&] { return along_new ? ops::stack(tensors, axis) : ops::cat(tensors, axis); });
}

void pad(Program& program) {
  const Value x = program.pick();
  const int rank = x.model.shape.rank(), count = program.in.below(rank + 2);
  std::vector<AxisPadding> paddings;
  bool valid = count <= rank;
  Shape shape = x.model.shape;
  for (int i = 0; i < count; ++i) {
    paddings.push_back({program.in.number(-2, 2), program.in.number(-2, 2)});
    const auto [before, after] = paddings.back();
    constexpr std::int64_t most = 1 << 12;
    // Such an axis may exceed memory, which is refused in another way. These cases are left out.
    if (before > most || after > most) return;
    valid = valid && before >= -most && after >= -most;
    if (!valid) continue;
    std::int64_t& size = shape[rank - 1 - i];
    valid = std::min<std::int64_t>(before, 0) + std::min<std::int64_t>(after, 0) + size >= 0;
    size += before + after;
  }
  std::optional<Model> expected;
  if (valid) expected = made(reference::pad(values_of(x), paddings, 1), x.model.dtype);
  std::string text = concat("pad ", text_of(x));
  for (const AxisPadding& padding : paddings) text += concat(" (", padding.before, ", ", padding.after, ')');
  program.check(text, expected, [&] { return ops::pad(x.tensor, paddings, 1); });
}

// --- picking and ordering

// Indices from 0 to size - 1, or sometimes to `size`, just outside the axis. Their dtype may be invalid.
Value indices(Program& program, const Shape& shape, std::int64_t size) {
  constexpr DType dtypes[] = {DType::i64, DType::i32, DType::i64, DType::f32};
  const int choice = program.in.below(16);
  const DType dtype = dtypes[choice < 13 ? choice % 2 : choice - 12];
  const bool outside = program.in.below(8) == 0;
  std::vector<double> values;
  for (std::int64_t i = 0; i < shape.numel(); ++i)
    values.push_back(static_cast<double>(program.in.byte() % std::max<std::int64_t>(size, 1)) + (outside ? 1 : 0));
  Model model = make_model(values, shape, dtype);
  const std::vector<float> floats(values.begin(), values.end());
  return {ops::cast(from_vector(floats, shape), dtype), std::move(model)};
}

// The result of an op with these indices. The next read must tell of an index outside the axis.
Tensor read_once(const Program& program, Tensor result, const Value& index, std::int64_t size) {
  const std::vector<double> values = index.model.values();
  const bool outside =
      std::any_of(values.begin(), values.end(), [&](double i) { return i >= static_cast<double>(size); });
  if (!outside || result.numel() == 0) return result;
  try {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(result.numel()) * size_of(result.dtype()));
    result.read_bytes(bytes.data());
  } catch (const Error&) {
    return result;
  }
  program.fail("the read does not tell of the index outside the axis");
}

// Replaces missing values by the value that is picked when an index is outside.
Model with_missing(reference::Values values, DType dtype) {
  const double missing = is_floating(dtype)        ? std::numeric_limits<double>::quiet_NaN()
                         : dtype == DType::i32     ? static_cast<double>(std::numeric_limits<std::int32_t>::min())
                         : dtype == DType::i64     ? static_cast<double>(std::numeric_limits<std::int64_t>::min())
                         : dtype == DType::boolean ? 1
                                                   : 255;
  for (double& value : values.values)
    if (value != value) value = missing;
  return made(values, dtype);
}

void gather(Program& program) {
  const Value x = program.pick();
  const int axis = program.axis(x), rank = x.model.shape.rank();
  const auto a = axis_of(axis, rank);
  const bool slices = program.in.flag();
  Shape shape;
  bool valid = a.has_value();
  if (slices) {
    shape = {program.in.below(5)};
  } else {
    for (int i = 0; i < rank; ++i) {
      const int size = program.in.below(4);
      shape.push_back(shape.numel() * size <= 64 ? size : 1);
      valid = valid && (i == *a || shape[i] <= x.model.shape[i]);
    }
  }
  const Value index = indices(program, shape, a ? x.model.shape[*a] : 1);
  valid = valid && index.model.dtype != DType::f32;
  std::optional<Model> expected;
  if (valid)
    expected = with_missing(slices ? reference::index_select(values_of(x), *a, index.model.values())
                                   : reference::gather(values_of(x), *a, values_of(index)),
                            x.model.dtype);
  program.check(concat(slices ? "index_select " : "gather ", text_of(x), " axis ", axis, " index ", text_of(index)),
                expected, [&] {
                  return read_once(program,
                                   slices ? ops::index_select(x.tensor, axis, index.tensor)
                                          : ops::gather(x.tensor, axis, index.tensor),
                                   index, x.tensor.size(axis));
                });
}

void scatter_add(Program& program) {
  const Value x = program.pick(), src = program.pick();
  const int axis = program.axis(x), rank = x.model.shape.rank();
  const auto a = axis_of(axis, rank);
  Shape shape;
  bool valid =
      a && x.model.dtype == src.model.dtype && x.model.dtype != DType::boolean && src.model.shape.rank() == rank;
  for (int i = 0; i < rank; ++i) {
    const int size = program.in.below(4);
    shape.push_back(shape.numel() * size <= 64 ? size : 1);
    valid = valid && shape[i] <= src.model.shape[i] && (i == *a || shape[i] <= x.model.shape[i]);
  }
  const Value index = indices(program, shape, a ? x.model.shape[*a] : 1);
  valid = valid && index.model.dtype != DType::f32;
  std::optional<Model> expected;
  if (valid) expected = made(reference::scatter_add(values_of(x), *a, values_of(index), values_of(src)), x.model.dtype);
  program.check(concat("scatter_add ", text_of(x), " axis ", axis, " index ", text_of(index), " src ", text_of(src)),
                expected, [&] {
                  return read_once(program, ops::scatter_add(x.tensor, axis, index.tensor, src.tensor), index,
                                   x.tensor.size(axis));
                });
}

void sort(Program& program) {
  const Value x = program.pick();
  const int axis = program.axis(x);
  const bool descending = program.in.flag(), places = program.in.flag();
  std::optional<Model> expected;
  const int rank = x.model.shape.rank();
  if (const auto a = axis_of(axis, rank); a) {
    const reference::Sorted sorted = reference::sort(values_of(x), *a, descending);
    expected = places ? made(sorted.indices, DType::i64) : made(sorted.values, x.model.dtype);
  } else if (rank == 0 && (axis == 0 || axis == -1)) {  // Sorting a scalar returns the scalar.
    expected = places ? make_model({0}, {}, DType::i64) : make_model(x.model.values(), {}, x.model.dtype);
  }
  program.check(concat("sort ", text_of(x), " axis ", axis, descending ? " descending" : ""), expected, [&] {
    return places ? ops::argsort(x.tensor, axis, descending) : ops::sort(x.tensor, axis, descending).values;
  });
}

void triangle(Program& program) {
  const Value x = program.pick();
  const std::int64_t diagonal = program.in.number(-4, 4);
  const bool upper = program.in.flag();
  std::optional<Model> expected;
  // All diagonals beyond the matrix give the same result.
  if (x.model.shape.rank() >= 2)
    expected =
        made(reference::triangle(values_of(x), std::clamp<std::int64_t>(diagonal, -1000, 1000), upper), x.model.dtype);
  program.check(concat(upper ? "triu " : "tril ", text_of(x), " diagonal ", diagonal), expected,
                [&] { return upper ? ops::triu(x.tensor, diagonal) : ops::tril(x.tensor, diagonal); });
}

// --- products

void matmul(Program& program) {
  const Value a = program.pick(), b = program.pick();
  const Shape &left = a.model.shape, &right = b.model.shape;
  std::optional<Model> expected;
  if (a.model.dtype == DType::f32 && b.model.dtype == DType::f32 && left.rank() >= 2 && right.rank() >= 2 &&
      left.back() == right[right.rank() - 2]) {
    const auto leading = [](const Shape& s) { return Shape(s.begin(), static_cast<std::size_t>(s.rank() - 2)); };
    if (broadcast(leading(left), leading(right))) {
      const reference::Product product = reference::matmul(a.model.values(), left, b.model.values(), right);
      expected = make_model(product.values, product.shape, DType::f32);
    }
  }
  program.check(concat("matmul ", text_of(a), " and ", text_of(b)), expected,
                [&] { return ops::matmul(a.tensor, b.tensor); });
}

}  // namespace

const std::vector<Step>& compute_steps() {
  static const std::vector<Step> steps{binary, cast,   clone,       copy_into, maximum_in_place, reduce, cumsum, join,
                                       pad,    gather, scatter_add, sort,      triangle,         matmul};
  return steps;
}

}  // namespace crisol::fuzz
