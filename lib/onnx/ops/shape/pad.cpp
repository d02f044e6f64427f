// Padding with a number, or with elements of the input.
#include <string>

#include "base/text.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/pad.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

/// Pads an axis with elements of x. "reflect" mirrors x at its ends without repeating the outermost element, "edge"
/// repeats the outermost element, and "wrap" repeats x. Negative paddings remove elements first.
Tensor extended(const Tensor& x, int axis, AxisPadding padding, const std::string& mode) {
  const std::int64_t before = std::max<std::int64_t>(padding.before, 0),
                     after = std::max<std::int64_t>(padding.after, 0);
  std::vector<AxisPadding> cuts(static_cast<std::size_t>(x.dim() - axis));
  cuts.back() = {std::min<std::int64_t>(padding.before, 0), std::min<std::int64_t>(padding.after, 0)};
  const Tensor kept = cuts.back().before == 0 && cuts.back().after == 0 ? x : pad(x, cuts);
  if (before == 0 && after == 0) return kept;
  const std::int64_t size = kept.size(axis);
  require(size > 0, "onnx", "axis ", axis, " of shape ", kept.shape(), " has no elements to pad with");
  constexpr std::int64_t most = std::int64_t{1} << 31;
  require(before + size + after <= most, "onnx", "axis ", axis, " of shape ", kept.shape(), " with a padding of ",
          before, " and ", after, " would have more than ", most, " elements");
  // The positions are computed on the host, because they are then constants in a program.
  std::vector<std::int64_t> places;
  places.reserve(static_cast<std::size_t>(before + size + after));
  const std::int64_t period = mode == "wrap" ? size : std::max<std::int64_t>(2 * (size - 1), 1);
  for (std::int64_t i = -before; i < size + after; ++i) {
    const std::int64_t wrapped = (i % period + period) % period;
    places.push_back(mode == "edge" ? std::clamp<std::int64_t>(i, 0, size - 1)
                                    : std::min(wrapped, mode == "wrap" ? wrapped : period - wrapped));
  }
  return index_select(kept, axis, from_vector(places, {before + size + after}, x.device()));
}

/// Paddings for the mode with a number. If one end should lose more elements than the axis has, the rest is taken from
/// what the other end gets.
AxisPadding within(AxisPadding p, std::int64_t size) {
  const std::int64_t before = std::max(p.before, -size), after = std::max(p.after, -size);
  return {before + p.after - after, after + p.before - before};
}

/// `pads` has the padding before each axis of `along`, and then the padding after each.
Tensor padded(const Tensor& x, const Numbers& pads, Numbers along, const std::string& mode, double value) {
  if (along.empty())
    for (int i = 0; i < x.dim(); ++i) along.push_back(i);
  require(pads.size() == 2 * along.size(), "onnx", pads.size(), " pads for ", along.size(), " axes");
  std::vector<AxisPadding> paddings(static_cast<std::size_t>(x.dim()));
  for (std::size_t i = 0; i < along.size(); ++i) {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    for (const std::int64_t one : {pads[i], pads[along.size() + i]})
      require(one > -most && one < most, "onnx", "a padding of ", one);
    paddings[static_cast<std::size_t>(x.dim() - 1 - axis_of(along[i], x.dim()))] = {pads[i], pads[along.size() + i]};
  }
  if (mode == "constant") {
    for (int i = 0; i < x.dim(); ++i) {
      AxisPadding& p = paddings[static_cast<std::size_t>(i)];
      p = within(p, x.size(x.dim() - 1 - i));
    }
    return pad(x, paddings, value);
  }
  Tensor y = x;
  for (int axis = 0; axis < x.dim(); ++axis)
    y = extended(y, axis, paddings[static_cast<std::size_t>(x.dim() - 1 - axis)], mode);
  return y;
}

/// Paddings and value are attributes up to version 10.
Run pad_attributes(Call& call) {
  call.check_counts(1, 1);
  const std::string mode = call.text_of("mode", {"constant", "reflect", "edge"});
  const double value = call.real("value", 0);
  const char* name = call.version() < 2 ? "paddings" : "pads";
  require(call.has(name), "onnx", "attribute ", name, " is missing");
  const Numbers pads = call.integers(name);
  const auto rank = call.rank_of(0);
  require(!rank || pads.size() == 2 * static_cast<std::size_t>(*rank), "onnx", pads.size(), " pads for ",
          rank.value_or(0), " axes");
  call.gives_type_of(0, rank);
  return [=](const Data& in, Device device) { return Data{padded(in[0].tensor(device), pads, {}, mode, value)}; };
}

Run pad_inputs(Call& call) {
  call.check_counts(2, 4);
  const std::string mode = call.version() < 19 ? call.text_of("mode", {"constant", "reflect", "edge"})
                                               : call.text_of("mode", {"constant", "reflect", "edge", "wrap"});
  call.gives_type_of(0, call.rank_of(0));
  return [mode](const Data& in, Device device) {
    double value = 0;
    if (has_input(in, 2)) value = in[2].number();
    const Numbers along = has_input(in, 3) ? in[3].numbers() : Numbers();
    return Data{padded(in[0].tensor(device), in[1].numbers(), along, mode, value)};
  };
}

}  // namespace

std::vector<Row> pad_rows() { return {{"Pad", 1, 10, pad_attributes}, {"Pad", 11, newest_version, pad_inputs}}; }

}  // namespace crisol::onnx
