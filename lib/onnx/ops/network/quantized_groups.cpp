#include "onnx/ops/network/quantized_groups.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>

#include "onnx/node_order.h"
#include "onnx/ops/domains/fused.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/network/quantized.h"

namespace crisol::onnx {

namespace {

using file::Attribute;
using file::ElementType;
using file::Node;
using file::TensorProto;
using Name = std::string_view;

std::int64_t integer_of(const Node& node, Name attribute, std::int64_t otherwise) {
  for (const Attribute& one : node.attributes)
    if (one.name == attribute && !one.integers.empty()) return one.integers[0];
  return otherwise;
}

/// Whether a factor is 1, which is the default.
bool is_one(const Node& node, Name attribute) {
  return std::none_of(node.attributes.begin(), node.attributes.end(), [&](const Attribute& one) {
    return one.name == attribute && (one.floats.empty() || one.floats[0] != 1);
  });
}

/// Whether the model imports an operator set of this version or a newer one.
bool imports(const file::ModelProto& model, Name domain, std::int64_t version) {
  return std::any_of(model.operator_sets.begin(), model.operator_sets.end(),
                     [&](const auto& one) { return one.domain == domain && one.version >= version; });
}

/// What a node that quantises or dequantises says. A number q means scale (q - zero). The file stores the parameters.
struct Quantized {
  Name numbers;  ///< The input of the node.
  Name scale_name, zero_name;
  const TensorProto *scale, *zero;
  std::int64_t axis;

  bool is_for_all() const { return scale->count == 1; }
  bool is_of_bytes() const { return zero->type == ElementType::u8 || zero->type == ElementType::i8; }
};

class Finder {
 public:
  Finder(const file::ModelProto& model, Tensors& tensors, Device device)
      : tensors_(tensors),
        device_(device),
        nodes_(model.graph.nodes),
        has_gemm_(imports(model, microsoft_domain, 1)),
        gone_(nodes_.size()) {
    const file::Graph& graph = model.graph;
    for (const TensorProto& tensor : graph.initializers) constants_.emplace(tensor.name, &tensor);
    // A run may give another value to an initializer that is an input too.
    for (const file::ValueInfoProto& input : graph.inputs) constants_.erase(input.name);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (const Name output : nodes_[i].outputs)
        if (!output.empty()) makers_.emplace(output, i);
      visit_uses(nodes_[i], [&](Name name) { users_[name].push_back(i); });
      if (is_op(nodes_[i], "Constant") && nodes_[i].outputs.size() == 1 && nodes_[i].attributes.size() == 1 &&
          nodes_[i].attributes[0].tensors.size() == 1)
        constants_.emplace(nodes_[i].outputs[0], &nodes_[i].attributes[0].tensors[0]);
    }
    for (const file::ValueInfoProto& output : graph.outputs) users_[output.name].push_back(nodes_.size());
  }

  std::vector<Node> nodes() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!gone_[i] && !join_moves(i)) join_product(i);
    remove_unused();
    std::vector<Node> kept;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!gone_[i]) kept.push_back(std::move(nodes_[i]));
    return kept;
  }

 private:
  static bool is_op(const Node& node, Name op) { return node.domain.empty() && node.op == op; }

  const TensorProto* constant(Name name) const {
    const auto found = constants_.find(name);
    return found == constants_.end() ? nullptr : found->second;
  }

  /// The position of the node that makes a value, if one node uses the value and the value is no output.
  std::optional<std::size_t> only_for_one(Name value) const {
    const auto maker = makers_.find(value);
    const auto users = users_.find(value);
    if (maker == makers_.end() || users == users_.end() || users->second.size() != 1) return {};
    return maker->second;
  }

  std::optional<Quantized> parameters_of(const Node& node, Name op) const {
    if (node.op != op || (!node.domain.empty() && node.domain != microsoft_domain) || node.inputs.size() != 3 ||
        node.outputs.size() != 1)
      return {};
    for (const char* const other : {"block_size", "output_dtype", "precision"})
      if (integer_of(node, other, 0) != 0) return {};
    const TensorProto *scale = constant(node.inputs[1]), *zero = constant(node.inputs[2]);
    if (scale == nullptr || zero == nullptr || scale->type != ElementType::f32 || scale->count == 0 ||
        scale->count != zero->count)
      return {};
    return Quantized{node.inputs[0], node.inputs[1], node.inputs[2], scale, zero, integer_of(node, "axis", 1)};
  }

  /// The quantised numbers that an input of a node means.
  std::optional<Quantized> operand(const Node& node, std::size_t i) const {
    if (i >= node.inputs.size()) return {};
    const auto maker = makers_.find(node.inputs[i]);
    return maker == makers_.end() ? std::nullopt : parameters_of(nodes_[maker->second], "DequantizeLinear");
  }

  std::optional<Quantized> operand_of_bytes(const Node& node, std::size_t i) const {
    const auto found = operand(node, i);
    return found && found->is_of_bytes() ? found : std::nullopt;
  }

  /// Whether numbers of both have one type and mean the same.
  bool mean_the_same(const Quantized& a, const Quantized& b) const {
    return a.is_for_all() && tensors_.equal(*a.scale, *b.scale) && tensors_.equal(*a.zero, *b.zero);
  }

  /// Whether a weight has one scale, or one for each position of an axis.
  bool is_along(const Quantized& weight, std::int64_t axis, std::size_t rank) const {
    const TensorProto* const numbers = constant(weight.numbers);
    if (weight.is_for_all()) return numbers == nullptr || numbers->sizes.size() >= 2;
    if (numbers == nullptr || (rank != 0 && numbers->sizes.size() != rank)) return false;
    const auto axes = static_cast<std::int64_t>(numbers->sizes.size());
    return (weight.axis < 0 ? weight.axis + axes : weight.axis) == axis && axis < axes &&
           weight.scale->count == numbers->sizes[static_cast<std::size_t>(axis)];
  }

  /// Whether a convolution with these filters multiplies pairs of whole numbers. Others are faster in f32, with
  /// quantisation as their epilogue.
  bool takes_pairs(const Node& conv, const Quantized& filters) const {
    const TensorProto* const numbers = constant(filters.numbers);
    return integer_of(conv, "group", 1) == 1 && numbers != nullptr && numbers->sizes.size() <= 4;
  }

  std::vector<float> reals(const TensorProto& tensor) {
    return tensors_.read(tensor).tensor(device_).to_vector<float>();
  }

  /// The whole numbers of a bias that are added to the sums of x with a weight, because both have one scale.
  std::optional<Name> bias_of(const Node& node, const Quantized& x, const Quantized& weight) {
    const auto bias = operand(node, 2);
    const TensorProto* const numbers = bias ? constant(bias->numbers) : nullptr;
    if (numbers == nullptr || bias->zero->type != ElementType::i32 || numbers->sizes.size() != 1) return {};
    const std::vector<float> of_bias = reals(*bias->scale), of_weight = reals(*weight.scale);
    const float of_x = reals(*x.scale)[0];
    for (const std::int64_t zero : tensors_.read(*bias->zero).numbers())
      if (zero != 0) return {};
    if (of_bias.size() != 1 && of_weight.size() != 1 && of_bias.size() != of_weight.size()) return {};
    for (std::size_t i = 0; i < std::max(of_bias.size(), of_weight.size()); ++i) {
      const float expected = of_x * of_weight[of_weight.size() == 1 ? 0 : i];
      if (std::abs(of_bias[of_bias.size() == 1 ? 0 : i] - expected) > 1e-5f * std::abs(expected)) return {};
    }
    return bias->numbers;
  }

  /// The node for an op between DequantizeLinear and QuantizeLinear. Nothing if there is none.
  std::optional<Node> of_bytes(const Node& op, const Quantized& y) {
    const bool is_conv = is_op(op, "Conv"), is_gemm = is_op(op, "Gemm") && has_gemm_;
    if (!is_conv && !is_gemm && !is_op(op, "MatMul")) return {};
    const auto x = operand_of_bytes(op, 0), weight = operand_of_bytes(op, 1);
    const bool turns = is_gemm && integer_of(op, "transB", 0) != 0;
    if (!x || !x->is_for_all() || !weight || !is_along(*weight, is_conv || turns ? 0 : 1, is_conv ? 0 : 2)) return {};
    if (is_conv && !takes_pairs(op, *weight)) return {};
    if (is_gemm && (!is_one(op, "alpha") || !is_one(op, "beta"))) return {};
    Node node;
    node.name = op.name;
    node.inputs = {x->numbers, x->scale_name, x->zero_name, weight->numbers, weight->scale_name, weight->zero_name};
    std::vector<Name> result{y.scale_name, y.zero_name};
    if (op.inputs.size() > 2 && !op.inputs[2].empty()) {
      const auto bias = bias_of(op, *x, *weight);
      if (!bias) return {};
      result.insert(is_gemm ? result.begin() : result.end(), *bias);
    } else if (is_gemm) {
      result.insert(result.begin(), Name());
    }
    node.inputs.insert(node.inputs.end(), result.begin(), result.end());
    node.op = is_conv ? "QLinearConv" : is_gemm ? "QGemm" : "QLinearMatMul";
    node.domain = is_gemm ? Name(microsoft_domain) : Name();
    for (const Attribute& attribute : op.attributes)
      if (!is_gemm || attribute.name == "transA" || attribute.name == "transB") node.attributes.push_back(attribute);
    return node;
  }

  /// Whether quantisation gives no numbers below 0.
  bool starts_at_zero(const Quantized& y) {
    const graph::Datum zero = tensors_.read(*y.zero);
    return zero.number() == Range(zero.dtype()).least;
  }

  void join_product(std::size_t place) {
    const auto y = parameters_of(nodes_[place], "QuantizeLinear");
    if (!y || !y->is_for_all() || !y->is_of_bytes()) return;
    auto op = only_for_one(y->numbers);
    std::optional<std::size_t> relu;
    if (op && is_op(nodes_[*op], "Relu") && nodes_[*op].inputs.size() == 1 && starts_at_zero(*y)) {
      relu = op;
      op = only_for_one(nodes_[*relu].inputs[0]);
    }
    if (!op) return;
    std::optional<Node> node = of_bytes(nodes_[*op], *y);
    if (!node) return;
    node->outputs = nodes_[place].outputs;
    gone_[*op] = true;
    if (relu) gone_[*relu] = true;
    nodes_[place] = std::move(*node);
  }

  /// Lets an op that moves elements move quantised numbers. Returns whether it does.
  bool join_moves(std::size_t place) {
    Node& node = nodes_[place];
    const bool picks = moves_elements(node) || (is_op(node, "MaxPool") && node.outputs.size() == 1);
    const auto x = picks && node.domain.empty() ? operand_of_bytes(node, 0) : std::nullopt;
    if (!x) return false;
    std::vector<std::size_t> after;
    for (const Name output : node.outputs) {
      if (!only_for_one(output) || users_[output][0] == nodes_.size()) return false;
      after.push_back(users_[output][0]);
      const auto y = parameters_of(nodes_[after.back()], "QuantizeLinear");
      if (!y || !mean_the_same(*x, *y)) return false;
    }
    node.inputs[0] = x->numbers;
    for (std::size_t k = 0; k < after.size(); ++k) {
      node.outputs[k] = nodes_[after[k]].outputs[0];
      gone_[after[k]] = true;
    }
    return true;
  }

  /// Removes nodes that dequantise numbers which nobody uses any more.
  void remove_unused() {
    std::map<Name, std::size_t> uses;
    for (const auto& [name, users] : users_) uses[name] += users.back() == nodes_.size() ? 1 : 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!gone_[i]) visit_uses(nodes_[i], [&](Name name) { ++uses[name]; });
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (parameters_of(nodes_[i], "DequantizeLinear") && uses[nodes_[i].outputs[0]] == 0) gone_[i] = true;
  }

  Tensors& tensors_;
  const Device device_;
  std::vector<Node> nodes_;
  const bool has_gemm_;  ///< Whether the model imports the operator set that has QGemm.
  std::map<Name, const TensorProto*> constants_;
  std::map<Name, std::size_t> makers_;
  std::map<Name, std::vector<std::size_t>> users_;  ///< For an output of the graph the last one is behind all nodes.
  std::vector<bool> gone_;
};

}  // namespace

std::vector<Node> with_quantized_groups(const file::ModelProto& model, Tensors& tensors, Device device) {
  const auto has_own_op = [](const file::Function& f) { return f.domain.empty() || f.domain == microsoft_domain; };
  const bool has_own_ops = std::any_of(model.functions.begin(), model.functions.end(), has_own_op);
  const auto is_group = [](const Node& node) { return node.op == "DequantizeLinear"; };
  const bool has_groups = std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(), is_group);
  // The device is asked only for a model with such groups, because its answer takes a probe in each process.
  if (has_own_ops || !has_groups || !imports(model, "", 10) || !ops::prefers_pairs(device)) return model.graph.nodes;
  return Finder(model, tensors, device).nodes();
}

}  // namespace crisol::onnx
