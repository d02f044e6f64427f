#include "onnx/ops/vision/windows.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "crisol/functions/pad.h"
#include "onnx/reader/message.h"
#include "ops/window.h"

namespace crisol::onnx {

Windows::Windows(Call& call, int max_axes)
    : kernel(call.integers("kernel_shape")),
      strides(call.integers("strides")),
      dilations(call.integers("dilations")),
      pads(call.integers("pads")),
      auto_pad(call.text("auto_pad", "NOTSET")) {
  call.require_rank(0, 3, 2 + max_axes);
  require(auto_pad == "NOTSET" || auto_pad == "VALID" || auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER", "onnx",
          "auto_pad is ", file::in_quotes(auto_pad), ", NOTSET, VALID, SAME_UPPER or SAME_LOWER expected");
  for (const auto* list : {&kernel, &strides, &dilations, &pads}) {
    const std::size_t along = list->size() / (list == &pads ? 2 : 1);
    require(along <= static_cast<std::size_t>(max_axes), "onnx", "windows along ", along,
            " axes are not supported: along one to ", max_axes, " they are");
  }
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
    const AxisPadding padding = ops::same_padding(input[static_cast<int>(i)], w.kernel[i], w.strides[i], w.dilations[i],
                                                  auto_pad == "SAME_LOWER");
    w.pads[i] = padding.before;
    w.pads[axes + i] = padding.after;
  }
  return w;
}

Windows Windows::as_image() const {
  Windows w = *this;
  if (axes() != 1) return w;
  for (auto* list : {&w.kernel, &w.strides, &w.dilations}) list->insert(list->begin(), 1);
  w.pads = {0, pads[0], 0, pads[1]};
  return w;
}

Attributes Windows::attributes() const {
  Attributes all;
  for (const auto& [name, list] :
       {std::pair{"kernel", &kernel}, std::pair{"stride", &strides}, std::pair{"dilation", &dilations}})
    if (!list->empty()) all.emplace(name, *list);
  if (auto_pad == "NOTSET" && !pads.empty()) all.emplace("padding", pads);
  if (auto_pad == "SAME_UPPER") all.emplace("same", "end");
  if (auto_pad == "SAME_LOWER") all.emplace("same", "beginning");
  return all;
}

bool Windows::is_symmetric() const {
  const auto half = static_cast<std::ptrdiff_t>(pads.size() / 2);
  return std::equal(pads.begin(), pads.begin() + half, pads.begin() + half, pads.end());
}

bool Windows::has_dilation() const {
  return std::any_of(dilations.begin(), dilations.end(), [](std::int64_t dilation) { return dilation != 1; });
}

Shape spatial_of(const Tensor& x) {
  require(x.dim() >= 3 && x.dim() <= 5, "onnx", "an input of shape ", x.shape(),
          " is not supported: (N, C, W), (N, C, H, W) and (N, C, D, H, W) are");
  return Shape(x.shape().begin() + 2, static_cast<std::size_t>(x.dim() - 2));
}

Shape with_spatial(std::int64_t batch, std::int64_t channels, const Shape& spatial) {
  Shape shape{batch, channels};
  for (const std::int64_t size : spatial) shape.push_back(size);
  return shape;
}

Tensor padded(const Tensor& x, const Windows& w, double value) {
  if (std::all_of(w.pads.begin(), w.pads.end(), [](std::int64_t pad) { return pad == 0; })) return x;
  std::vector<AxisPadding> paddings;
  paddings.reserve(w.axes());
  for (std::size_t i = w.axes(); i-- > 0;) paddings.push_back({w.pads[i], w.pads[w.axes() + i]});
  return pad(x, paddings, value);
}

}  // namespace crisol::onnx
