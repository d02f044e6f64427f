#include "graph/symbolic.h"

#include <algorithm>

#include "base/text.h"

namespace crisol::graph {

namespace {

constexpr const char* trace_op = "trace";

using Numbers = std::vector<std::int64_t>;

std::vector<std::byte> bytes_of(const Tensor& x) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(x.numel()) * size_of(x.dtype()));
  x.read_bytes(bytes.data());
  return bytes;
}

bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  return (a.shares_storage_with(b) && a.offset() == b.offset() && a.strides() == b.strides()) ||
         bytes_of(a) == bytes_of(b);
}

class Generaliser {
 public:
  Generaliser(Graph& first, const Graph& second, const BatchSizes& batch)
      : graph_(first), other_(second), batch_(batch) {}

  void apply() {
    compare_nodes();
    for (std::size_t i = 0; i < graph_.constants.size(); ++i) compare_constants(i);
    name_sizes();
    graph_.nodes.insert(graph_.nodes.begin(), added_.begin(), added_.end());
  }

 private:
  void compare_nodes() const {
    const std::size_t count = std::min(graph_.nodes.size(), other_.nodes.size());
    for (std::size_t i = 0; i < count; ++i) {
      const Node &a = graph_.nodes[i], &b = other_.nodes[i];
      require(
          a.op_name() == b.op_name() && a.inputs == b.inputs && a.outputs == b.outputs && a.attributes == b.attributes,
          trace_op, "what the function computes depends on the size of the batch: node ", i, " is ", a.op_name(),
          " for ", batch_.first, " and ", b.op_name(), " for ", batch_.second, ", or has other inputs or attributes");
    }
    require(graph_.nodes.size() == other_.nodes.size() && graph_.constants.size() == other_.constants.size(), trace_op,
            "what the function computes depends on the size of the batch: there are ", graph_.nodes.size(),
            " nodes for ", batch_.first, ", ", other_.nodes.size(), " for ", batch_.second);
  }

  void compare_constants(std::size_t i) {
    // A copy, because constants are added during this function.
    const auto [value, datum] = graph_.constants[i];
    const Datum& other = other_.constants[i].second;
    if (!datum.on_host() || !other.on_host()) {
      require(datum.on_host() == other.on_host() && same_elements(datum.tensor(Device()), other.tensor(Device())),
              trace_op, "the constant ", graph_.values[static_cast<std::size_t>(value)].name, " of shape ",
              datum.shape(), " depends on the size of the batch");
      return;
    }
    const Numbers a = datum.numbers(), b = other.numbers();
    if (a == b) return;
    std::vector<Node*> users;
    for (Node& node : graph_.nodes)
      if (std::count(node.inputs.begin(), node.inputs.end(), value) > 0) users.push_back(&node);
    require(datum.shape().rank() == 1, trace_op, "a number of ", users.at(0)->name,
            " depends on the size of the batch: ", a[0], " for ", batch_.first, ", ", b[0], " for ", batch_.second);
    require(a.size() == b.size(), trace_op, "a list of numbers of ", users.at(0)->name,
            " depends on the size of the batch: ", a.size(), " numbers for ", batch_.first, ", ", b.size(), " for ",
            batch_.second);
    if (users.at(0)->op == Op::reshape && differences(a, b) == 1) {
      Numbers open = a;
      for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k] != b[k]) open[k] = -1;
      graph_.constants[i].second = Datum(open, datum.shape());
      return;
    }
    const int computed = numbers_of_batch(a, b, users.at(0)->name);
    for (Node* user : users) std::replace(user->inputs.begin(), user->inputs.end(), value, computed);
    unused_.push_back(value);
  }

  static std::size_t differences(const Numbers& a, const Numbers& b) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
    return count;
  }

  int new_value(const char* what, std::int64_t count) {
    graph_.values.push_back(
        {concat(what, '_', graph_.values.size()), DType::i64, std::vector<SymbolicSize>{{count, ""}}});
    return static_cast<int>(graph_.values.size()) - 1;
  }

  int add_numbers(Numbers numbers) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    const int value = new_value("numbers", count);
    new_constants_.emplace_back(value, Datum(std::move(numbers), Shape(count)));
    return value;
  }

  int add_node(const char* name, Op op, std::map<std::string, Attribute> attributes, std::vector<int> inputs,
               std::int64_t count) {
    const int value = new_value(name, count);
    Node& node = added_.emplace_back();
    node.name = graph_.values.back().name + "_node";
    node.op = op;
    node.attributes = std::move(attributes);
    node.inputs = std::move(inputs);
    node.outputs = {value};
    return value;
  }

  /// A value that is a list of one number: the factor times the batch size.
  int multiple(std::int64_t factor) {
    if (size_ == absent)
      size_ =
          add_node("batch_size", Op::shape, {{"start", batch_.axis}, {"end", batch_.axis + 1}}, {graph_.inputs[0]}, 1);
    return factor == 1 ? size_ : add_node("batch_multiple", Op::mul, {}, {size_, add_numbers({factor})}, 1);
  }

  int numbers_of_batch(const Numbers& a, const Numbers& b, const std::string& user) {
    std::vector<int> parts;
    Numbers fixed;
    const auto end_fixed = [&] {
      if (!fixed.empty()) parts.push_back(add_numbers(fixed));
      fixed.clear();
    };
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i]) {
        fixed.push_back(a[i]);
        continue;
      }
      end_fixed();
      const std::int64_t factor = a[i] / batch_.first;
      require(factor * batch_.first == a[i] && factor * batch_.second == b[i], trace_op, "a number of ", user, " is ",
              a[i], " for a batch of ", batch_.first, " and ", b[i], " for ", batch_.second,
              ": it is neither fixed nor a multiple of the batch");
      parts.push_back(multiple(factor));
    }
    end_fixed();
    if (parts.size() == 1) return parts[0];
    return add_node("numbers_of_batch", Op::cat, {{"axis", 0}}, parts, static_cast<std::int64_t>(a.size()));
  }

  void name_sizes() {
    for (std::size_t i = 0; i < other_.values.size(); ++i) {
      auto& own = graph_.values[i].shape;
      if (!own || !other_.values[i].shape) continue;
      const std::vector<SymbolicSize>& sizes = *other_.values[i].shape;
      require(own->size() == sizes.size(), trace_op, "the number of axes of ", graph_.values[i].name,
              " depends on the size of the batch");
      for (std::size_t k = 0; k < sizes.size(); ++k)
        if ((*own)[k].size != sizes[k].size)
          (*own)[k] = {{}, *(*own)[k].size == batch_.first && *sizes[k].size == batch_.second ? batch_.name : ""};
    }
    std::erase_if(graph_.constants, [&](const auto& constant) {
      return std::find(unused_.begin(), unused_.end(), constant.first) != unused_.end();
    });
    graph_.constants.insert(graph_.constants.end(), new_constants_.begin(), new_constants_.end());
  }

  Graph& graph_;
  const Graph& other_;
  const BatchSizes batch_;
  std::vector<Node> added_;  ///< New nodes, which will come before all others.
  std::vector<std::pair<int, Datum>> new_constants_;
  std::vector<int> unused_;
  int size_ = absent;  ///< The value that is the batch size.
};

}  // namespace

void make_symbolic(Graph& first, const Graph& second, const BatchSizes& batch) {
  Generaliser(first, second, batch).apply();
}

}  // namespace crisol::graph
