#include "graph/passes/resize_factors.h"

#include "graph/passes/attributes.h"

namespace crisol::graph {

namespace {

/// Whether the node has the factors y / x. It has them if they are given, or if they follow from given sizes.
bool has_factors(const Uses& uses, const Node& node, const Shape& x, const Shape& y, Device device) {
  const auto given = [&](std::size_t i) { return i < node.inputs.size() && node.inputs[i] != absent; };
  if (node.attributes.count("axes") > 0 || text_of(node, "keep_aspect_ratio_policy", "stretch") != "stretch")
    return false;
  if (given(3)) return uses.constant(node.inputs[3]) != nullptr;
  const std::size_t scales = node.inputs.size() == 2 ? 1 : 2;  // Version 10 of Resize has no input for a region.
  const Datum* const factors = given(scales) ? uses.constant(node.inputs[scales]) : nullptr;
  if (factors == nullptr || factors->shape() != Shape{4}) return false;
  const std::vector<float> numbers = factors->tensor(device).to_vector<float>();
  for (int i = 0; i < 4; ++i)
    if (static_cast<double>(numbers[static_cast<std::size_t>(i)]) * static_cast<double>(x[i]) !=
        static_cast<double>(y[i]))
      return false;
  return true;
}

}  // namespace

std::optional<std::array<std::int64_t, 2>> repeats_of(const Graph& graph, const Uses& uses, const Node& node,
                                                      Device device) {
  if (node.op == Op::enlarge) return std::array{integer_of(node, "down", 1), integer_of(node, "across", 1)};
  if (node.op != Op::resize || text_of(node, "mode", "nearest") != "nearest") return {};
  const std::string places = text_of(node, "coordinate_transformation_mode", "half_pixel"),
                    nearest = text_of(node, "nearest_mode", "round_prefer_floor");
  const bool repeats = (places == "asymmetric" && nearest == "floor") ||
                       (places == "half_pixel" && (nearest == "round_prefer_floor" || nearest == "round_prefer_ceil"));
  const Shape x = *shape_of(graph, node.inputs[0]), y = *shape_of(graph, node.outputs[0]);
  if (!repeats || x[0] != y[0] || x[1] != y[1] || y[2] % x[2] != 0 || y[3] % x[3] != 0 ||
      !has_factors(uses, node, x, y, device))
    return {};
  return std::array{y[2] / x[2], y[3] / x[3]};
}

}  // namespace crisol::graph
