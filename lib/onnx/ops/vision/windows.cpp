#include "onnx/ops/vision/windows.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "crisol/functions/pad.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

Windows::Windows(Call& call)
    : kernel(call.integers("kernel_shape")),
      strides(call.integers("strides")),
      dilations(call.integers("dilations")),
      pads(call.integers("pads")),
      auto_pad(call.text("auto_pad", "NOTSET")) {
  call.require_rank(0, 3, 4);
  require(auto_pad == "NOTSET" || auto_pad == "VALID" || auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER", "onnx",
          "auto_pad is ", file::in_quotes(auto_pad), ", NOTSET, VALID, SAME_UPPER or SAME_LOWER expected");
  for (const auto* list : {&kernel, &strides, &dilations, &pads})
    require(list->size() <= (list == &pads ? 4 : 2), "onnx", "windows along ", list->size() / (list == &pads ? 2 : 1),
            " axes are not supported: along one or two they are");
  for (const auto* list : {&kernel, &strides, &dilations, &pads})
    for (const std::int64_t value : *list)
      require(value >= (list == &pads ? 0 : 1) && value <= std::numeric_limits<int>::max(), "onnx",
              "a window has the kernel, stride, dilation or pad ", value);
}

Windows Windows::for_input(const Shape& input, const Shape& kernel_shape) const {
  Windows w = *this;
  const auto axes = static_cast<std::size_t>(input.rank());
  if (w.kernel.empty()) w.kernel.assign(kernel_shape.begin(), kernel_shape.end());
  if (w.strides.empty()) w.strides.assign(axes, 1);
  if (w.dilations.empty()) w.dilations.assign(axes, 1);
  if (w.pads.empty() || auto_pad != "NOTSET") w.pads.assign(2 * axes, 0);
  require(
      w.kernel.size() == axes && w.strides.size() == axes && w.dilations.size() == axes && w.pads.size() == 2 * axes,
      "onnx", "kernel_shape, strides, dilations or pads do not fit ", axes, " axes");
  require(kernel_shape.empty() || Shape(w.kernel) == kernel_shape, "onnx", "kernel_shape is ", Shape(w.kernel),
          ", the weight has ", kernel_shape);
  if (auto_pad == "NOTSET" || auto_pad == "VALID") return w;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t size = input[static_cast<int>(i)], outputs = (size + w.strides[i] - 1) / w.strides[i];
    const std::int64_t reach = (outputs - 1) * w.strides[i] + (w.kernel[i] - 1) * w.dilations[i] + 1;
    const std::int64_t total = std::max<std::int64_t>(reach - size, 0);
    const std::int64_t less = total / 2, more = total - less;
    w.pads[i] = auto_pad == "SAME_UPPER" ? less : more;
    w.pads[axes + i] = total - w.pads[i];
  }
  return w;
}

Windows Windows::as_image() const {
  Windows w = *this;
  if (kernel.size() == 2) return w;
  for (auto* list : {&w.kernel, &w.strides, &w.dilations}) list->insert(list->begin(), 1);
  w.pads = {0, pads[0], 0, pads[1]};
  return w;
}

IntPair Windows::pair(const std::vector<std::int64_t>& values, std::size_t first) {
  return {static_cast<int>(values[first]), static_cast<int>(values[first + 1])};
}

Shape spatial_of(const Tensor& x) {
  const int axes = x.dim() - 2;
  require(axes == 1 || axes == 2, "onnx", "an input of shape ", x.shape(),
          " is not supported: (N, C, W) and (N, C, H, W) are");
  Shape spatial;
  for (int i = 0; i < axes; ++i) spatial.push_back(x.size(2 + i));
  return spatial;
}

Tensor padded(const Tensor& x, const Windows& w, double value) {
  if (std::all_of(w.pads.begin(), w.pads.end(), [](std::int64_t pad) { return pad == 0; })) return x;
  return pad(x, {{w.pads[1], w.pads[3]}, {w.pads[0], w.pads[2]}}, value);
}

}  // namespace crisol::onnx
