#include <algorithm>
#include <map>

#include "crisol/functions/norm.h"
#include "graph/passes/attributes.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

namespace {

/// The parts of (x - mean) / sqrt(variance + epsilon) · scale + shift. The mean is over the last axes.
struct NormParts {
  int x = absent, scale = absent, shift = absent;
  int axes = 0;
  double epsilon = 0;
};

class LayerNormFinder {
 public:
  explicit LayerNormFinder(Graph& graph) : graph_(graph), uses_(graph) {}

  void find() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      std::optional<NormParts> norm = quotient(graph_.nodes[i]);
      if (!norm) continue;
      std::size_t last = i;
      norm->scale = parameter_behind(last, Op::mul, *norm);
      if (norm->scale != absent) norm->shift = parameter_behind(last, Op::add, *norm);
      found_.emplace(last, *norm);
    }
    for (const auto& [place, norm] : found_) replace(graph_.nodes[place], norm);
  }

 private:
  Shape shape(int value) const { return *shape_of(graph_, value); }

  bool is_number(int value, double expected) const { return uses_.number(value) == expected; }

  /// If the value is the mean of another value over its last axes, and these axes keep the size 1: the other value, and
  /// the number of axes.
  std::optional<std::pair<int, int>> mean(int value) const {
    const Node* node = uses_.maker(value, Op::mean);
    if (node == nullptr) return {};
    const int x = node->inputs[0];
    const Shape before = shape(x), after = shape(value);
    std::vector<std::int64_t> axes = integers_of(*node, "axes");
    if (axes.empty() || before.rank() != after.rank()) return {};
    for (std::int64_t& axis : axes) axis += axis < 0 ? before.rank() : 0;
    std::sort(axes.begin(), axes.end());
    const int count = static_cast<int>(axes.size());
    for (int i = 0; i < count; ++i)
      if (axes[static_cast<std::size_t>(i)] != before.rank() - count + i) return {};
    return std::pair{x, count};
  }

  /// If the value is x - mean(x): x and the number of axes.
  std::optional<std::pair<int, int>> centred(int value) const {
    const Node* node = uses_.maker(value, Op::sub);
    const auto of = node == nullptr ? std::nullopt : mean(node->inputs[1]);
    return of && of->first == node->inputs[0] ? of : std::nullopt;
  }

  /// If the value is the square of a factor: the factor.
  int square_of(int value) const {
    if (const Node* square = uses_.maker(value, Op::square)) return square->inputs[0];
    if (const Node* power = uses_.maker(value, Op::pow))
      return is_number(power->inputs[1], 2) ? power->inputs[0] : absent;
    const Node* product = uses_.maker(value, Op::mul);
    return product != nullptr && product->inputs[0] == product->inputs[1] ? product->inputs[0] : absent;
  }

  /// v, if the value is sqrt(v), or v to the power 1/2.
  int root_of(int value) const {
    if (const Node* root = uses_.maker(value, Op::sqrt)) return root->inputs[0];
    const Node* power = uses_.maker(value, Op::pow);
    return power != nullptr && is_number(power->inputs[1], 0.5) ? power->inputs[0] : absent;
  }

  /// v, if the value is 1 / sqrt(v).
  int inverse_root_of(int value) const {
    if (const Node* root = uses_.maker(value, Op::rsqrt)) return root->inputs[0];
    if (const Node* inverse = uses_.maker(value, Op::reciprocal)) return root_of(inverse->inputs[0]);
    if (const Node* quotient = uses_.maker(value, Op::div))
      return is_number(quotient->inputs[0], 1) ? root_of(quotient->inputs[1]) : absent;
    const Node* power = uses_.maker(value, Op::pow);
    return power != nullptr && is_number(power->inputs[1], -0.5) ? power->inputs[0] : absent;
  }

  /// The parts, if the node computes (x - mean) / sqrt(variance + epsilon).
  std::optional<NormParts> quotient(const Node& node) const {
    if (node.outputs.size() != 1 || graph_.values[static_cast<std::size_t>(node.outputs[0])].dtype != DType::f32)
      return {};
    if (node.op == Op::div) return norm_of(node.inputs[0], root_of(node.inputs[1]));
    if (node.op != Op::mul) return {};
    const std::optional<NormParts> norm = norm_of(node.inputs[0], inverse_root_of(node.inputs[1]));
    return norm ? norm : norm_of(node.inputs[1], inverse_root_of(node.inputs[0]));
  }

  std::optional<NormParts> norm_of(int difference, int shifted_variance) const {
    const auto x = centred(difference);
    const Node* sum = uses_.maker(shifted_variance, Op::add);
    const auto parts = x && sum != nullptr ? uses_.number_and_value(*sum) : std::nullopt;
    const auto variance = parts ? mean(parts->second) : std::nullopt;
    if (!variance || parts->first < 0 || variance->second != x->second) return {};
    // Some exporters write the difference once, others twice.
    if (centred(square_of(variance->first)) != x) return {};
    return NormParts{.x = x->first, .axes = x->second, .epsilon = parts->first};
  }

  /// If the output of node `last` has one user, which multiplies it by a constant or adds a constant: the constant. The
  /// user then becomes the last node. Otherwise absent.
  int parameter_behind(std::size_t& last, Op op, const NormParts& norm) const {
    const int value = graph_.nodes[last].outputs[0];
    if (!uses_.has_one_user(value)) return absent;
    const std::size_t place = uses_.users(value)[0];
    const Node& user = graph_.nodes[place];
    if (user.op != op || user.inputs[0] == user.inputs[1]) return absent;
    const int parameter = user.inputs[user.inputs[0] == value ? 1 : 0];
    const Datum* datum = uses_.constant(parameter);
    if (datum == nullptr || !datum->defined() || datum->dtype() != DType::f32 || !has_sizes(datum->shape(), norm))
      return absent;
    last = place;
    return parameter;
  }

  /// Whether these are the sizes of the normalised axes, perhaps with sizes of 1 before them.
  bool has_sizes(const Shape& sizes, const NormParts& norm) const {
    const Shape x = shape(norm.x);
    if (sizes.rank() < norm.axes || sizes.rank() > x.rank()) return false;
    for (int i = 1; i <= sizes.rank(); ++i)
      if (sizes[sizes.rank() - i] != (i <= norm.axes ? x[x.rank() - i] : 1)) return false;
    return true;
  }

  void replace(Node& node, const NormParts& norm) const {
    const Shape x = shape(norm.x);
    Shape sizes;
    for (int i = x.rank() - norm.axes; i < x.rank(); ++i) sizes.push_back(x[i]);
    node.op = Op::layer_norm;
    node.attributes = {{"axis", std::int64_t{-norm.axes}}, {"epsilon", norm.epsilon}};
    node.inputs = {norm.x, norm.scale, norm.shift};
    node.run = [sizes, epsilon = norm.epsilon](const Data& in, Device device) {
      const auto parameter = [&](const Datum& datum) {
        return datum.defined() ? datum.tensor(device).reshape(sizes) : Tensor();
      };
      return Data{layer_norm(in[0].tensor(device), sizes, parameter(in[1]), parameter(in[2]), epsilon)};
    };
  }

  Graph& graph_;
  const Uses uses_;
  std::map<std::size_t, NormParts> found_;  ///< By the position of the last node.
};

}  // namespace

std::size_t find_layer_norms(Graph& graph, Device device) {
  return nodes_saved_by([&] { LayerNormFinder(graph).find(); }, graph, device);
}

}  // namespace crisol::graph
