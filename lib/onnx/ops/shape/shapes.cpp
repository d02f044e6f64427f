// Ops that change shapes, join and pick. Whole numbers on the host stay on the host, because they become shapes.
#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "graph/ops/data.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/domains/labels.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/host_numbers.h"
#include "onnx/ops/small_types.h"
#include "onnx/ops/table.h"
#include "onnx/reader/message.h"
#include "ops/collapse.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;

Run identity(Call& call) {
  call.takes_sequences();
  call.check_counts(1, 1);
  call.gives_same();
  return [](const Data& in, Device) { return Data{in[0]}; };
}

Run shape(Call& call) {
  call.check_counts(1, 1);
  const std::int64_t start = call.integer("start", 0), end = call.integer("end", INT64_MAX);
  call.gives(0, value_of(DType::i64, 1));
  return [=](const Data& in, Device) {
    const Shape& sizes = in[0].shape();
    const auto bound = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + sizes.rank() : at, 0, sizes.rank());
    };
    Numbers numbers;
    for (std::int64_t i = bound(start); i < bound(end); ++i) numbers.push_back(sizes[static_cast<int>(i)]);
    const auto count = static_cast<std::int64_t>(numbers.size());
    return Data{Datum(std::move(numbers), Shape(count))};
  };
}

/// The number of axes of a shape, from the number of its sizes.
int rank_of_size(std::int64_t sizes) {
  require(sizes <= Shape::max_rank, "onnx", "a shape has ", sizes, " sizes, at most ", Shape::max_rank, " supported");
  return static_cast<int>(sizes);
}

/// The shape for the given `sizes`. A size of 0 means the input's size, unless `allows_zero`. One size may be -1.
Shape new_shape(const Shape& old, Numbers sizes, bool allows_zero) {
  std::int64_t known = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0 && !allows_zero) {
      require(static_cast<int>(i) < old.rank(), "onnx", "size ", i, " is 0, and the input has shape ", old);
      sizes[i] = old[static_cast<int>(i)];
    }
    require(sizes[i] >= -1 && (sizes[i] <= 0 || known <= INT64_MAX / sizes[i]), "onnx", "the shape ", Shape(sizes),
            " does not fit an input of shape ", old);
    if (sizes[i] != -1) known *= sizes[i];
  }
  // Together with a size of 0, it is unknown what -1 means.
  const auto open = std::find(sizes.begin(), sizes.end(), -1);
  if (open != sizes.end() && known != 0 && old.numel() % known == 0) *open = old.numel() / known;
  return Shape(sizes);
}

Run reshape_(Call& call) {
  call.check_counts(2, 2);
  const bool allows_zero = call.integer("allowzero", 0) != 0;
  const auto& sizes_shape = call.input(1).shape;
  const bool knows_rank = sizes_shape && sizes_shape->size() == 1 && sizes_shape->front().size;
  call.gives_type_of(0, knows_rank ? std::optional<int>(rank_of_size(*sizes_shape->front().size)) : std::nullopt);
  return [=](const Data& in, Device device) {
    return Data{graph::reshaped(in[0], new_shape(in[0].shape(), in[1].numbers(), allows_zero), device)};
  };
}

Run reshape_by_attribute(Call& call) {
  call.check_counts(1, 1);
  require(call.has("shape"), "onnx", "attribute shape is missing");
  const Numbers sizes = call.integers("shape");
  call.gives_type_of(0, rank_of_size(static_cast<std::int64_t>(sizes.size())));
  return [=](const Data& in, Device device) {
    return Data{graph::reshaped(in[0], new_shape(in[0].shape(), sizes, false), device)};
  };
}

Run flatten_(Call& call) {
  call.check_counts(1, 1);
  const std::int64_t given = call.integer("axis", 1);
  if (const auto rank = call.rank_of(0))
    require(given >= -*rank && given <= *rank, "onnx", "axis ", given, " of ", *rank, " axes");
  call.gives_type_of(0, 2);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    require(given >= -x.dim() && given <= x.dim(), "onnx", "axis ", given, " of an input of shape ", x.shape());
    const int axis = static_cast<int>(given < 0 ? given + x.dim() : given);
    std::int64_t rows = 1, columns = 1;
    for (int i = 0; i < x.dim(); ++i) (i < axis ? rows : columns) *= x.size(i);
    return Data{x.reshape({rows, columns})};
  };
}

Run transpose_(Call& call) {
  call.check_counts(1, 1);
  const Numbers order = call.integers("perm");
  const auto rank = call.rank_of(0);
  require(!rank || order.empty() || static_cast<int>(order.size()) == *rank, "onnx", "perm has ", order.size(),
          " axes, the input ", rank.value_or(0));
  call.gives_type_of(0, rank);
  call.describe({{"axes", order}});
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{order.empty() ? x.T() : x.permute(Shape(order))};
  };
}

Run squeeze_(Call& call) {
  const Axes axes(call, 13);
  call.gives_type_of(0);
  return [=](const Data& in, Device device) { return Data{graph::squeezed(in[0], axes.of(in), device)}; };
}

Run unsqueeze_(Call& call) {
  const Axes axes(call, 13);
  call.gives_type_of(0);
  return [=](const Data& in, Device device) { return Data{graph::unsqueezed(in[0], axes.of(in), device)}; };
}

Run concat_(Call& call) {
  call.check_counts(1, call.inputs());
  require(call.version() < 4 || call.has("axis"), "onnx", "attribute axis is missing");
  const std::int64_t axis = call.integer("axis", 1);
  check_axis(axis, call.rank_of(0));
  call.gives_type_of(0, call.rank_of(0));
  call.describe({{"axis", axis}});
  return [=](const Data& in, Device device) { return Data{graph::joined(in, axis, device)}; };
}

Run gather_(Call& call) {
  call.check_counts(2, 2);
  const std::int64_t given = call.integer("axis", 0);
  const auto rank = call.rank_of(0), index_rank = call.rank_of(1);
  check_axis(given, rank);
  call.gives_type_of(0, rank && index_rank ? std::optional<int>(*rank + *index_rank - 1) : std::nullopt);
  return [=](const Data& in, Device device) { return Data{graph::slices_at(in[0], in[1], given, device)}; };
}

Run cast_to(Call& call, DType dtype) {
  call.check_counts(1, 1);
  graph::Value value = call.input(0);
  Element{dtype}.describe(value);
  call.gives(0, value);
  Run run([=](const Data& in, Device device) { return Data{converted(in[0], dtype, device)}; });
  if (dtype == DType::f32) run.formula = [](std::span<const Expr> in) { return in[0].to(DType::f32); };
  return run;
}

Run cast(Call& call) {
  require(call.has("to"), "onnx", "attribute to is missing");
  const Rounding rounding(call);
  const std::int64_t to = call.integer("to", 0);
  const graph::Texts texts = call.texts_of_input();
  call.takes_small_types();
  if (texts == nullptr) {
    const Element element = element_of_number(to);
    return element.small != nullptr ? cast_to_small_type(call, *element.small, rounding) : cast_to(call, element.dtype);
  }
  if (to != static_cast<std::int64_t>(file::ElementType::string)) return cast_texts(call, *texts, dtype_of_number(to));
  call.check_counts(1, 1);
  call.gives_same();
  return [](const Data& in, Device) { return Data{in[0]}; };
}

/// Before version 6, the attribute is the name of an element type. The names are those in the source code of ONNX.
Run cast_by_name(Call& call) {
  const std::string name = call.text("to", "");
  const auto type = file::element_type_named(name);
  require(type.has_value(), "onnx", "attribute to is ", file::in_quotes(name), ", which is no element type");
  return cast_to(call, dtype_of_number(static_cast<std::int64_t>(*type)));
}

Run expand_(Call& call) {
  call.check_counts(2, 2);
  call.gives_type_of(0);
  return [](const Data& in, Device device) -> Data {
    // Both shapes are broadcast to each other: a wanted size of 1 keeps the input's size. Some programs write -1 for 1.
    Numbers wanted = in[1].numbers();
    std::replace(wanted.begin(), wanted.end(), std::int64_t{-1}, std::int64_t{1});
    const Shape sizes = ops::broadcast_shape("onnx", in[0].shape(), Shape(wanted));
    if (in[0].on_host() && sizes.numel() <= most_on_host) return {Datum(expanded(in[0], sizes), sizes, in[0].dtype())};
    return {in[0].tensor(device).expand(sizes)};
  };
}

}  // namespace

std::vector<Row> shape_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Cast", 1, 5, cast_by_name},         {"Cast", 6, newest, cast},
      {"Concat", 1, newest, concat_},       {"Expand", 8, newest, expand_},
      {"Flatten", 1, newest, flatten_},     {"Gather", 1, newest, gather_},
      {"Identity", 1, newest, identity},    {"Reshape", 1, 4, reshape_by_attribute},
      {"Reshape", 5, newest, reshape_},     {"Shape", 1, newest, shape},
      {"Squeeze", 1, newest, squeeze_},     {"Transpose", 1, newest, transpose_},
      {"Unsqueeze", 1, newest, unsqueeze_},
  };
}

}  // namespace crisol::onnx
