// index_get, index_put and similar functions: reading and writing at positions from several tensors, as in NumPy.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "autograd/in_place.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "functions/index/positions.h"
#include "functions/traced/traced.h"
#include "ops/check.h"
#include "ops/collapse.h"
#include "ops/index/indexing.h"

namespace crisol {

namespace {

/// The positions, with negative positions counted from the end. The ops of graphs count in the same way, so a trace
/// keeps the index, unless the positions are joined with others.
Tensor positions_of(const char* op, const Tensor& index, std::int64_t size, bool are_joined = false) {
  require(is_whole(index.dtype()), op, "the positions must be ", TypesThat{is_whole}, ", they are ", index.dtype());
  if (kind_of(index.dtype()) == DTypeKind::unsigned_integer) return index;
  const bool widens = size > INT32_MAX || !holds_counts(index.dtype());
  const auto count = [&] { return counted_from_0(widens ? index.to(DType::i64) : index, size); };
  if (are_joined) return count();
  return autograd::noted_as_one(count,
                                [&](Trace& trace, const Tensor& counted) { trace.bind(counted, trace.of(index)); });
}

/// Axes [axis, axis + count) of a tensor, seen as one axis, and positions along this axis.
struct Pick {
  int axis, count;
  std::int64_t size;
  Tensor positions;
};

/// A tensor with the picked axes next to each other, and the positions that are read or written.
struct Places {
  Tensor view;
  Shape order;  ///< Axis i of `view` is axis order[i] of x. x includes the axes that masks of rank 0 add.
  Shape ahead, picked, behind;
  Tensor place;           ///< (picked…): positions along all picked axes, seen as one axis.
  std::int64_t size = 1;  ///< The size of this axis.
  std::size_t picks = 1;  ///< The number of tensors of positions.

  int axis() const { return ahead.rank(); }
  Shape around(const Shape& middle) const {
    Shape shape = ahead;
    for (const std::int64_t one : middle) shape.push_back(one);
    for (const std::int64_t one : behind) shape.push_back(one);
    return shape;
  }
  Tensor rows() const { return view.reshape(around({size})); }
  Tensor line() const { return place.reshape({place.numel()}); }
};

Pick pick_of_mask(const char* op, const Tensor& x, int axis, const Tensor& mask) {
  for (int i = 0; i < mask.dim(); ++i)
    require(mask.size(i) == x.size(axis + i), op, "a mask of shape ", mask.shape(), " for the axes from ", axis,
            " on of shape ", x.shape(), ": the sizes differ");
  const Tensor line = ops::nonzero(mask.detach().reshape({mask.numel()}));
  return {axis, mask.dim(), mask.numel(), line.reshape({line.numel()})};
}

/// The picks in the order of their axes. A mask of rank 0 adds an axis of size 1 to x.
std::vector<Pick> picks_of(const char* op, Tensor& x, const std::vector<Tensor>& indices) {
  std::vector<Pick> picks;
  const auto given = std::count_if(indices.begin(), indices.end(), [](const Tensor& one) { return one.defined(); });
  int axis = 0;
  for (const Tensor& index : indices) {
    const bool is_mask = index.defined() && index.dtype() == DType::boolean;
    if (is_mask && index.dim() == 0) x = x.unsqueeze(axis);
    const Tensor mask = is_mask && index.dim() == 0 ? index.reshape({1}) : index;
    const int count = is_mask ? mask.dim() : 1;
    require(axis + count <= x.dim(), op, indices.size(), " indices take more axes than shape ", x.shape(), " has");
    if (index.defined()) {
      ops::require_device(op, "the tensor", x, "an index", index);
      picks.push_back(is_mask ? pick_of_mask(op, x, axis, mask)
                              : Pick{axis, 1, x.size(axis), positions_of(op, index, x.size(axis), given > 1)});
    }
    axis += count;
  }
  require(!picks.empty(), op, "there is no tensor of positions among ", indices.size(), " indices");
  return picks;
}

/// Joins the positions of all picks into one number. It is -1 if one of the positions is outside its axes.
Tensor joined_positions(const char* op, const std::vector<Pick>& picks) {
  if (picks.size() == 1) return picks[0].positions;
  Shape shape;
  for (const Pick& pick : picks) shape = ops::broadcast_shape(op, shape, pick.positions.shape());
  JoinedPositions joined;
  for (const Pick& pick : picks) joined.add(pick.positions, pick.size);
  return joined.get().expand(shape).contiguous();
}

/// The number of axes ahead of the result's axes that the positions make. It is 0 if positions do not follow each
/// other. Positions of rank 0 make no axes and do not count, as in PyTorch.
int axes_ahead_of(const std::vector<Pick>& picks) {
  std::optional<int> ahead;
  int picked = 0;
  for (const Pick& pick : picks) {
    const int others = pick.axis - picked;
    picked += pick.count;
    if (pick.positions.dim() == 0) continue;
    if (ahead && *ahead != others) return 0;
    ahead = others;
  }
  return ahead.value_or(0);
}

Places places_of(const char* op, Tensor x, const std::vector<Tensor>& indices) {
  require(x.defined(), op, "the tensor is undefined");
  const std::vector<Pick> picks = picks_of(op, x, indices);
  std::array<bool, Shape::max_rank> is_picked{};
  Places places;
  places.picks = picks.size();
  Shape order;
  for (const Pick& pick : picks) {
    places.size *= pick.size;
    for (int i = pick.axis; i < pick.axis + pick.count; ++i) {
      is_picked[static_cast<std::size_t>(i)] = true;
      order.push_back(i);
    }
  }
  const int picked_axes = order.rank(), first = axes_ahead_of(picks);
  Shape others;
  for (int i = 0; i < x.dim(); ++i)
    if (!is_picked[static_cast<std::size_t>(i)]) others.push_back(i);
  for (int i = 0; i < first; ++i) places.order.push_back(others[i]);
  for (const std::int64_t axis : order) places.order.push_back(axis);
  for (int i = first; i < others.rank(); ++i) places.order.push_back(others[i]);
  places.view = std::is_sorted(places.order.begin(), places.order.end()) ? x : x.permute(places.order);
  for (int i = 0; i < x.dim(); ++i) {
    if (i < first) places.ahead.push_back(places.view.size(i));
    if (i >= first + picked_axes) places.behind.push_back(places.view.size(i));
  }
  places.place = joined_positions(op, picks);
  places.picked = places.place.shape();
  const int rank = others.rank() + places.picked.rank();
  require(rank <= Shape::max_rank, op, "the result has ", rank, " axes; at most ", Shape::max_rank, " are allowed");
  return places;
}

/// The value, converted to the dtype and the device of x.
Tensor value_for(const Tensor& x, const Operand& value) {
  if (value.tensor() == nullptr) return full({}, value.number(), x.dtype(), x.device());
  return value.tensor()->to(x.device()).to(x.dtype());
}

/// The values as the source of index_copy.
Tensor source_of(const char* op, const Places& places, const Tensor& value) {
  const Shape shape = places.around(places.picked);
  require(ops::broadcast_shape(op, value.shape(), shape) == shape, op, "a value of shape ", value.shape(),
          " for the elements of shape ", shape);
  return value.expand(shape).reshape(places.around({places.picked.numel()}));
}

/// How the check reports a wrong position: as the position itself, or as one of several joined positions.
runtime::FaultKind fault_of(const Places& places) {
  return places.picks == 1 ? runtime::FaultKind::position : runtime::FaultKind::joined;
}

Tensor read(const char* op, const Tensor& x, const std::vector<Tensor>& indices) {
  const Places places = places_of(op, x, indices);
  const ops::IndexScope scope(op, fault_of(places));
  return index_select(places.rows(), places.axis(), places.line()).reshape(places.around(places.picked));
}

void check_value(const char* op, const Tensor& x, const Operand& value, bool accumulate) {
  require(x.defined() && (value.tensor() == nullptr || value.tensor()->defined()), op, "a tensor is undefined");
  require(!accumulate || x.dtype() != DType::boolean, op, "bool cannot be added");
}

/// The mask in a shape that broadcasts to x. Undefined unless the mask is the only index and all elements get one
/// value. With this mask nobody needs the number of elements, so the call does not wait for the device.
Tensor mask_alone(const char* op, const Tensor& x, const std::vector<Tensor>& indices, const Operand& value,
                  bool accumulate) {
  if (accumulate || (value.tensor() != nullptr && value.tensor()->dim() != 0)) return {};
  Tensor mask;
  int axes_ahead = 0;
  for (const Tensor& index : indices) {
    if (!index.defined() && !mask.defined()) ++axes_ahead;
    if (!index.defined()) continue;
    if (mask.defined() || index.dtype() != DType::boolean || index.dim() == 0) return {};
    mask = index;
  }
  if (!mask.defined() || axes_ahead + mask.dim() > x.dim()) return {};
  Shape shape = Shape::filled(x.dim() - axes_ahead, 1);
  for (int i = 0; i < mask.dim(); ++i) {
    if (mask.size(i) != x.size(axes_ahead + i)) return {};
    shape[i] = mask.size(i);
  }
  ops::require_device(op, "the tensor", x, "an index", mask);
  return mask.detach().reshape(shape);
}

Tensor put(const char* op, const Tensor& x, const std::vector<Tensor>& indices, const Operand& value, bool accumulate) {
  check_value(op, x, value, accumulate);
  const Tensor values = value_for(x, value);
  if (const Tensor mask = mask_alone(op, x, indices, value, accumulate); mask.defined())
    return masked_fill(x, mask, values);
  const Places places = places_of(op, x, indices);
  const Tensor source = source_of(op, places, values), rows = places.rows(), line = places.line();
  const ops::IndexScope scope(op, fault_of(places));
  const Tensor y =
      accumulate ? index_add(rows, places.axis(), line, source) : index_copy(rows, places.axis(), line, source);
  Shape inverse = places.order;
  for (int i = 0; i < inverse.rank(); ++i) inverse[static_cast<int>(places.order[i])] = i;
  return y.reshape(places.view.shape()).permute(inverse).reshape(x.shape());
}

}  // namespace

Tensor index_get(const Tensor& x, const std::vector<Tensor>& indices) { return read("index_get", x, indices); }

Tensor index_put(const Tensor& x, const std::vector<Tensor>& indices, const Operand& value, bool accumulate) {
  const std::array<Operand, 2> operands{x, value};
  if (const autograd::Autocasts casts("index_put", operands); casts)
    return index_put(casts(x), indices, value.tensor() != nullptr ? Operand(casts(*value.tensor())) : value,
                     accumulate);
  return put("index_put", x, indices, value, accumulate);
}

Tensor& Tensor::index_put_(const std::vector<Tensor>& indices, const Operand& value, bool accumulate) {
  constexpr const char* op = "index_put_";
  check_value(op, *this, value, accumulate);
  const bool is_noted = autograd::noted_write(
      op, *this, [&] { return put(op, *this, indices, value, accumulate); },
      [&] { index_put_(indices, value, accumulate); });
  if (is_noted) return *this;
  if (autograd::records_write(op, *this, value.tensor() != nullptr && value.tensor()->requires_grad())) {
    const autograd::Overwrites overwrites(*this);
    autograd::write_result(op, *this, put(op, *this, indices, value, accumulate));
    return *this;
  }
  const NoGrad unrecorded;
  Tensor x = detach();
  Tensor values = value_for(x, value);
  if (values.shares_storage_with(x)) values = values.clone();
  if (const Tensor mask = mask_alone(op, x, indices, value, accumulate); mask.defined()) {
    x.masked_fill_(mask, values);
    return *this;
  }
  const Places places = places_of(op, x, indices);
  const Tensor source = source_of(op, places, values), rows = places.rows();
  const ops::IndexScope scope(op, fault_of(places));
  ops::index_write(rows, places.axis(), places.line(), source, accumulate);
  if (!rows.shares_storage_with(x)) ops::copy_into(places.view, rows.reshape(places.view.shape()));
  return *this;
}

Tensor take_along_axis(const Tensor& x, const Tensor& index, int axis) {
  constexpr const char* op = "take_along_axis";
  require(x.defined() && index.defined(), op, "a tensor is undefined");
  require(x.dim() == index.dim(), op, "the index has shape ", index.shape(), ", the tensor ", x.shape(),
          ": the ranks must be equal");
  ops::require_device(op, "the tensor", x, "the index", index);
  const int at = normalized_axis(op, axis, x.dim());
  Shape own = x.shape(), wanted = index.shape();
  own[at] = wanted[at] = 1;
  const Shape others = ops::broadcast_shape(op, own, wanted);
  own = wanted = others;
  own[at] = x.size(at);
  wanted[at] = index.size(at);
  const ops::IndexScope scope(op, runtime::FaultKind::position);
  return gather(x.expand(own), at, positions_of(op, index, x.size(at)).expand(wanted));
}

Tensor take(const Tensor& x, const Tensor& index, std::optional<int> axis) {
  constexpr const char* op = "take";
  require(x.defined() && index.defined(), op, "a tensor is undefined");
  if (!axis) return take(x.reshape({x.numel()}), index, 0);
  std::vector<Tensor> indices(static_cast<std::size_t>(normalized_axis(op, *axis, x.dim())) + 1);
  indices.back() = index;
  require(index.dtype() != DType::boolean, op, "the positions must be ", TypesThat{is_whole}, ", they are bool");
  return read(op, x, indices);
}

}  // namespace crisol
