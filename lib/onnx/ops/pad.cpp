// Pad.
#include <algorithm>

#include "base/text.h"
#include "crisol/functions/index.h"
#include "crisol/functions/pad.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/table.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

/// Where element i of a padded axis comes from: i counts from the first element of x, which has `size` of them.
std::int64_t source_of(std::int64_t i, std::int64_t size, const std::string& mode) {
  if (mode == "edge") return std::clamp<std::int64_t>(i, 0, size - 1);
  const std::int64_t period = mode == "wrap" ? size : std::max<std::int64_t>(2 * (size - 1), 1);
  const std::int64_t place = (i % period + period) % period;
  return place < size ? place : period - place;
}

/// Copies elements of x into the padding, axis by axis.
Tensor repeat_inside(Tensor x, const std::vector<AxisPadding>& paddings, const std::string& mode) {
  for (int axis = 0; axis < x.dim(); ++axis) {
    const auto [before, after] = paddings[static_cast<std::size_t>(x.dim() - 1 - axis)];
    if (before == 0 && after == 0) continue;
    const std::int64_t size = x.size(axis);
    require(size > 0 && before + size + after >= 0, "onnx", "pads ", before, " and ", after, " of an axis of size ",
            size, " in mode ", mode);
    Numbers sources;
    for (std::int64_t i = -before; i < size + after; ++i) sources.push_back(source_of(i, size, mode));
    x = index_select(x, axis, from_vector(sources, x.device()));
  }
  return x;
}

/// Pads and the value are attributes before version 11.
Run pad_(Call& call) {
  const bool by_input = call.version() >= 11;
  call.check_counts(by_input ? 2 : 1, by_input ? 4 : 1);
  const std::string mode = call.text("mode", "constant");
  require(mode == "constant" || mode == "edge" || mode == "reflect" || (mode == "wrap" && call.version() >= 19), "onnx",
          "mode ", file::in_quotes(mode), " is not supported");
  require(by_input || call.has("pads"), "onnx", "attribute pads is missing");
  const Numbers given = by_input ? Numbers() : call.integers("pads");
  const double given_value = by_input ? 0 : call.real("value", 0);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const Numbers pads = by_input ? in[1].numbers() : given;
    double value = given_value;
    if (in.size() > 2 && in[2].defined())
      value = in[2].on_host() ? static_cast<double>(number_of(in[2], "constant_value"))
                              : in[2].tensor(device).item<double>();
    Numbers axes = in.size() > 3 && in[3].defined() ? in[3].numbers() : Numbers();
    if (axes.empty())
      for (int i = 0; i < x.dim(); ++i) axes.push_back(i);
    require(pads.size() == 2 * axes.size(), "onnx", pads.size(), " pads for ", axes.size(), " axes");
    std::vector<AxisPadding> paddings(static_cast<std::size_t>(x.dim()));
    for (std::size_t i = 0; i < axes.size(); ++i)
      paddings[static_cast<std::size_t>(x.dim() - 1 - axis_of(axes[i], x.dim()))] = {pads[i], pads[axes.size() + i]};
    return Data{mode == "constant" ? pad(x, paddings, value) : repeat_inside(x, paddings, mode)};
  };
}

}  // namespace

std::vector<Row> pad_rows() { return {{"Pad", 2, newest_version, pad_}}; }

}  // namespace crisol::onnx
