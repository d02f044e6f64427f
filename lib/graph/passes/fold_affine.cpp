#include <array>
#include <map>

#include "crisol/functions/elementwise.h"
#include "crisol/grad_mode.h"
#include "graph/passes/formulas.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"
#include "runtime/memory/stored_block.h"

namespace crisol::graph {

namespace {

/// y = x · scale + shift. Scale and shift are one number, or one number for each channel.
struct Affine {
  Tensor scale, shift;

  Affine then(const Affine& next) const { return {scale * next.scale, shift * next.scale + next.shift}; }
};

class Folder {
 public:
  Folder(Graph& graph, Device device) : graph_(graph), uses_(graph), device_(device), gone_(graph.nodes.size()) {}

  std::size_t fold() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      const std::optional<std::size_t> conv = conv_before(node);
      if (!conv && node.op != Op::batch_norm) continue;
      const std::optional<Affine> affine = affine_of(node);
      if (!affine) continue;
      ++changed_;
      gone_[i] = conv.has_value();
      if (conv)
        add_to_conv(*conv, node, *affine);
      else
        batch_norms_.emplace_back(i, *affine);
    }
    for (auto& [place, affine] : convolutions_) change_conv(graph_.nodes[place], affine);
    for (auto& [place, affine] : batch_norms_) make_elementwise(graph_.nodes[place], affine);
    remove_marked(graph_, gone_);
    return changed_;
  }

 private:
  /// The constant as (C) or () of f32, if it has one number for each channel of the value, or one number.
  std::optional<Tensor> per_channel(int constant, int value) const {
    const Datum* datum = uses_.constant(constant);
    const std::optional<Shape> shape = shape_of(graph_, value);
    if (datum == nullptr || !datum->defined() || !is_of_floats(graph_, constant) || !shape || shape->rank() < 2)
      return {};
    const Shape& sizes = datum->shape();
    if (sizes.numel() == 1 && sizes.rank() <= shape->rank())
      return datum->tensor(device_).to(DType::f32).reshape(Shape());
    if (sizes.rank() > shape->rank() || sizes.numel() != (*shape)[1]) return {};
    const int channels = sizes.rank() - shape->rank() + 1;
    if (channels < 0 || sizes[channels] != sizes.numel()) return {};
    return datum->tensor(device_).to(DType::f32).reshape(Shape(sizes.numel()));
  }

  std::optional<Affine> affine_of(const Node& node) const {
    if (node.op == Op::batch_norm) return affine_of_batch_norm(node);
    const bool multiplies = node.op == Op::mul || node.op == Op::div, adds = node.op == Op::add || node.op == Op::sub;
    if ((!multiplies && !adds) || !node.run.formula || node.inputs.size() != 2) return {};
    const bool constant_first = uses_.constant(node.inputs[0]) != nullptr;
    const int x = node.inputs[constant_first ? 1 : 0], other = node.inputs[constant_first ? 0 : 1];
    if (shape_of(graph_, x) != shape_of(graph_, node.outputs[0])) return {};
    const std::optional<Tensor> c = per_channel(other, x);
    if (!c || (node.op == Op::div && constant_first)) return {};
    const Tensor one = full(Shape(), 1.0, DType::f32, device_), zero = zeros(Shape(), DType::f32, device_);
    if (node.op == Op::mul) return Affine{*c, zero};
    if (node.op == Op::div) return Affine{reciprocal(*c), zero};
    if (node.op == Op::add) return Affine{one, *c};
    return constant_first ? Affine{neg(one), *c} : Affine{one, neg(*c)};
  }

  std::optional<Affine> affine_of_batch_norm(const Node& node) const {
    std::array<Tensor, 4> p;
    for (std::size_t i = 0; i < 4; ++i) {
      const Datum* datum = uses_.constant(node.inputs[i + 1]);
      if (datum == nullptr) return {};
      p[i] = datum->tensor(device_).to(DType::f32);
    }
    const Tensor scale = p[0] * rsqrt(p[3] + std::get<double>(node.attributes.at("epsilon")));
    return Affine{scale, p[1] - p[2] * scale};
  }

  /// The position of the convolution that makes an input of the node. Nothing unless only this node uses the input, and
  /// the convolution's weight and bias are constants.
  std::optional<std::size_t> conv_before(const Node& node) const {
    if (node.inputs.empty() || node.inputs[0] == absent) return {};
    const bool constant_first = uses_.constant(node.inputs[0]) != nullptr;
    if (constant_first && (node.inputs.size() < 2 || node.inputs[1] == absent)) return {};
    const int x = node.inputs[constant_first ? 1 : 0];
    const auto folded = conv_of_.find(x);
    if (folded == conv_of_.end() && uses_.maker(x) == nullptr) return {};
    const std::size_t place = folded != conv_of_.end() ? folded->second : uses_.place(x);
    const Node& conv = graph_.nodes[place];
    const bool has_bias = conv.inputs.size() > 2 && conv.inputs[2] != absent;
    if (conv.op != Op::conv || !uses_.has_one_user(x) || uses_.constant(conv.inputs[1]) == nullptr ||
        (has_bias && uses_.constant(conv.inputs[2]) == nullptr))
      return {};
    return place;
  }

  void add_to_conv(std::size_t place, const Node& node, const Affine& affine) {
    const auto [at, is_new] = convolutions_.try_emplace(place, affine);
    if (!is_new) at->second = at->second.then(affine);
    conv_of_[node.outputs[0]] = place;
    graph_.nodes[place].outputs[0] = node.outputs[0];
  }

  /// The new weight and bias are computed in f32, and rounded once.
  void change_conv(Node& conv, const Affine& affine) {
    const runtime::BorrowedBlocks borrowed;  // The memory of this weight can serve for the next convolution's weight.
    const std::string name = graph_.values[static_cast<std::size_t>(conv.inputs[1])].name;
    const Tensor weight = uses_.constant(conv.inputs[1])->tensor(device_);
    const DType dtype = weight.dtype();
    Tensor shift = affine.shift;
    if (conv.inputs.size() > 2 && conv.inputs[2] != absent)
      shift = uses_.constant(conv.inputs[2])->tensor(device_).to(DType::f32) * affine.scale + shift;
    Shape sizes = Shape::filled(weight.dim(), 1);
    if (affine.scale.dim() > 0) sizes[0] = weight.size(0);
    conv.inputs.resize(3, absent);
    conv.inputs[1] = add_constant(graph_, name + "/scaled", (weight * affine.scale.reshape(sizes)).to(dtype));
    conv.inputs[2] = add_constant(graph_, name + "/shift", shift.expand({weight.size(0)}).contiguous().to(dtype));
  }

  /// If no convolution comes before the node, it becomes a product and a sum.
  void make_elementwise(Node& node, const Affine& affine) {
    Shape sizes = Shape::filled(shape_of(graph_, node.inputs[0])->rank() - 1, 1);
    sizes[0] = affine.scale.numel();
    const int scale = add_constant(graph_, node.name + "/scale", affine.scale.reshape(sizes));
    const int shift = add_constant(graph_, node.name + "/shift", affine.shift.reshape(sizes));
    node.inputs = {node.inputs[0], scale, shift};
    node.is_joined = true;
    const DType dtype = *graph_.values[static_cast<std::size_t>(node.outputs[0])].dtype;
    node.run = run_of([dtype](std::span<const Expr> in) { return (in[0] * in[1] + in[2]).to(dtype); });
  }

  Graph& graph_;
  const Uses uses_;
  const Device device_;
  std::vector<bool> gone_;
  std::map<std::size_t, Affine> convolutions_;  ///< The scale and shift after each convolution, by its position.
  std::map<int, std::size_t> conv_of_;          ///< The convolution that now makes a value.
  std::vector<std::pair<std::size_t, Affine>> batch_norms_;
  std::size_t changed_ = 0;
};

}  // namespace

std::size_t fold_affine(Graph& graph, Device device) { return Folder(graph, device).fold(); }

}  // namespace crisol::graph
