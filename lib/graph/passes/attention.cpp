#include <map>

#include "crisol/functions/attention.h"
#include "graph/passes/attributes.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"
#include "ops/attention/attention.h"

namespace crisol::graph {

namespace {

/// The parts of softmax(scale · q · kt + mask) · v.
struct AttentionParts {
  int q = absent, kt = absent, v = absent, mask = absent;
  double scale = 1;
};

class AttentionFinder {
 public:
  AttentionFinder(Graph& graph, Device device) : graph_(graph), uses_(graph), device_(device) {}

  void find() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (const std::optional<AttentionParts> parts = attention(graph_.nodes[i])) found_.emplace(i, *parts);
    for (const auto& [place, parts] : found_) replace(graph_.nodes[place], parts);
  }

 private:
  Shape shape(int value) const { return *shape_of(graph_, value); }

  /// An f32 value with at least two axes.
  bool is_matrix(int value) const {
    return value != absent && graph_.values[static_cast<std::size_t>(value)].dtype == DType::f32 &&
           shape_of(graph_, value) && shape(value).rank() >= 2;
  }

  /// The node of op `op` that makes the value, if the value has only one user. Otherwise null.
  const Node* own_maker(int value, std::string_view op) const {
    const Node* node = uses_.maker(value, op);
    return node != nullptr && uses_.has_one_user(value) ? node : nullptr;
  }

  /// Removes a product or a quotient with a number: returns the other value, and puts the factor into `scale`.
  int without_factor(int value, double& scale) const {
    if (const Node* product = own_maker(value, "Mul"))
      if (const auto parts = uses_.number_and_value(*product); parts && shape(parts->second) == shape(value)) {
        scale *= parts->first;
        return parts->second;
      }
    if (const Node* quotient = own_maker(value, "Div"))
      if (const auto n = uses_.number(quotient->inputs[1]); n && shape(quotient->inputs[0]) == shape(value)) {
        scale /= *n;
        return quotient->inputs[0];
      }
    return value;
  }

  /// Removes the sum with a mask: returns the scores, and puts the mask into `mask`.
  int without_mask(int value, int& mask) const {
    const Node* sum = own_maker(value, "Add");
    if (sum == nullptr) return value;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      double ignored = 1;
      const int scores = sum->inputs[i], other = sum->inputs[1 - i];
      if (own_maker(without_factor(scores, ignored), "MatMul") == nullptr || shape(scores) != shape(value)) continue;
      if (graph_.values[static_cast<std::size_t>(other)].dtype != DType::f32) continue;
      mask = other;
      return scores;
    }
    return value;
  }

  /// The parts of attention, if the node is a product of probabilities with values.
  std::optional<AttentionParts> attention(const Node& product) const {
    if (product.op != "MatMul" || !is_matrix(product.inputs[0]) || !is_matrix(product.inputs[1])) return {};
    const Node* softmax = own_maker(product.inputs[0], "Softmax");
    const int last = shape(product.inputs[0]).rank() - 1;
    // The default axis depends on ONNX's version.
    const std::int64_t axis = softmax == nullptr ? 0 : integer_of(*softmax, "axis", 0);
    if (softmax == nullptr || (axis != -1 && axis != last) || !is_matrix(softmax->inputs[0])) return {};
    AttentionParts parts{.v = product.inputs[1]};
    const int scores = without_factor(without_mask(softmax->inputs[0], parts.mask), parts.scale);
    const Node* keys = own_maker(scores, "MatMul");
    if (keys == nullptr || !is_matrix(keys->inputs[0]) || !is_matrix(keys->inputs[1])) return {};
    parts.q = without_factor(keys->inputs[0], parts.scale);
    parts.kt = without_factor(keys->inputs[1], parts.scale);
    Shape k = shape(parts.kt);
    std::swap(k[k.rank() - 1], k[k.rank() - 2]);
    if (!ops::fuses_attention(shape(parts.q), k, shape(parts.v), parts.mask != absent, device_)) return {};
    return parts;
  }

  void replace(Node& node, const AttentionParts& parts) const {
    node.op = "Attention";
    node.attributes = {{"scale", parts.scale}};
    node.inputs = {parts.q, parts.kt, parts.v, parts.mask};
    node.run = [scale = parts.scale](const Data& in, Device device) {
      return Data{scaled_dot_product_attention(in[0].tensor(device), in[1].tensor(device).transpose(-2, -1),
                                               in[2].tensor(device), in[3].tensor(device), {.scale = scale})};
    };
  }

  Graph& graph_;
  const Uses uses_;
  const Device device_;
  std::map<std::size_t, AttentionParts> found_;  ///< By the position of the last product.
};

}  // namespace

std::size_t find_attention(Graph& graph, Device device) {
  const std::size_t before = graph.nodes.size();
  AttentionFinder(graph, device).find();
  remove_dead_nodes(graph, device);
  return before - graph.nodes.size();
}

}  // namespace crisol::graph
