// Ops that read and write elements by their positions.
#include "crisol/functions/index.h"
#include "base/text.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/select.h"
#include "graph/ops/data.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;
using Reduction = std::optional<ScatterReduction>;

/// The reduction. Nothing for "none".
Reduction reduction_of(Call& call) {
  const std::string name = call.text("reduction", "none");
  if (name == "none") return {};
  if (name == "add") return ScatterReduction::sum;
  if (name == "mul") return ScatterReduction::prod;
  if (name == "max") return ScatterReduction::amax;
  require(name == "min", "onnx", "reduction \"", name, "\" is not supported");
  return ScatterReduction::amin;
}

/// 0, 1, … along one axis. The other of the `rank` axes have size 1.
Tensor places(std::int64_t count, int axis, int rank, Device device) {
  Shape shape = Shape::filled(rank, 1);
  shape[axis] = count;
  return arange(0, static_cast<double>(count), 1, DType::i64, device).reshape(shape);
}

Run scatter_elements(Call& call) {
  call.check_counts(3, 3);
  call.gives_type_of(0);
  const std::int64_t given = call.integer("axis", 0);
  const Reduction reduction = call.version() >= 16 ? reduction_of(call) : Reduction();
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), updates = in[2].tensor(device);
    const int axis = axis_of(given, x.dim());
    const Tensor index = graph::counted(in[1].tensor(device), x.size(axis));
    return Data{reduction ? scatter_reduce(x, axis, index, updates, *reduction) : scatter(x, axis, index, updates)};
  };
}

Run scatter_nd_(Call& call) {
  call.check_counts(3, 3);
  call.gives_type_of(0);
  const Reduction reduction = call.version() >= 16 ? reduction_of(call) : Reduction();
  return [=](const Data& in, Device device) {
    return Data{scatter_nd(in[0].tensor(device), in[1].tensor(device), in[2].tensor(device), reduction)};
  };
}

Run gather_nd_(Call& call) {
  call.check_counts(2, 2);
  call.gives_type_of(0);
  const std::int64_t batch_axes = call.version() >= 12 ? call.integer("batch_dims", 0) : 0;
  require(batch_axes >= 0 && batch_axes < Shape::max_rank, "onnx", "batch_dims is ", batch_axes);
  return [=](const Data& in, Device device) {
    return Data{gather_nd(in[0].tensor(device), in[1].tensor(device), static_cast<int>(batch_axes))};
  };
}

/// Writes an update into a cache. Each sample of a batch has its own start position.
Run tensor_scatter(Call& call) {
  call.check_counts(2, 3);
  call.gives_type_of(0);
  const std::int64_t given = call.integer("axis", -2);
  const std::string mode = call.text("mode", "linear");
  require(mode == "linear" || mode == "circular", "onnx", "mode \"", mode, "\" is not supported");
  return [=](const Data& in, Device device) {
    const Tensor cache = in[0].tensor(device), update = in[1].tensor(device);
    const int axis = axis_of(given, cache.dim());
    require(axis > 0 && update.dim() == cache.dim(), "onnx", "axis ", axis, " of a cache of shape ", cache.shape(),
            " and an update of shape ", update.shape());
    Tensor index = places(update.size(axis), axis, update.dim(), device);
    if (has_input(in, 2)) {
      Shape starts = Shape::filled(update.dim(), 1);
      starts[0] = update.size(0);
      index = index + in[2].tensor(device).reshape(starts);
    }
    if (mode == "circular") index = remainder(index, cache.size(axis));
    return Data{scatter(cache, axis, index.expand(update.shape()), update)};
  };
}

Run non_zero(Call& call) {
  call.check_counts(1, 1);
  call.gives(0, value_of(DType::i64));
  return [](const Data& in, Device device) { return Data{nonzero(in[0].tensor(device)).t()}; };
}

Run compress(Call& call) {
  call.check_counts(2, 2);
  call.gives_type_of(0);
  const bool has_axis = call.has("axis");
  const std::int64_t given = call.integer("axis", 0);
  return [=](const Data& in, Device device) {
    const Tensor all = in[0].tensor(device), condition = in[1].tensor(device);
    const Tensor x = has_axis ? all : all.reshape({all.numel()});
    const int axis = axis_of(given, x.dim());
    require(condition.dim() == 1 && condition.numel() <= x.size(axis), "onnx", "a condition of shape ",
            condition.shape(), " for axis ", axis, " of shape ", x.shape());
    return Data{index_select(x, axis, nonzero(condition).reshape({-1}))};
  };
}

Run unique_(Call& call) {
  call.check_counts(1, 1, 4);
  call.gives_type_of(0);
  for (const std::size_t list : {1, 2, 3}) call.gives(list, value_of(DType::i64, 1));
  const bool has_axis = call.has("axis");
  const std::int64_t axis = call.integer("axis", 0);
  const bool sorted = call.integer("sorted", 1) != 0;
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    UniqueOptions options{.sorted = sorted};
    if (has_axis) options.axis = axis_of(axis, x.dim());
    const UniqueResult result = unique(x, options);
    return Data{result.values, result.indices, result.inverse, result.counts};
  };
}

Run one_hot_(Call& call) {
  call.check_counts(3, 3);
  call.gives_type_of(2);
  const std::int64_t given = call.integer("axis", -1);
  return [=](const Data& in, Device device) {
    const Tensor values = in[2].tensor(device);
    require(in[1].shape().numel() == 1 && values.shape() == Shape(2), "onnx", "depth has shape ", in[1].shape(),
            ", values has shape ", values.shape(), "; one number and two numbers expected");
    const auto depth = in[1].on_host() ? in[1].numbers()[0] : in[1].tensor(device).item<std::int64_t>();
    require(depth >= 0, "onnx", "depth is ", depth);
    const Tensor index = graph::counted(in[0].tensor(device).to(DType::i64), depth);
    const int axis = axis_of(given, index.dim() + 1);
    const Tensor is_class = eq(index.unsqueeze(axis), places(depth, axis, index.dim() + 1, device));
    return Data{where(is_class, values.select(0, 1), values.select(0, 0))};
  };
}

Run reverse_sequence(Call& call) {
  call.check_counts(2, 2);
  call.gives_type_of(0);
  const std::int64_t batch = call.integer("batch_axis", 1), time = call.integer("time_axis", 0);
  require((batch == 0 && time == 1) || (batch == 1 && time == 0), "onnx", "batch_axis is ", batch, ", time_axis is ",
          time, "; 0 and 1 expected");
  return [batch = static_cast<int>(batch), time = static_cast<int>(time)](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    require(x.dim() >= 2 && in[1].shape() == Shape(x.size(batch)), "onnx", "lengths of shape ", in[1].shape(),
            " for an input of shape ", x.shape());
    Shape shape = Shape::filled(x.dim(), 1);
    shape[batch] = x.size(batch);
    const Tensor lengths = in[1].tensor(device).reshape(shape), place = places(x.size(time), time, x.dim(), device);
    return Data{gather(x, time, where(place < lengths, lengths - 1 - place, place).expand(x.shape()))};
  };
}

Run eye_like(Call& call) {
  call.check_counts(1, 1);
  const std::int64_t diagonal = call.integer("k", 0);
  std::optional<DType> given;
  if (call.has("dtype")) given = dtype_of_number(call.integer("dtype", 0));
  call.gives(0, value_of(given ? given : call.dtype_of(0), 2));
  return [=](const Data& in, Device device) {
    const Shape& shape = in[0].shape();
    require(shape.rank() == 2, "onnx", "an input of shape ", shape, ", a matrix expected");
    const Tensor distance = places(shape[1], 1, 2, device) - places(shape[0], 0, 2, device);
    return Data{eq(distance, diagonal).to(given.value_or(in[0].dtype()))};
  };
}

}  // namespace

std::vector<Row> index_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Compress", 9, newest, compress},        {"EyeLike", 9, newest, eye_like},
      {"GatherND", 11, newest, gather_nd_},     {"NonZero", 9, newest, non_zero},
      {"OneHot", 9, newest, one_hot_},          {"ReverseSequence", 10, newest, reverse_sequence},
      {"Scatter", 9, newest, scatter_elements}, {"ScatterElements", 11, newest, scatter_elements},
      {"ScatterND", 11, newest, scatter_nd_},   {"TensorScatter", 24, newest, tensor_scatter},
      {"Unique", 11, newest, unique_},
  };
}

}  // namespace crisol::onnx
