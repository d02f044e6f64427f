#include "graph/passes/passes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

namespace {

/// A product of a cast with the product of two factors.
struct Scaled {
  std::size_t place;  ///< The position of the node.
  int factor;         ///< The product of the factors.
  std::vector<int> factors;
};

class CastJoiner {
 public:
  explicit CastJoiner(Graph& graph) : graph_(graph), uses_(graph), gone_(graph.nodes.size()) {}

  std::size_t join() {
    std::size_t joined = 0;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& cast = graph_.nodes[i];
      if (cast.op != Op::cast || !is_f32(cast.outputs[0])) continue;
      const Node* maker = uses_.maker(cast.inputs[0]);
      if (maker == nullptr || !maker->run.in_f32 || !uses_.has_one_user(cast.inputs[0])) continue;
      gone_[uses_.place(cast.inputs[0])] = true;
      replace(i, *maker);
      ++joined;
    }
    remove_marked(graph_, gone_);
    return joined;
  }

 private:
  bool is_f32(int value) const { return graph_.values[static_cast<std::size_t>(value)].dtype == DType::f32; }

  std::optional<Scaled> scaled(int cast) const {
    if (!uses_.has_one_user(cast)) return {};
    const std::size_t place = uses_.users(cast)[0];
    const Node& node = graph_.nodes[place];
    if (node.op != Op::mul || shape_of(graph_, node.outputs[0]) != shape_of(graph_, cast)) return {};
    const int factor = node.inputs[node.inputs[0] == cast ? 1 : 0];
    const Node* product = uses_.maker(factor, Op::mul);
    if (product == nullptr || !is_f32(factor)) return {};
    std::vector<int> factors = product->inputs;
    const auto is_number = [&](int value) {
      const auto shape = shape_of(graph_, value);
      return shape && shape->numel() == 1;
    };
    if (!is_number(factors[0])) std::swap(factors[0], factors[1]);
    const auto shape = shape_of(graph_, factors[1]);
    if (!is_number(factors[0]) || !shape || (shape->rank() != 1 && shape->numel() != 1)) return {};
    return Scaled{place, factor, factors};
  }

  /// Puts the product, the cast and the factors behind it into one node.
  void replace(std::size_t cast, const Node& product) {
    Node node = product;
    const auto found = scaled(graph_.nodes[cast].outputs[0]);
    const std::size_t place = found ? found->place : cast;
    if (found) {
      node.inputs.insert(node.inputs.end(), found->factors.begin(), found->factors.end());
      gone_[cast] = true;
      if (uses_.has_one_user(found->factor)) gone_[uses_.place(found->factor)] = true;
    }
    node.outputs = graph_.nodes[place].outputs;
    node.is_joined = true;
    const auto run = [f = product.run.in_f32, own = product.inputs.size()](const Data& in, Device device,
                                                                           const Epilogue* epilogue) {
      std::vector<Tensor> factors;
      for (std::size_t i = own; i < in.size(); ++i) factors.push_back(in[i].tensor(device));
      return f(Data(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(own)), device, factors, epilogue);
    };
    node.run = [run](const Data& in, Device device) { return Data{run(in, device, nullptr)}; };
    node.run.with_epilogue = [run](const Data& in, Device device, const Epilogue& epilogue) {
      return run(in, device, &epilogue);
    };
    graph_.nodes[place] = std::move(node);
  }

  Graph& graph_;
  const Uses uses_;
  std::vector<bool> gone_;
};

}  // namespace

std::size_t join_casts(Graph& graph, Device) { return CastJoiner(graph).join(); }

}  // namespace crisol::graph
