#include "graph/passes/attributes.h"

#include "ops/window.h"

namespace crisol::graph {

namespace {

using Integers = std::vector<std::int64_t>;

Integers integers_of(const Node& node, const char* attribute, const Integers& otherwise) {
  const auto given = node.attributes.find(attribute);
  return given == node.attributes.end() ? otherwise : std::get<Integers>(given->second);
}

}  // namespace

std::int64_t integer_of(const Node& node, const char* attribute, std::int64_t otherwise) {
  const auto given = node.attributes.find(attribute);
  return given == node.attributes.end() ? otherwise : std::get<std::int64_t>(given->second);
}

std::string text_of(const Node& node, const char* attribute, const char* otherwise) {
  const auto given = node.attributes.find(attribute);
  return given == node.attributes.end() ? otherwise : std::get<std::string>(given->second);
}

std::array<std::int64_t, 2> kernel_of(const Node& pool) {
  const Integers kernel = integers_of(pool, "kernel_shape", {1, 1});
  return {kernel[0], kernel[1]};
}

Windows windows_of(const Node& node, const std::array<std::int64_t, 2>& input,
                   const std::array<std::int64_t, 2>& kernel) {
  const Integers strides = integers_of(node, "strides", {1, 1}), dilations = integers_of(node, "dilations", {1, 1}),
                 pads = integers_of(node, "pads", {0, 0, 0, 0});
  Windows windows{.strides = {strides[0], strides[1]},
                  .dilations = {dilations[0], dilations[1]},
                  .pads = {pads[0], pads[1]},
                  .is_symmetric = pads[0] == pads[2] && pads[1] == pads[3]};
  const std::string automatic = text_of(node, "auto_pad", "NOTSET");
  if (automatic == "NOTSET") return windows;
  windows.pads = {0, 0};
  windows.is_symmetric = true;
  if (automatic == "VALID") return windows;
  for (std::size_t i = 0; i < 2; ++i) {
    const AxisPadding padding =
        ops::same_padding(input[i], kernel[i], windows.strides[i], windows.dilations[i], automatic == "SAME_LOWER");
    windows.pads[i] = padding.before;
    windows.is_symmetric = windows.is_symmetric && padding.before == padding.after;
  }
  return windows;
}

}  // namespace crisol::graph
