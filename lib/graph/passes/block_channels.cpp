#include <map>
#include <utility>

#include "base/ceil_div.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/reduce.h"
#include "crisol/grad_mode.h"
#include "dispatch/target.h"
#include "functions/conv/conv_blocks.h"
#include "functions/fuse/fused_function.h"
#include "graph/passes/attributes.h"
#include "graph/passes/blocked_values.h"
#include "graph/passes/formulas.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"
#include "ops/conv/conv2d_winograd.h"
#include "ops/pool/pool_blocks.h"

namespace crisol::graph {

namespace {

class Blocker {
 public:
  Blocker(Graph& graph, Device device, std::int64_t block)
      : graph_(graph), device_(device), block_(block), uses_(graph), values_(graph, block) {}

  std::size_t run() {
    std::size_t changed = 0;
    for (Node& node : graph_.nodes) {
      if (convolve(node) || compute_elements(node) || average(node) || pool(node) || join(node) || pad_planes(node) ||
          enlarge(node))
        ++changed;
      else
        values_.add(node);
    }
    values_.finish();
    return changed;
  }

 private:
  Shape shape(int value) const { return *shape_of(graph_, value); }
  const Datum* constant(int value) const { return value == absent ? nullptr : uses_.constant(value); }
  const std::string& name(int value) const { return graph_.values[static_cast<std::size_t>(value)].name; }
  int add_blocks(int value, const Tensor& blocks) { return add_constant(graph_, name(value) + "/blocks", blocks); }

  /// Adds the node with another function to run. The node's inputs are in blocks.
  void add(const Node& node, std::vector<int> inputs, Run run) {
    Node made = node;
    made.inputs = std::move(inputs);
    made.run = std::move(run);
    values_.add_blocked(std::move(made), node.outputs[0]);
  }
  /// The same for a node with one input, an image in blocks.
  template <class F>
  bool add_of_one(const Node& node, F f) {
    add(node, {values_.in_blocks(node.inputs[0])},
        [f](const Data& in, Device device) { return Data{f(in[0].tensor(device))}; });
    return true;
  }
  /// Whether the node has one output, an image, and its first input is an image in blocks.
  bool is_of_blocks(const Node& node) const {
    return !node.inputs.empty() && values_.is_image(node.inputs[0]) && values_.is_in_blocks(node.inputs[0]) &&
           node.outputs.size() == 1 && values_.is_image(node.outputs[0]);
  }
  /// The height and width of an image.
  std::array<std::int64_t, 2> plane(int value) const { return {shape(value)[2], shape(value)[3]}; }

  /// The sizes of a convolution, if it should run in blocks.
  std::optional<ops::Conv2dSizes> sizes_of_conv(const Node& node) const {
    if (node.op != Op::conv || !values_.is_image(node.inputs[0]) || constant(node.inputs[1]) == nullptr) return {};
    if (node.inputs.size() > 2 && node.inputs[2] != absent && constant(node.inputs[2]) == nullptr) return {};
    const Shape x = shape(node.inputs[0]), y = shape(node.outputs[0]), w = shape(node.inputs[1]);
    const std::int64_t groups = w[1] == 0 ? 0 : x[1] / w[1];
    if (y.numel() == 0 || (groups != 1 && (groups != x[1] || groups != y[1]))) return {};
    // If there are few outputs, most of a block is empty. For a single pixel this does not matter.
    const bool is_pixel = plane(node.inputs[0]) == std::array<std::int64_t, 2>{1, 1} && w[2] == 1 && w[3] == 1;
    if (2 * y[1] < block_ && !(is_pixel && values_.is_in_blocks(node.inputs[0]))) return {};
    const Windows windows = windows_of(node, {x[2], x[3]}, {w[2], w[3]});
    const ops::Conv2dSizes sizes = sizes_of_convolution(x, w, y, windows);
    // Winograd's algorithm works on images in their own layout. If it halves the work, it saves more than the
    // conversions of the layout take.
    const bool halves = windows.is_symmetric && ops::winograd_halves(sizes, dispatch::target_of(device_.state()));
    return halves || !ops::tiles_take(sizes, block_) ? std::nullopt : std::optional(sizes);
  }

  /// Whether another convolution uses the value, at most `steps` nodes later. The nodes between can run in blocks.
  bool leads_to_conv(int value, int steps = 8) {
    if (steps == 0 || !values_.is_image(value)) return false;
    const auto [known, is_new] = leads_to_conv_.try_emplace({value, steps}, false);
    if (!is_new) return known->second;
    const std::vector<std::size_t>& users = uses_.users(value);
    return known->second = std::any_of(users.begin(), users.end(), [&](std::size_t place) {
             const Node& user = graph_.nodes[place];
             if (user.op == Op::conv) return user.inputs[0] == value && sizes_of_conv(user).has_value();
             return (is_of_elements(graph_, user) || user.op == Op::max_pool || user.op == Op::avg_pool ||
                     user.op == Op::pad) &&
                    leads_to_conv(user.outputs[0], steps - 1);
           });
  }

  bool convolve(const Node& node) {
    const std::optional<ops::Conv2dSizes> sizes = sizes_of_conv(node);
    if (!sizes) return false;
    const int x = node.inputs[0], weight = node.inputs[1];
    if (!values_.is_in_blocks(x) && !leads_to_conv(node.outputs[0])) return false;
    const bool few = sizes->groups == 1 && 2 * sizes->channels <= block_ && !values_.is_in_blocks(x);
    const std::int64_t block_in = few ? 1 : block_;  // With blocks of one channel, the layout is the image's own.
    const Tensor filters = constant(weight)->tensor(device_);
    std::vector<int> inputs{
        few ? values_.in_blocks_of(x, block_in) : values_.in_blocks(x),
        add_blocks(weight, sizes->groups > 1 ? detail::depthwise_weight_in_blocks(filters, block_)
                                             : detail::weight_in_blocks(filters, block_in, block_))};
    give_back_constant(graph_, uses_, weight);
    if (node.inputs.size() > 2 && node.inputs[2] != absent)
      inputs.push_back(
          add_blocks(node.inputs[2], detail::channels_in_blocks(constant(node.inputs[2])->tensor(device_), block_)));
    const auto compute = [sizes = *sizes](const Data& in, Device device, const Epilogue* epilogue) {
      const Tensor bias = in.size() > 2 ? in[2].tensor(device) : Tensor();
      return detail::conv2d_blocks(in[0].tensor(device), in[1].tensor(device), bias, sizes, epilogue);
    };
    Run run([compute](const Data& in, Device device) { return Data{compute(in, device, nullptr)}; });
    run.with_epilogue = [compute](const Data& in, Device device, const Epilogue& epilogue) {
      return compute(in, device, &epilogue);
    };
    run.convolution = std::make_shared<const ops::Conv2dSizes>(*sizes);
    add(node, std::move(inputs), std::move(run));
    return true;
  }

  /// The shape of a formula's input, with as many axes as an image. Nothing unless kernels compute it in f32 and it
  /// has at most four axes.
  std::optional<Shape> as_image(int value) const {
    const std::optional<Shape> given = shape_of(graph_, value);
    if (!given || given->rank() > 4 || !is_of_floats(graph_, value)) return {};
    Shape full = Shape::filled(4, 1);
    for (int i = 0; i < given->rank(); ++i) full[4 - given->rank() + i] = (*given)[i];
    return full;
  }

  /// Whether a formula for images with `channels` channels can read the input in blocks.
  bool fits_formula(int value, std::int64_t channels) const {
    const std::optional<Shape> image = as_image(value);
    if (!image) return false;
    return image->numel() == 1 || ((*image)[1] == channels && (constant(value) != nullptr || values_.is_image(value)));
  }

  bool compute_elements(const Node& node) {
    if (!is_of_elements(graph_, node) || !values_.is_image(node.outputs[0])) return false;
    if (shape(node.outputs[0]).numel() == 1 || node.inputs.size() > detail::FusedFunction::max_arguments) return false;
    const std::int64_t channels = shape(node.outputs[0])[1];
    bool any = false;
    for (const int input : node.inputs) {
      if (input == absent || !fits_formula(input, channels)) return false;
      any = any || values_.is_in_blocks(input);
    }
    if (!any) return false;
    std::vector<int> inputs = node.inputs;
    for (int& input : inputs) {
      if (shape(input).numel() == 1) {
        values_.need_plain(input);
        continue;
      }
      const Datum* known = constant(input);
      input = known == nullptr
                  ? values_.in_blocks(input)
                  : add_blocks(input, detail::to_blocks(known->tensor(device_).reshape(*as_image(input)), block_));
    }
    add(node, std::move(inputs), run_of(node.run.formula));
    return true;
  }

  /// Computes the mean of each plane.
  bool average(const Node& node) {
    if (!is_of_blocks(node)) return false;
    if (node.op == Op::mean) {
      std::vector<std::int64_t> axes = integers_of(node, "axes");
      for (std::int64_t& axis : axes) axis += axis < 0 ? 4 : 0;
      if (axes != std::vector<std::int64_t>{2, 3}) return false;
    } else if (node.op != Op::global_avg_pool) {
      return false;
    }
    return add_of_one(node, [](const Tensor& x) { return x.mean({2, 3}, true); });
  }

  bool pool(const Node& node) {
    if ((node.op != Op::max_pool && node.op != Op::avg_pool) || !is_of_blocks(node)) return false;
    const Windows w = windows_of(node, plane(node.inputs[0]), kernel_of(node));
    const auto [kernel_h, kernel_w] = kernel_of(node);
    const Shape x = shape(node.inputs[0]), y = shape(node.outputs[0]);
    const ops::PoolGeometry geometry{x[0] * ceil_div(x[1], block_),
                                     x[2],
                                     x[3],
                                     y[2],
                                     y[3],
                                     kernel_h,
                                     kernel_w,
                                     w.strides[0],
                                     w.strides[1],
                                     w.pads[0],
                                     w.pads[1],
                                     w.dilations[0],
                                     w.dilations[1]};
    if (geometry.window() > ops::max_pool_taps) return false;
    if (node.op == Op::max_pool)
      return add_of_one(node, [geometry](const Tensor& t) { return ops::max_pool2d_blocks(t, geometry); });
    const bool include_pad = integer_of(node, "count_include_pad", 0) != 0;
    if (w.dilations != std::array<std::int64_t, 2>{1, 1} || (include_pad && !w.is_symmetric) ||
        integer_of(node, "divisor", 0) != 0)
      return false;
    return add_of_one(node, [=](const Tensor& t) { return ops::avg_pool2d_blocks(t, geometry, include_pad); });
  }

  /// Joins images along the channels, if the images consist of whole blocks.
  bool join(const Node& node) {
    if (node.op != Op::cat) return false;
    const std::int64_t axis = integer_of(node, "axis", 0);
    bool any = false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const int input = node.inputs[i];
      if (!values_.is_image(input)) return false;
      if (i + 1 < node.inputs.size() && shape(input)[1] % block_ != 0) return false;
      any = any || values_.is_in_blocks(input);
    }
    if (!any || (axis != 1 && axis != -3)) return false;
    std::vector<int> inputs;
    for (const int input : node.inputs) inputs.push_back(values_.in_blocks(input));
    add(node, std::move(inputs), [](const Data& in, Device device) {
      std::vector<Tensor> tensors;
      for (const Datum& x : in) tensors.push_back(x.tensor(device));
      return Data{cat(tensors, 1)};
    });
    return true;
  }

  /// Pads planes with the node's own function.
  bool pad_planes(const Node& node) {
    if (node.op != Op::pad || !is_of_blocks(node) || node.inputs.size() < 2) return false;
    const Datum* pads = constant(node.inputs[1]);
    const bool has_axes = node.inputs.size() > 3 && node.inputs[3] != absent;
    if (pads == nullptr || has_axes) return false;
    const std::vector<std::int64_t> p = pads->numbers();
    if (p.size() != 8 || p[0] != 0 || p[1] != 0 || p[4] != 0 || p[5] != 0) return false;
    std::vector<int> inputs = node.inputs;
    inputs[0] = values_.in_blocks(inputs[0]);
    const Datum of_blocks({0, 0, p[2], p[3], 0, 0, 0, p[6], p[7], 0}, {10});
    add(node, std::move(inputs), [of_blocks, run = node.run](Data in, Device device) {
      in[1] = of_blocks;
      return run(in, device);
    });
    return true;
  }

  /// How often each row and each column is repeated; nothing if not all are repeated equally often.
  std::optional<std::array<std::int64_t, 2>> repeats_of(const Node& node) const {
    const Shape x = shape(node.inputs[0]), y = shape(node.outputs[0]);
    if (x[0] != y[0] || x[1] != y[1] || y[2] % x[2] != 0 || y[3] % x[3] != 0) return {};
    if (const std::int64_t input = integer_of(node, "factors", absent); input != absent) {
      const Datum* factors = constant(node.inputs[static_cast<std::size_t>(input)]);
      if (factors == nullptr || factors->shape() != Shape{4}) return {};
      const std::vector<float> by = factors->tensor(device_).to_vector<float>();
      for (int i = 0; i < 4; ++i)
        if (double{by[static_cast<unsigned>(i)]} * static_cast<double>(x[i]) != static_cast<double>(y[i])) return {};
    }
    return std::array{y[2] / x[2], y[3] / x[3]};
  }

  bool enlarge(const Node& node) {
    if (node.op != Op::enlarge || !is_of_blocks(node)) return false;
    const auto repeats = repeats_of(node);
    if (!repeats) return false;
    return add_of_one(node, [rows = (*repeats)[0], columns = (*repeats)[1]](const Tensor& t) {
      const Shape& s = t.shape();
      return t.reshape({s[0], s[1], s[2], 1, s[3], 1, s[4]})
          .expand({s[0], s[1], s[2], rows, s[3], columns, s[4]})
          .contiguous()
          .reshape({s[0], s[1], s[2] * rows, s[3] * columns, s[4]});
    });
  }

  Graph& graph_;
  const Device device_;
  const std::int64_t block_;
  const Uses uses_;
  BlockedValues values_;
  std::map<std::pair<int, int>, bool> leads_to_conv_;  ///< The results, by the function's arguments.
};

}  // namespace

std::size_t block_channels(Graph& graph, Device device) {
  const std::int64_t block = ops::channel_block(dispatch::target_of(device.state()));
  if (block == 0) return 0;
  const std::size_t changed = Blocker(graph, device, block).run();
  remove_dead_nodes(graph, device);
  return changed;
}

}  // namespace crisol::graph
