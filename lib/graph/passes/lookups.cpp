#include <map>

#include "crisol/dtype_table.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/fuse.h"
#include "crisol/grad_mode.h"
#include "graph/passes/formulas.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

namespace {

/// A value whose rows are rows of a table. `numbers` selects the rows. The table has a row for each of the numbers 0,
/// 1, …, and two more rows, before and after them: the result for all other numbers.
struct Lookup {
  std::size_t place;  ///< The position of the node that makes the value.
  int numbers;
  Tensor table;
};

class LookupFinder {
 public:
  LookupFinder(Graph& graph, Device device) : graph_(graph), uses_(graph), device_(device) {}

  void find() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (node.outputs.size() != 1 || node.outputs[0] == absent) continue;
      std::optional<Lookup> found = product_with_one_hot(i);
      if (!found) found = elements_of_lookup(i);
      if (found) found_.emplace(node.outputs[0], *found);
    }
    for (const auto& [value, lookup] : found_) replace(lookup);
  }

 private:
  const Node* made_by(int value, Op op) const {
    const Node* node = value == absent ? nullptr : uses_.maker(value);
    return node != nullptr && node->op == op ? node : nullptr;
  }
  std::optional<DType> dtype(int value) const { return graph_.values[static_cast<std::size_t>(value)].dtype; }

  /// Whether the value has the whole numbers 0 to count - 1 along its last axis.
  bool is_range(int value, std::int64_t count) const {
    const Datum* datum = uses_.constant(value);
    if (datum == nullptr || !datum->defined() || is_floating(datum->dtype())) return false;
    const Shape& shape = datum->shape();
    if (shape.rank() == 0 || shape.numel() != count || shape[shape.rank() - 1] != count) return false;
    const std::vector<std::int64_t> numbers = datum->numbers();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] != static_cast<std::int64_t>(i)) return false;
    return true;
  }

  /// If the value has one-hot rows (1 at a number's position and 0 elsewhere): the value with the numbers. Otherwise
  /// absent.
  int numbers_of_one_hot(int value, std::int64_t count) const {
    const Node* cast = made_by(value, Op::cast);
    const Node* equal = cast == nullptr ? nullptr : made_by(cast->inputs[0], Op::eq);
    if (equal == nullptr) return absent;
    const std::optional<Shape> rows = shape_of(graph_, value);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const int numbers = equal->inputs[i];
      const std::optional<Shape> shape = shape_of(graph_, numbers);
      if (!rows || !shape || shape->rank() != rows->rank() || shape->numel() * count != rows->numel() ||
          (*shape)[shape->rank() - 1] != 1 || !is_range(equal->inputs[1 - i], count))
        continue;
      if (dtype(numbers) && holds_counts(*dtype(numbers))) return numbers;
    }
    return absent;
  }

  std::optional<Lookup> product_with_one_hot(std::size_t place) const {
    const Node& node = graph_.nodes[place];
    const bool is_linear = node.op == Op::linear;
    const Datum* weight = is_linear || node.op == Op::matmul ? uses_.constant(node.inputs[1]) : nullptr;
    if (weight == nullptr || !weight->defined() || weight->dtype() != DType::f32 || weight->shape().rank() != 2 ||
        dtype(node.inputs[0]) != DType::f32)
      return {};
    const Datum* bias = is_linear && node.inputs.size() > 2 ? uses_.constant(node.inputs[2]) : nullptr;
    if (is_linear && node.inputs.size() > 2 && (bias == nullptr || !bias->defined())) return {};
    const int numbers = numbers_of_one_hot(node.inputs[0], weight->shape()[is_linear ? 1 : 0]);
    if (numbers == absent) return {};
    const Tensor rows = is_linear ? weight->tensor(device_).t() : weight->tensor(device_);
    const Tensor none = zeros({1, rows.size(1)}, DType::f32, device_), table = cat({none, rows, none}, 0);
    return Lookup{place, numbers, bias == nullptr ? table : table + bias->tensor(device_)};
  }

  /// Finds a node that computes each element by itself, from one lookup and from constants that are equal for all rows.
  /// No other node may use the lookup. The node is then computed on the table.
  std::optional<Lookup> elements_of_lookup(std::size_t place) {
    const Node& node = graph_.nodes[place];
    if (!is_of_elements(graph_, node) || dtype(node.outputs[0]) != DType::f32) return {};
    auto source = found_.end();
    for (const int input : node.inputs)
      if (input != absent && source == found_.end()) source = found_.find(input);
    if (source == found_.end() || !uses_.has_one_user(source->first) ||
        shape_of(graph_, source->first) != shape_of(graph_, node.outputs[0]))
      return {};
    Data arguments;
    for (const int input : node.inputs) {
      const std::optional<Datum> argument =
          input == source->first ? source->second.table : row_of(input, source->second.table.size(1));
      if (!argument) return {};
      arguments.push_back(*argument);
    }
    const Lookup made{place, source->second.numbers, node.run(arguments, device_)[0].tensor(device_)};
    found_.erase(source);
    return made;
  }

  /// The value if it is a constant of one number or one row, or undefined if the input is missing. Nothing otherwise.
  std::optional<Datum> row_of(int value, std::int64_t size) const {
    if (value == absent) return Datum();
    const Datum* datum = uses_.constant(value);
    if (datum == nullptr || !datum->defined()) return {};
    const Shape& shape = datum->shape();
    if (shape.numel() == 1) return datum->tensor(device_).reshape(Shape());
    if (shape.numel() != size || shape[shape.rank() - 1] != size) return {};
    return datum->tensor(device_).reshape(Shape(size));
  }

  void replace(const Lookup& lookup) {
    Node& node = graph_.nodes[lookup.place];
    node.op = Op::index_select;
    node.attributes = {{"axis", std::int64_t{0}}};
    node.inputs = {add_constant(graph_, node.name + "/table", lookup.table), lookup.numbers};
    node.run = [shape = *shape_of(graph_, node.outputs[0])](const Data& in, Device device) {
      static const auto row = fuse(
          [](const Expr& number, const Expr& behind) { return minimum(maximum(number, -1), behind) + 1; }, "row_of");
      const Tensor table = in[0].tensor(device);
      return Data{embedding(table, row(in[1].tensor(device), table.size(0) - 2)).reshape(shape)};
    };
  }

  Graph& graph_;
  const Uses uses_;
  const Device device_;
  std::map<int, Lookup> found_;  ///< By value.
};

}  // namespace

std::size_t find_lookups(Graph& graph, Device device) {
  return nodes_saved_by([&] { LookupFinder(graph, device).find(); }, graph, device);
}

}  // namespace crisol::graph
