#include <array>
#include <map>

#include "crisol/functions/attention.h"
#include "crisol/functions/elementwise.h"
#include "graph/passes/attributes.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"
#include "ops/attention/attention.h"

namespace crisol::graph {

namespace {

/// softmax(scale · q · kt + added) · v. Scores where `condition` is `hides` are `fill`. Rows of the result where
/// `closed` holds are 0.
struct AttentionParts {
  int q = absent, kt = absent, v = absent, added = absent, condition = absent, closed = absent;
  double scale = 1, fill = 0;
  bool hides = false;

  bool has_mask() const { return added != absent || condition != absent; }
};

/// A number that hides a key where it takes the place of a score: behind it no score is left in f32.
bool is_hiding(std::optional<double> number) { return number && *number <= -1e9; }

/// What is added to the scores; undefined for nothing.
Tensor mask_of(const Tensor& added, const Tensor& condition, bool hides, double fill) {
  if (!condition.defined()) return added;
  const Tensor seen = added.defined() ? added : zeros(Shape(), DType::f32, condition.device());
  return hides ? where(condition, fill, seen) : where(condition, seen, fill);
}

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
  const Node* own_maker(int value, Op op) const {
    const Node* node = uses_.maker(value, op);
    return node != nullptr && uses_.has_one_user(value) ? node : nullptr;
  }

  /// Removes a product or a quotient with a number: returns the other value, and puts the factor into `scale`.
  int without_factor(int value, double& scale) const {
    if (const Node* product = own_maker(value, Op::mul))
      if (const auto parts = uses_.number_and_value(*product); parts && shape(parts->second) == shape(value)) {
        scale *= parts->first;
        return parts->second;
      }
    if (const Node* quotient = own_maker(value, Op::div))
      if (const auto n = uses_.number(quotient->inputs[1]); n && shape(quotient->inputs[0]) == shape(value)) {
        scale /= *n;
        return quotient->inputs[0];
      }
    return value;
  }

  /// Whether the value is the product of queries and keys, with a factor or without, that another value was made of.
  bool are_scores(int value, int whole) const {
    double ignored = 1;
    return value != absent && own_maker(without_factor(value, ignored), Op::matmul) != nullptr &&
           shape(value) == shape(whole);
  }

  /// The scores without a mask that is added to them.
  int without_sum(int value, AttentionParts& parts) const {
    const Node* sum = own_maker(value, Op::add);
    if (sum == nullptr) return value;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const int scores = sum->inputs[i], other = sum->inputs[1 - i];
      if (!are_scores(scores, value) || graph_.values[static_cast<std::size_t>(other)].dtype != DType::f32) continue;
      parts.added = other;
      return scores;
    }
    return value;
  }

  /// The scores without a choice between them and a number that hides keys.
  int without_choice(int value, AttentionParts& parts) const {
    const Node* choice = own_maker(value, Op::where);
    const Node* filled = own_maker(value, Op::masked_fill);
    if (choice == nullptr && filled == nullptr) return value;
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
      // masked_fill(x, condition, number) is where(condition, number, x).
      const auto [condition, yes, no] = filled != nullptr
                                            ? std::array{filled->inputs[1], filled->inputs[2], filled->inputs[0]}
                                            : std::array{choice->inputs[0], choice->inputs[1], choice->inputs[2]};
      const std::optional<double> fill = uses_.number(i == 1 ? yes : no);
      const int scores = i == 1 ? no : yes;
      AttentionParts with_sum;
      if (!is_hiding(fill) || shape(scores) != shape(value) || !are_scores(without_sum(scores, with_sum), scores))
        continue;
      parts.condition = condition;
      parts.fill = *fill;
      parts.hides = i == 1;
      return scores;
    }
    return value;
  }

  /// The softmax whose probabilities these are. A choice may give 0 for rows of queries that see no key.
  const Node* softmax_of(int value, AttentionParts& parts) const {
    const Node* choice = own_maker(value, Op::where);
    if (choice == nullptr) return own_maker(value, Op::softmax);
    const auto [condition, zero, kept] = std::array{choice->inputs[0], choice->inputs[1], choice->inputs[2]};
    if (uses_.number(zero) != 0 || shape(kept) != shape(value)) return nullptr;
    // The function gives zeros where softmax would give NaN.
    const Node* is_nan = own_maker(condition, Op::isnan);
    if (is_nan != nullptr && is_nan->inputs[0] == kept)
      return uses_.users(kept).size() == 2 && !uses_.is_output(kept) ? uses_.maker(kept, Op::softmax) : nullptr;
    const Shape rows = shape(condition);
    if (rows.rank() > 0 && rows[rows.rank() - 1] != 1) return nullptr;
    parts.closed = condition;
    return own_maker(kept, Op::softmax);
  }

  /// The parts of attention, if the node is a product of probabilities with values.
  std::optional<AttentionParts> attention(const Node& product) const {
    if (product.op != Op::matmul || !is_matrix(product.inputs[0]) || !is_matrix(product.inputs[1])) return {};
    AttentionParts parts{.v = product.inputs[1]};
    const Node* softmax = softmax_of(product.inputs[0], parts);
    const int last = shape(product.inputs[0]).rank() - 1;
    if (softmax == nullptr || !is_matrix(softmax->inputs[0])) return {};
    const std::int64_t axis = integer_of(*softmax, "axis", 0);
    if (axis != -1 && axis != last) return {};
    const int scores = without_factor(without_sum(without_choice(softmax->inputs[0], parts), parts), parts.scale);
    const Node* keys = own_maker(scores, Op::matmul);
    if (keys == nullptr || !is_matrix(keys->inputs[0]) || !is_matrix(keys->inputs[1])) return {};
    parts.q = without_factor(keys->inputs[0], parts.scale);
    parts.kt = without_factor(keys->inputs[1], parts.scale);
    Shape k = shape(parts.kt);
    std::swap(k[k.rank() - 1], k[k.rank() - 2]);
    if (!ops::fuses_attention(shape(parts.q), k, shape(parts.v), parts.has_mask(), device_)) return {};
    return parts;
  }

  void replace(Node& node, const AttentionParts& parts) const {
    node.op = Op::attention;
    node.attributes = {{"scale", parts.scale}};
    node.inputs = {parts.q, parts.kt, parts.v, parts.added, parts.condition, parts.closed};
    node.run = [scale = parts.scale, fill = parts.fill, hides = parts.hides](const Data& in, Device device) {
      const auto tensor = [&](std::size_t i) { return in[i].tensor(device); };
      const Tensor y = scaled_dot_product_attention(tensor(0), tensor(1).transpose(-2, -1), tensor(2),
                                                    mask_of(tensor(3), tensor(4), hides, fill), {.scale = scale});
      return Data{in[5].defined() ? where(tensor(5), 0, y) : y};
    };
  }

  Graph& graph_;
  const Uses uses_;
  const Device device_;
  std::map<std::size_t, AttentionParts> found_;  ///< By the position of the last product.
};

}  // namespace

std::size_t find_attention(Graph& graph, Device device) {
  return nodes_saved_by([&] { AttentionFinder(graph, device).find(); }, graph, device);
}

}  // namespace crisol::graph
