#include "graph/passes/blocked_values.h"

#include "base/ceil_div.h"
#include "functions/conv/conv_blocks.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

namespace {

/// Adds a value to the graph: the image in blocks.
int add_value(Graph& graph, int image, std::int64_t block) {
  const Shape s = *shape_of(graph, image);
  Value value = graph.values[static_cast<std::size_t>(image)];
  value.shape = sizes_of({s[0], ceil_div(s[1], block), s[2], s[3], block});
  graph.values.push_back(std::move(value));
  return static_cast<int>(graph.values.size()) - 1;
}

}  // namespace

bool BlockedValues::is_image(int value) const {
  if (value == absent) return false;
  const std::optional<Shape> shape = shape_of(graph_, value);
  return shape && shape->rank() == 4 && shape->numel() > 0 && is_of_floats(graph_, value);
}

void BlockedValues::add_reorder(Op op, int from, int to, Run run) {
  Node node;
  node.name = graph_.values[static_cast<std::size_t>(to)].name;
  node.op = op;
  node.inputs = {from};
  node.outputs = {to};
  node.run = std::move(run);
  nodes_.push_back(std::move(node));
}

int BlockedValues::in_blocks_of(int value, std::int64_t block) {
  const int made = add_value(graph_, value, block);
  add_reorder(Op::to_blocks, value, made,
              [block](const Data& in, Device device) { return Data{detail::to_blocks(in[0].tensor(device), block)}; });
  return made;
}

int BlockedValues::in_blocks(int value) {
  const auto [at, is_new] = in_blocks_.try_emplace(value, absent);
  if (is_new) at->second = in_blocks_of(value, block_);
  return at->second;
}

void BlockedValues::need_plain(int value) {
  if (value == absent || only_in_blocks_.erase(value) == 0) return;
  const std::int64_t channels = (*shape_of(graph_, value))[1];
  add_reorder(Op::from_blocks, in_blocks_.at(value), value, [channels](const Data& in, Device device) {
    return Data{detail::from_blocks(in[0].tensor(device), channels)};
  });
}

void BlockedValues::add(Node node) {
  for (const int input : node.inputs) need_plain(input);
  nodes_.push_back(std::move(node));
}

void BlockedValues::add_blocked(Node node, int y) {
  in_blocks_[y] = add_value(graph_, y, block_);
  only_in_blocks_.insert(y);
  node.outputs = {in_blocks_[y]};
  node.attributes.clear();
  nodes_.push_back(std::move(node));
}

void BlockedValues::finish() {
  for (const int output : graph_.outputs) need_plain(output);
  graph_.nodes = std::move(nodes_);
}

}  // namespace crisol::graph
