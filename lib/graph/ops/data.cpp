#include "graph/ops/data.h"

#include <algorithm>

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/index.h"
#include "crisol/fuse.h"
#include "tensor/impl.h"

namespace crisol::graph {

namespace {

constexpr const char* op = "graph";

/// Elements start, start + step, … of `size` elements.
struct Cut {
  std::int64_t start, count, step;

  Cut(std::int64_t first, std::int64_t end, std::int64_t by, std::int64_t size) : step(by) {
    require(by != 0, op, "a step is 0");
    const auto bound = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
      return std::clamp(at < 0 ? at + size : at, least, most);
    };
    start = by > 0 ? bound(first, 0, size) : bound(first, std::min<std::int64_t>(0, size - 1), size - 1);
    const std::int64_t stop = by > 0 ? bound(end, 0, size) : bound(end, -1, size - 1);
    const std::int64_t distance = by > 0 ? stop - start : start - stop;
    // The magnitude of the step. The step may be -2^63.
    const std::uint64_t stride =
        by > 0 ? static_cast<std::uint64_t>(by) : std::uint64_t{0} - static_cast<std::uint64_t>(by);
    count = distance <= 0 ? 0 : static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) - 1) / stride) + 1;
  }

  Tensor of(const Tensor& x, int axis) const {
    if (count <= 1 || step == 1) return x.narrow(axis, count == 0 ? 0 : start, count);
    const std::int64_t last = start + (count - 1) * step;
    const Tensor range =
        step > 0 ? x.narrow(axis, start, last - start + 1) : x.narrow(axis, last, start - last + 1).flip(axis);
    if (step == -1) return range;
    const Tensor places =
        arange(0, static_cast<double>(range.size(axis)), static_cast<double>(std::abs(step)), DType::i64, x.device());
    return index_select(range, axis, places);
  }
};

/// The position for an index.
std::int64_t place_of(std::int64_t index, std::int64_t size) {
  require(index >= -size && index < size, op, "index ", index, " of ", size, " elements");
  return index < 0 ? index + size : index;
}

bool is_list(const Datum& x) { return x.on_host() && x.shape().rank() == 1; }

}  // namespace

Datum reshaped(const Datum& x, const Shape& shape, Device device) {
  if (!x.on_host()) return x.tensor(device).reshape(shape);
  require(std::all_of(shape.begin(), shape.end(), [](std::int64_t n) { return n >= 0; }) &&
              shape.numel() == x.shape().numel(),
          op, "an input of shape ", x.shape(), " does not fit the shape ", shape);
  return Datum(x.numbers(), shape, x.dtype());
}

Datum squeezed(const Datum& x, const Numbers& axes, Device device) {
  const Shape& old = x.shape();
  std::vector<bool> goes(static_cast<std::size_t>(old.rank()), false);
  for (const std::int64_t axis : axes) {
    const int at = normalized_axis(op, axis, old.rank());
    require(old[at] == 1, op, "axis ", axis, " of shape ", old, " is not of size 1");
    goes[static_cast<std::size_t>(at)] = true;
  }
  Shape sizes;
  for (int i = 0; i < old.rank(); ++i)
    if (axes.empty() ? old[i] != 1 : !goes[static_cast<std::size_t>(i)]) sizes.push_back(old[i]);
  return reshaped(x, sizes, device);
}

Datum unsqueezed(const Datum& x, Numbers axes, Device device) {
  Shape sizes = x.shape();
  const int rank = sizes.rank() + static_cast<int>(axes.size());
  for (std::int64_t& axis : axes) axis = normalized_axis(op, axis, rank);
  std::sort(axes.begin(), axes.end());
  require(std::adjacent_find(axes.begin(), axes.end()) == axes.end(), op, "an axis is given twice");
  for (const std::int64_t axis : axes) sizes.insert(static_cast<int>(axis), 1);
  return reshaped(x, sizes, device);
}

Datum cut(const Datum& given, const Numbers& first, const Numbers& end, const Numbers& axes, const Numbers& steps,
          Device device) {
  require(end.size() == first.size() && axes.size() == first.size() && steps.size() == first.size(), op, first.size(),
          " starts, ", end.size(), " ends, ", axes.size(), " axes and ", steps.size(), " steps");
  if (is_list(given) && first.size() == 1) {
    normalized_axis(op, axes[0], 1);
    const Cut c(first[0], end[0], steps[0], given.shape()[0]);
    const Numbers all = given.numbers();
    Numbers part;
    for (std::int64_t i = 0; i < c.count; ++i) part.push_back(all[static_cast<std::size_t>(c.start + i * c.step)]);
    return Datum(std::move(part), Shape(c.count), given.dtype());
  }
  Tensor x = given.tensor(device);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const int axis = normalized_axis(op, axes[i], x.dim());
    x = Cut(first[i], end[i], steps[i], x.size(axis)).of(x, axis);
  }
  return x;
}

Datum joined(const Data& all, std::int64_t axis, Device device) {
  if (std::all_of(all.begin(), all.end(), is_list)) {
    Numbers numbers;
    for (const Datum& x : all) {
      const Numbers own = x.numbers();
      numbers.insert(numbers.end(), own.begin(), own.end());
    }
    const auto count = static_cast<std::int64_t>(numbers.size());
    return Datum(std::move(numbers), Shape(count), all[0].dtype());
  }
  std::vector<Tensor> tensors;
  for (const Datum& x : all) tensors.push_back(x.tensor(device));
  return cat(tensors, normalized_axis(op, axis, tensors[0].dim()));
}

Datum slices_at(const Datum& from, const Datum& places, std::int64_t given, Device device) {
  const int axis = normalized_axis(op, given, from.shape().rank());
  const std::int64_t size = from.shape()[axis];
  if (is_list(from) && places.on_host()) {
    const Numbers all = from.numbers();
    Numbers picked = places.numbers();
    for (std::int64_t& i : picked) i = all[static_cast<std::size_t>(place_of(i, size))];
    return Datum(std::move(picked), places.shape(), from.dtype());
  }
  const Tensor x = from.tensor(device);
  if (places.on_host() && places.shape().rank() == 0) return x.select(axis, place_of(places.numbers()[0], size));
  const Tensor index = counted(places.tensor(device), size);
  Shape sizes;
  for (int i = 0; i < axis; ++i) sizes.push_back(x.size(i));
  for (const std::int64_t one : index.shape()) sizes.push_back(one);
  for (int i = axis + 1; i < x.dim(); ++i) sizes.push_back(x.size(i));
  return index_select(x, axis, index.reshape(Shape(index.numel()))).reshape(sizes);
}

Tensor counted(const Tensor& positions, std::int64_t size) {
  static const auto from_front =
      fuse([](const Expr& i, const Expr& n) { return where(i < 0, i + n, i); }, "from_front");
  return kind_of(positions.dtype()) == DTypeKind::unsigned_integer ? positions : from_front(positions, size);
}

}  // namespace crisol::graph
