#include "graph/passes/attributes.h"

#include "ops/window.h"

namespace crisol::graph {

using Integers = std::vector<std::int64_t>;

Integers integers_of(const Node& node, const char* attribute, const Integers& otherwise) {
  const auto given = node.attributes.find(attribute);
  return given == node.attributes.end() ? otherwise : std::get<Integers>(given->second);
}

std::int64_t integer_of(const Node& node, const char* attribute, std::int64_t otherwise) {
  const auto given = node.attributes.find(attribute);
  return given == node.attributes.end() ? otherwise : std::get<std::int64_t>(given->second);
}

std::string text_of(const Node& node, const char* attribute, const char* otherwise) {
  const auto given = node.attributes.find(attribute);
  return given == node.attributes.end() ? otherwise : std::get<std::string>(given->second);
}

std::array<std::int64_t, 2> kernel_of(const Node& pool) {
  const Integers kernel = integers_of(pool, "kernel", {1, 1});
  return {kernel[0], kernel[1]};
}

Windows windows_of(const Node& node, const std::array<std::int64_t, 2>& input,
                   const std::array<std::int64_t, 2>& kernel) {
  const Integers strides = integers_of(node, "stride", {1, 1}), dilations = integers_of(node, "dilation", {1, 1}),
                 pads = integers_of(node, "padding", {0, 0, 0, 0});
  Windows windows{.strides = {strides[0], strides[1]},
                  .dilations = {dilations[0], dilations[1]},
                  .pads = {pads[0], pads[1]},
                  .is_symmetric = pads[0] == pads[2] && pads[1] == pads[3]};
  const std::string same = text_of(node, "same", "");
  if (same.empty()) return windows;
  windows.is_symmetric = true;
  for (std::size_t i = 0; i < 2; ++i) {
    const AxisPadding padding =
        ops::same_padding(input[i], kernel[i], windows.strides[i], windows.dilations[i], same == "beginning");
    windows.pads[i] = padding.before;
    windows.is_symmetric = windows.is_symmetric && padding.before == padding.after;
  }
  return windows;
}

ops::Conv2dSizes sizes_of_convolution(const Shape& x, const Shape& weight, const Shape& y, const Windows& windows) {
  return {.images = x[0],
          .channels = x[1],
          .height = x[2],
          .width = x[3],
          .outputs = y[1],
          .out_h = y[2],
          .out_w = y[3],
          .kernel_h = weight[2],
          .kernel_w = weight[3],
          .stride_h = windows.strides[0],
          .stride_w = windows.strides[1],
          .pad_h = windows.pads[0],
          .pad_w = windows.pads[1],
          .dilation_h = windows.dilations[0],
          .dilation_w = windows.dilations[1],
          .groups = x[1] / weight[1]};
}

}  // namespace crisol::graph
