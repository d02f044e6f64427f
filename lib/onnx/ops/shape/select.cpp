// Ops that cut, select, repeat and fill.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/sort.h"
#include "crisol/functions/triangle.h"
#include "graph/ops/data.h"
#include "onnx/ops/host_numbers.h"
#include "onnx/ops/small_types.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;

/// Starts, ends and axes are attributes before version 10.
Run slice(Call& call) {
  const bool by_inputs = call.version() >= 10;
  call.check_counts(by_inputs ? 3 : 1, by_inputs ? 5 : 1);
  const Numbers starts = by_inputs ? Numbers() : call.integers("starts"),
                ends = by_inputs ? Numbers() : call.integers("ends"),
                axes = by_inputs ? Numbers() : call.integers("axes");
  for (const std::int64_t axis : axes) check_axis(axis, call.rank_of(0));
  call.gives_type_of(0, call.rank_of(0));
  return [=](const Data& in, Device device) -> Data {
    const auto given = [&](std::size_t i, const Numbers& otherwise) {
      return has_input(in, i) ? in[i].numbers() : otherwise;
    };
    const Numbers first = given(1, starts), end = given(2, ends);
    Numbers along = given(3, axes), steps = given(4, {});
    if (along.empty())
      for (std::size_t i = 0; i < first.size(); ++i) along.push_back(static_cast<std::int64_t>(i));
    if (steps.empty()) steps.assign(first.size(), 1);
    return {graph::cut(in[0], first, end, along, steps, device)};
  };
}

/// Sizes are an input in version 1 and since version 13, and an attribute between. Since version 18, the number of
/// parts can be given instead.
Run split_(Call& call) {
  const bool by_input = call.version() >= 13;
  call.check_counts(1, by_input || call.version() < 2 ? 2 : 1, call.outputs());
  const std::int64_t axis = call.integer("axis", 0);
  const Numbers sizes = by_input ? Numbers() : call.integers("split");
  const auto parts = static_cast<std::int64_t>(call.outputs());
  require(parts > 0, "onnx", "there are no outputs");
  if (call.version() >= 18)
    require(call.integer("num_outputs", parts) == parts, "onnx", "num_outputs differs from ", parts, " outputs");
  check_axis(axis, call.rank_of(0));
  for (std::size_t i = 0; i < call.outputs(); ++i) call.gives(i, value_of(call.dtype_of(0), call.rank_of(0)));
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const int along = axis_of(axis, x.dim());
    Numbers of_parts = has_input(in, 1) ? in[1].numbers() : sizes;
    const std::int64_t each = (x.size(along) + parts - 1) / parts;
    if (of_parts.empty())
      for (std::int64_t i = 0; i < parts; ++i)
        of_parts.push_back(std::clamp<std::int64_t>(x.size(along) - i * each, 0, each));
    require(static_cast<std::int64_t>(of_parts.size()) == parts, "onnx", of_parts.size(), " sizes for ", parts,
            " outputs");
    Data results;
    for (const Tensor& part : split(x, of_parts, along)) results.emplace_back(part);
    return results;
  };
}

Run trilu(Call& call) {
  call.check_counts(1, 2);
  const bool upper = call.integer("upper", 1) != 0;
  call.require_rank(0, 2, Shape::max_rank);
  call.gives_same();
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const std::int64_t diagonal = has_input(in, 1) ? number_of(in[1], "k") : 0;
    return Data{upper ? triu(x, diagonal) : tril(x, diagonal)};
  };
}

Run tile_(Call& call) {
  call.check_counts(2, 2);
  call.gives_type_of(0, call.rank_of(0));
  return [](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const Numbers counts = in[1].numbers();
    require(static_cast<int>(counts.size()) == x.dim(), "onnx", counts.size(), " repeats for shape ", x.shape());
    return Data{tile(x, Shape(counts))};
  };
}

/// Repeats along one axis, which the third input gives. The two numbers have the element type of x, usually f32.
Run tile_of_version_1(Call& call) {
  call.check_counts(3, 3);
  call.gives_type_of(0, call.rank_of(0));
  return [](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const auto whole = [&](std::size_t i) {
      const double n = in[i].number();
      require(std::abs(n) < 0x1p31 && n == std::floor(n), "onnx", "input ", i, " is ", n, ", a whole number expected");
      return static_cast<std::int64_t>(n);
    };
    Shape counts = Shape::filled(x.dim(), 1);
    counts[axis_of(whole(2), x.dim())] = whole(1);
    return Data{tile(x, counts)};
  };
}

/// The count is an attribute before version 10.
Run top_k(Call& call) {
  const bool by_input = call.version() >= 10;
  call.check_counts(by_input ? 2 : 1, by_input ? 2 : 1, 2);
  require(by_input || call.has("k"), "onnx", "attribute k is missing");
  const std::int64_t count = by_input ? 0 : call.integer("k", 0);
  const std::int64_t axis = call.integer("axis", -1);
  const bool largest = call.version() < 11 || call.integer("largest", 1) != 0;
  if (call.version() >= 11) call.integer("sorted", 1);  // The results are always sorted.
  check_axis(axis, call.rank_of(0));
  call.gives_type_of(0, call.rank_of(0));
  call.gives(1, value_of(DType::i64, call.rank_of(0)));
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const SortResult result = topk(x, by_input ? number_of(in[1], "K") : count, axis_of(axis, x.dim()), largest);
    return Data{result.values, result.indices};
  };
}

Run cast_like(Call& call) {
  call.check_counts(2, 2);
  call.takes_small_types();
  const Rounding rounding(call);
  if (const SmallType* const small = small_type(call.input(1))) return cast_to_small_type(call, *small, rounding);
  graph::Value value = call.input(0);
  value.dtype = call.dtype_of(1);
  value.small = 0;
  call.gives(0, value);
  return [](const Data& in, Device device) { return Data{converted(in[0], in[1].dtype(), device)}; };
}

/// Whole numbers from start to limit. They stay on the host if they are few.
Datum whole_range(const Data& in, Device device) {
  const std::int64_t start = number_of(in[0], "start"), limit = number_of(in[1], "limit"),
                     step = number_of(in[2], "delta");
  require(step != 0, "onnx", "delta is 0");
  const auto distance = [](std::int64_t from, std::int64_t to) {
    return to <= from ? 0 : static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  };
  const std::uint64_t way = step > 0 ? distance(start, limit) : distance(limit, start);
  const std::uint64_t stride = step > 0 ? distance(0, step) : distance(step, 0);
  const std::uint64_t steps = way == 0 ? 0 : (way - 1) / stride + 1;
  require(steps <= INT32_MAX, "onnx", "a range of ", steps, " numbers, at most ", INT32_MAX, " supported");
  const auto count = static_cast<std::int64_t>(steps);
  const DType dtype = in[0].dtype();
  if (count > most_on_host) return arange(0, static_cast<double>(count), 1, dtype, device) * step + start;
  Numbers numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(start + i * step);
  return Datum(std::move(numbers), Shape(count), dtype);
}

Run range(Call& call) {
  call.check_counts(3, 3);
  call.gives_type_of(0, 1);
  return [](const Data& in, Device device) -> Data {
    const DType dtype = in[0].dtype();
    if (!is_floating(dtype)) return {whole_range(in, device)};
    const double start = in[0].number(), step = in[2].number();
    const double way = in[1].number() - start;
    const double steps = std::ceil((dtype == DType::f64 ? way : static_cast<double>(static_cast<float>(way))) / step);
    require(step != 0 && steps <= INT32_MAX, "onnx", "a range from ", start, " to ", in[1].number(), " by ", step);
    if (!(steps > 0)) return {empty(Shape(0), dtype, device)};
    return {arange(start, start + (steps - 0.5) * step, step, dtype, device)};
  };
}

Run constant_of_shape(Call& call) {
  call.check_counts(1, 1);
  const Datum value = call.tensor("value");
  call.gives(0, value_of(value.defined() ? value.dtype() : DType::f32));
  return [=](const Data& in, Device device) -> Data {
    const Shape shape(in[0].numbers());
    if (!value.defined()) return {zeros(shape, DType::f32, device)};
    const Tensor one = value.tensor(device);
    require(one.numel() == 1, "onnx", "the value has shape ", one.shape(), ", one number expected");
    if (value.on_host() && shape.numel() <= most_on_host &&
        std::all_of(shape.begin(), shape.end(), [](std::int64_t n) { return n >= 0; }))
      return {Datum(Numbers(static_cast<std::size_t>(shape.numel()), number_of(value, "value")), shape, value.dtype())};
    return {one.reshape(Shape()).expand(shape).contiguous()};
  };
}

Run size(Call& call) {
  call.check_counts(1, 1);
  call.gives(0, value_of(DType::i64, 0));
  return [](const Data& in, Device) { return Data{Datum(Numbers{in[0].shape().numel()}, Shape())}; };
}

Run gather_elements(Call& call) {
  call.check_counts(2, 2);
  const std::int64_t given = call.integer("axis", 0);
  check_axis(given, call.rank_of(0));
  call.gives_type_of(0, call.rank_of(1));
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const int axis = axis_of(given, x.dim());
    const Tensor index = in[1].tensor(device).to(DType::i64);
    return Data{gather(x, axis, where(index.lt(0), index + x.size(axis), index))};
  };
}

Run where_(Call& call) {
  call.check_counts(3, 3);
  call.gives(0, broadcast(call.known_inputs(), 1));
  return [](const Data& in, Device device) -> Data {
    const auto choose = [](const std::int64_t* n) { return n[0] != 0 ? n[1] : n[2]; };
    if (const auto y = map_on_host(in, in[1].dtype(), choose)) return {*y};
    return {where(in[0].tensor(device), in[1].tensor(device), in[2].tensor(device))};
  };
}

}  // namespace

std::vector<Row> select_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"CastLike", 15, newest, cast_like},
      {"ConstantOfShape", 9, newest, constant_of_shape},
      {"GatherElements", 11, newest, gather_elements},
      {"Range", 11, newest, range},
      {"Size", 1, newest, size},
      {"Slice", 1, newest, slice},
      {"Split", 1, newest, split_},
      {"Tile", 1, 5, tile_of_version_1},
      {"Tile", 6, newest, tile_},
      {"TopK", 1, newest, top_k},
      {"Trilu", 14, newest, trilu},
      {"Where", 9, newest, where_},
  };
}

}  // namespace crisol::onnx
