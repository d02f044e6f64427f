#include <set>

#include "base/byte_dtype.h"
#include "functions/fuse/fused_graph.h"
#include "graph/passes/formulas.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

namespace {

/// If a value has only one number, a kernel for it takes longer than computing the number again for each of up to 4096
/// elements.
constexpr std::int64_t max_repeats = 4096;

/// Whether the elements of a value may be computed in a kernel: floating-point or quantised numbers. Whole numbers of
/// more bytes may be shapes on the host.
bool may_be_fused(const Graph& graph, const Node& node) {
  if (!has_formula(graph, node)) return false;
  const DType dtype = *graph.values[static_cast<std::size_t>(node.outputs[0])].dtype;
  return is_floating(dtype) || is_of_bytes(dtype);
}

/// Nodes whose elements one kernel computes. The last node gives the result.
class Group {
 public:
  Group(const Graph& graph, const Uses& uses, const std::vector<bool>& taken, std::size_t last)
      : graph_(graph), uses_(uses), taken_(taken), members_{last} {
    while (grow()) {
    }
  }

  const std::set<std::size_t>& members() const noexcept { return members_; }
  /// Whether fusing reduces the number of nodes or inputs.
  bool is_useful() const { return fits() && (members_.size() > 1 || parts().numbers > 0); }

  Node joined() const {
    const Parts parts = this->parts();
    const Node& last = graph_.nodes[*members_.rbegin()];
    Node node;
    node.name = last.name;
    node.op = members_.size() > 1 ? Op::fused : last.op;
    node.other_op = last.other_op;
    node.inputs = parts.inputs;
    node.outputs = last.outputs;
    node.is_joined = true;
    node.run = run_of(formula_of(parts.steps));
    return node;
  }

 private:
  struct Source {
    enum From { input, result, number_alone } from;
    std::size_t place = 0;
    Scalar number = 0;
  };
  struct Step {
    Run::Formula formula;
    std::vector<Source> sources;
  };
  struct Parts {
    std::vector<Step> steps;
    std::vector<int> inputs;
    std::size_t numbers = 0;
  };

  static Run::Formula formula_of(const std::vector<Step>& steps) {
    return [steps](std::span<const Expr> in) {
      std::vector<Expr> results, arguments;
      for (const Step& step : steps) {
        arguments.clear();
        for (const Source& source : step.sources)
          arguments.push_back(source.from == Source::input    ? in[source.place]
                              : source.from == Source::result ? results[source.place]
                                                              : Expr(source.number));
        results.push_back(step.formula(arguments));
      }
      return results.back();
    };
  }

  std::optional<Shape> result_shape() const { return shape_of(graph_, graph_.nodes[*members_.rbegin()].outputs[0]); }

  /// Whether a value of this shape may be computed again for each element of the result.
  bool repeats(const Shape& shape) const {
    const Shape result = *result_shape();
    return shape == result || (shape.numel() == 1 && shape.rank() <= result.rank() && result.numel() <= max_repeats);
  }

  /// Adds the node that makes an input, if only members use this input.
  bool grow() {
    const std::set<std::size_t> before = members_;
    for (const std::size_t member : before)
      for (const int input : graph_.nodes[member].inputs) {
        const Node* maker = input == absent ? nullptr : uses_.maker(input);
        if (maker == nullptr || !may_be_fused(graph_, *maker) || uses_.is_output(input)) continue;
        const std::size_t place = uses_.place(input);
        const std::vector<std::size_t>& users = uses_.users(input);
        if (taken_[place] || members_.count(place) > 0 || !repeats(*shape_of(graph_, input)) ||
            std::any_of(users.begin(), users.end(), [&](std::size_t user) { return members_.count(user) == 0; }))
          continue;
        members_.insert(place);
        if (fits()) return true;
        members_.erase(place);
      }
    return false;
  }

  /// The number of a constant with one element. It is whole if the constant is, because a real number would turn whole
  /// numbers into f32.
  std::optional<Scalar> number_of(int value) const {
    const Datum* datum = uses_.constant(value);
    if (datum == nullptr || !datum->defined() || datum->shape().numel() != 1) return {};
    if (!is_of_bytes(datum->dtype()) && datum->dtype() != DType::f32) return {};
    const double number = datum->number();
    return is_whole(datum->dtype()) ? Scalar(static_cast<std::int64_t>(number)) : Scalar(number);
  }

  Parts parts() const {
    Parts parts;
    std::vector<int> made;
    for (const std::size_t member : members_) {
      const Node& node = graph_.nodes[member];
      Step step{node.run.formula, {}};
      for (const int input : node.inputs) {
        const auto result = std::find(made.begin(), made.end(), input);
        if (input == absent)
          step.sources.push_back({Source::number_alone});
        else if (result != made.end())
          step.sources.push_back({Source::result, static_cast<std::size_t>(result - made.begin())});
        else if (const std::optional<Scalar> number = number_of(input)) {
          step.sources.push_back({Source::number_alone, 0, *number});
          ++parts.numbers;
        } else {
          const auto known = std::find(parts.inputs.begin(), parts.inputs.end(), input);
          step.sources.push_back({Source::input, static_cast<std::size_t>(known - parts.inputs.begin())});
          if (known == parts.inputs.end()) parts.inputs.push_back(input);
        }
      }
      made.push_back(node.outputs[0]);
      parts.steps.push_back(std::move(step));
    }
    return parts;
  }

  /// Whether one kernel can compute the group, and the inputs without the numbers still broadcast to the result's
  /// shape.
  bool fits() const {
    const Parts parts = this->parts();
    if (parts.inputs.empty() || parts.inputs.size() > detail::max_tensors ||
        numbers_of(formula_of(parts.steps), parts.inputs.size()) > detail::max_numbers)
      return false;
    const Shape result = *result_shape();
    for (int axis = 1; axis <= result.rank(); ++axis)
      if (std::none_of(parts.inputs.begin(), parts.inputs.end(), [&](int input) {
            const std::optional<Shape> shape = shape_of(graph_, input);
            return shape && shape->rank() >= axis && (*shape)[shape->rank() - axis] == result[result.rank() - axis];
          }))
        return false;
    return true;
  }

  const Graph& graph_;
  const Uses& uses_;
  const std::vector<bool>& taken_;
  std::set<std::size_t> members_;
};

}  // namespace

std::size_t fuse_elements(Graph& graph, Device) {
  const Uses uses(graph);
  std::vector<bool> taken(graph.nodes.size()), gone(graph.nodes.size());
  std::vector<std::pair<std::size_t, Node>> joined;
  std::size_t removed = 0;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (taken[i] || !may_be_fused(graph, graph.nodes[i])) continue;
    const Group group(graph, uses, taken, i);
    for (const std::size_t member : group.members()) taken[member] = true;
    if (!group.is_useful()) continue;
    for (const std::size_t member : group.members()) gone[member] = member != i;
    removed += group.members().size() - 1;
    joined.emplace_back(i, group.joined());
  }
  for (auto& [place, node] : joined) graph.nodes[place] = std::move(node);
  remove_marked(graph, gone);
  return removed;
}

}  // namespace crisol::graph
