#include <map>
#include <tuple>

#include "crisol/functions/cat.h"
#include "crisol/grad_mode.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

namespace {

/// A product with a constant matrix and a bias. After a `matmul` a sum adds the bias.
struct Product {
  std::size_t place;  ///< In Graph::nodes.
  int weight;
  std::size_t sum = 0;  ///< The position of the sum, or of the node itself.
  int bias = absent;    ///< Absent if there is no sum.
  int result = absent;  ///< Of both.
  std::int64_t columns = 0;
};

class Joiner {
 public:
  Joiner(Graph& graph, Device device) : graph_(graph), uses_(graph), gone_(graph.nodes.size()), device_(device) {}

  std::size_t join() {
    // The products, by their op, their left factor and whether they have a bias.
    std::map<std::tuple<Op, int, bool>, std::vector<Product>> groups;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (const std::optional<Product> product = product_at(i))
        groups[{graph_.nodes[i].op, graph_.nodes[i].inputs[0], product->bias != absent}].push_back(*product);
    std::size_t joined = 0;
    for (const auto& [key, group] : groups) {
      if (group.size() < 2) continue;
      joined += group.size();
      replace(group);
    }
    if (joined != 0) rebuild();
    return joined;
  }

 private:
  std::optional<Product> product_at(std::size_t place) const {
    const Node& node = graph_.nodes[place];
    if ((node.op != Op::matmul && node.op != Op::linear) || !is_of_floats(graph_, node.outputs[0])) return {};
    const std::optional<Shape> left = shape_of(graph_, node.inputs[0]);
    if (!left || left->rank() < 2) return {};
    const Datum* weight = uses_.constant(node.inputs[1]);
    if (weight == nullptr || !weight->defined() || weight->dtype() != dtype(node.outputs[0]) ||
        weight->shape().rank() != 2)
      return {};
    Product product{.place = place, .weight = node.inputs[1], .result = node.outputs[0]};
    product.columns = weight->shape()[node.op == Op::linear ? 0 : 1];
    if (node.op == Op::matmul)
      find_bias(product);
    else if (node.inputs.size() > 2 && is_bias(node.inputs[2], product))
      product.sum = place, product.bias = node.inputs[2];
    else if (node.inputs.size() > 2)
      return {};
    // A product's kernel can compute an op of single elements after the product. A joint product cannot.
    for (const std::size_t user : uses_.users(product.result))
      if (graph_.nodes[user].run.formula) return {};
    return product;
  }

  void find_bias(Product& product) const {
    if (!uses_.has_one_user(product.result)) return;
    const std::size_t place = uses_.users(product.result)[0];
    const Node& user = graph_.nodes[place];
    // A bias of one number may be part of the node already.
    if (user.op != Op::add || user.inputs.size() != 2 || user.inputs[0] == user.inputs[1]) return;
    const int bias = user.inputs[user.inputs[0] == product.result ? 1 : 0];
    if (!is_bias(bias, product)) return;
    product.sum = place;
    product.bias = bias;
    product.result = user.outputs[0];
  }

  bool is_bias(int value, const Product& product) const {
    const Datum* datum = uses_.constant(value);
    return datum != nullptr && datum->defined() && datum->dtype() == dtype(product.result) &&
           datum->shape() == Shape(product.columns);
  }

  std::optional<DType> dtype(int value) const { return graph_.values[static_cast<std::size_t>(value)].dtype; }

  /// Makes a constant of the group's constants, side by side. The columns of a `linear` are rows of its weight.
  int side_by_side(const std::vector<Product>& group, int Product::*constant, const std::string& name) {
    const int axis = graph_.nodes[group[0].place].op == Op::linear ? 0 : -1;
    std::vector<Tensor> parts;
    parts.reserve(group.size());
    for (const Product& product : group) parts.push_back(uses_.constant(product.*constant)->tensor(device_));
    for (const Product& product : group) give_back_constant(graph_, uses_, product.*constant);
    return add_constant(graph_, name, cat(parts, axis));
  }

  /// Adds a value that is like the result of one product, but has `columns` columns.
  int add_value(const Product& like, std::int64_t columns, const std::string& name) {
    Shape shape = *shape_of(graph_, like.result);
    shape[shape.rank() - 1] = columns;
    graph_.values.push_back({.name = name, .dtype = dtype(like.result), .shape = sizes_of(shape)});
    return static_cast<int>(graph_.values.size()) - 1;
  }

  void replace(const std::vector<Product>& group) {
    const Product& first = group[0];
    std::int64_t columns = 0;
    std::vector<std::int64_t> sizes;
    Node split;
    split.name = graph_.nodes[first.place].name;
    split.op = Op::split;
    for (const Product& product : group) {
      gone_[product.place] = true;
      if (product.bias != absent) gone_[product.sum] = true;
      columns += product.columns;
      sizes.push_back(product.columns);
      split.outputs.push_back(product.result);
    }
    Node product = graph_.nodes[first.place];
    product.inputs[1] = side_by_side(group, &Product::weight, product.name + "/weights");
    product.outputs = {add_value(first, columns, product.name + "/joint")};
    split.inputs = product.outputs;
    std::vector<Node>& made = made_[first.place];
    const bool has_sum = first.bias != absent && first.sum != first.place;
    if (first.bias != absent && !has_sum)
      product.inputs[2] = side_by_side(group, &Product::bias, product.name + "/biases");
    made.push_back(product);
    if (has_sum) {
      Node sum = graph_.nodes[first.sum];
      sum.inputs = {product.outputs[0], side_by_side(group, &Product::bias, sum.name + "/biases")};
      sum.outputs = {add_value(first, columns, sum.name + "/joint")};
      split.inputs = sum.outputs;
      made.push_back(std::move(sum));
    }
    split.attributes = {{"axis", std::int64_t{-1}}};
    split.run = [sizes](const Data& in, Device device) {
      const Tensor x = in[0].tensor(device);
      Data parts;
      std::int64_t from = 0;
      for (const std::int64_t size : sizes) {
        parts.emplace_back(x.narrow(-1, from, size));
        from += size;
      }
      return parts;
    };
    made.push_back(std::move(split));
  }

  /// Each joint product is inserted where the first product of its group was.
  void rebuild() {
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto made = made_.find(i);
      if (made != made_.end()) std::move(made->second.begin(), made->second.end(), std::back_inserter(nodes));
      if (!gone_[i]) nodes.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes = std::move(nodes);
  }

  Graph& graph_;
  const Uses uses_;
  std::vector<bool> gone_;
  std::map<std::size_t, std::vector<Node>> made_;
  const Device device_;
};

}  // namespace

std::size_t join_products(Graph& graph, Device device) { return Joiner(graph, device).join(); }

}  // namespace crisol::graph
