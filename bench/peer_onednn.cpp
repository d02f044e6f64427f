// oneDNN's side of compare.py: f32, NCHW in and out; the time includes every reorder. Convolutions and matrix products
// are tried in two ways: in oneDNN's preferred layouts, with reorders from and to NCHW, and in plain layouts. The
// faster way counts.
#include <dnnl.hpp>
#include <memory>
#include <unordered_map>

#include "peer.h"

namespace {

using namespace dnnl;
using peer::Keys;
using peer::Unsupported;
using peer::Work;
using Dims = memory::dims;
using Desc = memory::desc;
using Tag = memory::format_tag;
using Arguments = std::unordered_map<int, memory>;

constexpr auto f32 = memory::data_type::f32;

const engine cpu(engine::kind::cpu, 0);
stream queue(cpu);

Tag plain_tag(std::size_t rank) {
  constexpr Tag tags[] = {Tag::undef, Tag::a, Tag::ab, Tag::abc, Tag::abcd, Tag::abcde};
  return tags[rank];
}

Desc plain(const Dims& dims) { return {dims, f32, plain_tag(dims.size())}; }
Desc any(const Dims& dims) { return {dims, f32, Tag::any}; }

/// Memory filled with random values around zero.
memory filled(const Desc& desc) {
  memory m(desc, cpu);
  auto* values = static_cast<float*>(m.get_data_handle());
  if (values == nullptr) return m;
  std::uint32_t state = 12345;
  for (std::size_t i = 0; i < desc.get_size() / sizeof(float); ++i) {
    state = state * 1664525u + 1013904223u;
    values[i] = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  }
  return m;
}

/// A list of primitives, run one after another.
class Sequence {
 public:
  void add(const primitive& p, Arguments arguments) { steps_.emplace_back(p, std::move(arguments)); }

  /// Returns `m` in the layout `wanted`. Adds a reorder if `m` has another layout.
  memory as(const memory& m, const Desc& wanted) {
    if (m.get_desc() == wanted) return m;
    memory other(wanted, cpu);
    add(reorder(m, other), {{DNNL_ARG_FROM, m}, {DNNL_ARG_TO, other}});
    return other;
  }

  Work work() const {
    return {[steps = steps_] {
              for (const auto& [p, arguments] : steps) p.execute(queue, arguments);
            },
            [] { queue.wait(); }};
  }

 private:
  std::vector<std::pair<primitive, Arguments>> steps_;
};

Work faster(const Work& a, const Work& b) {
  const auto best = [](const Work& work) {
    peer::seconds_of(work, 1);
    double least = 1e30;
    for (int i = 0; i < 5; ++i) least = std::min(least, peer::seconds_of(work, 1));
    return least;
  };
  return best(a) < best(b) ? a : b;
}

Work gemm(const Keys& k) {
  const long m = k.number("m"), n = k.number("n"), depth = k.number("k"), batch = k.number("batch");
  const auto operand = [&](long rows, long columns, bool transposed) {
    return Desc({batch, rows, columns}, f32, transposed ? Tag::acb : Tag::abc);
  };
  const Desc a = operand(m, depth, k.is("transa", "1")), b = operand(depth, n, k.is("transb", "1"));
  const memory x = filled(a), w = filled(b), y = filled(plain({batch, m, n}));
  const auto product = [&](const Desc& b_desc) {
    const matmul::primitive_desc pd(cpu, a, b_desc, y.get_desc());
    Sequence s;
    const memory weights = s.as(w, pd.weights_desc());
    s.add(matmul(pd), {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, y}});
    return s.work();
  };
  return faster(product(b), product(any({batch, depth, n})));
}

struct Convolution {
  memory x, w, y, dx, dw, dy;
  Dims stride, dilation, pad;

  explicit Convolution(const Keys& k) {
    const long n = k.number("n"), c = k.number("c"), h = k.number("h"), width = k.number("w"), out = k.number("k");
    const long r = k.number("r"), s = k.number("s"), groups = k.number("groups");
    const long st = k.number("stride"), p = k.number("pad"), d = k.number("dilation");
    const auto size = [&](long in, long kernel) { return (in + 2 * p - d * (kernel - 1) - 1) / st + 1; };
    stride = {st, st}, dilation = {d - 1, d - 1}, pad = {p, p};
    const Dims weights = groups == 1 ? Dims{out, c, r, s} : Dims{groups, out / groups, c / groups, r, s};
    x = filled(plain({n, c, h, width})), dx = filled(x.get_desc());
    w = filled(plain(weights)), dw = filled(w.get_desc());
    y = filled(plain({n, out, size(h, r), size(width, s)})), dy = filled(y.get_desc());
  }

  static Desc in(const memory& m, bool free) { return free ? any(m.get_desc().get_dims()) : m.get_desc(); }

  convolution_forward::primitive_desc forward_desc(bool free, prop_kind kind) const {
    return {cpu, kind, algorithm::convolution_auto, in(x, free), in(w, free), in(y, free), stride, dilation, pad, pad};
  }

  void forward(Sequence& s, bool free, prop_kind kind) const {
    const auto pd = forward_desc(free, kind);
    const memory x_in = s.as(x, pd.src_desc()), w_in = s.as(w, pd.weights_desc());
    const memory result = pd.dst_desc() == y.get_desc() ? y : memory(pd.dst_desc(), cpu);
    s.add(convolution_forward(pd), {{DNNL_ARG_SRC, x_in}, {DNNL_ARG_WEIGHTS, w_in}, {DNNL_ARG_DST, result}});
    if (result != y) s.add(reorder(result, y), {{DNNL_ARG_FROM, result}, {DNNL_ARG_TO, y}});
  }

  void backward_data(Sequence& s, bool free) const {
    const convolution_backward_data::primitive_desc pd(cpu, algorithm::convolution_direct, in(dx, free), in(w, free),
                                                       in(dy, free), stride, dilation, pad, pad,
                                                       forward_desc(free, prop_kind::forward_training));
    const memory dy_in = s.as(dy, pd.diff_dst_desc()), w_in = s.as(w, pd.weights_desc());
    const memory result = pd.diff_src_desc() == dx.get_desc() ? dx : memory(pd.diff_src_desc(), cpu);
    s.add(convolution_backward_data(pd),
          {{DNNL_ARG_DIFF_DST, dy_in}, {DNNL_ARG_WEIGHTS, w_in}, {DNNL_ARG_DIFF_SRC, result}});
    if (result != dx) s.add(reorder(result, dx), {{DNNL_ARG_FROM, result}, {DNNL_ARG_TO, dx}});
  }

  void backward_weights(Sequence& s, bool free) const {
    const convolution_backward_weights::primitive_desc pd(cpu, algorithm::convolution_direct, in(x, free), in(dw, free),
                                                          in(dy, free), stride, dilation, pad, pad,
                                                          forward_desc(free, prop_kind::forward_training));
    const memory x_in = s.as(x, pd.src_desc()), dy_in = s.as(dy, pd.diff_dst_desc());
    const memory result = pd.diff_weights_desc() == dw.get_desc() ? dw : memory(pd.diff_weights_desc(), cpu);
    s.add(convolution_backward_weights(pd),
          {{DNNL_ARG_SRC, x_in}, {DNNL_ARG_DIFF_DST, dy_in}, {DNNL_ARG_DIFF_WEIGHTS, result}});
    if (result != dw) s.add(reorder(result, dw), {{DNNL_ARG_FROM, result}, {DNNL_ARG_TO, dw}});
  }
};

Work conv2d(const Keys& k) {
  if (k.is("bias", "1")) throw Unsupported("conv2d with a bias");
  const Convolution c(k);
  const std::string& direction = k.text("dir");
  const auto made = [&](bool free) {
    Sequence s;
    if (direction == "fwd") c.forward(s, free, prop_kind::forward_inference);
    if (direction == "train") c.forward(s, free, prop_kind::forward_training);
    if (direction == "bwd_data" || direction == "train") c.backward_data(s, free);
    if (direction == "bwd_weights" || direction == "train") c.backward_weights(s, free);
    return s.work();
  };
  return faster(made(true), made(false));
}

Work pool(const Keys& k) {
  if (!k.is("dir", "fwd")) throw Unsupported("pool's backward");
  const long n = k.number("n"), c = k.number("c"), h = k.number("h"), w = k.number("w"), r = k.number("r");
  const long stride = k.number("stride"), pad = k.number("pad");
  const auto size = [&](long in) { return (in + 2 * pad - r) / stride + 1; };
  const memory x = filled(plain({n, c, h, w})), y = filled(plain({n, c, size(h), size(w)}));
  const auto kind = k.is("kind", "max") ? algorithm::pooling_max : algorithm::pooling_avg_include_padding;
  const pooling_forward::primitive_desc pd(cpu, prop_kind::forward_training, kind, x.get_desc(), y.get_desc(),
                                           {stride, stride}, {r, r}, {0, 0}, {pad, pad}, {pad, pad});
  Arguments arguments{{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}};
  if (k.is("kind", "max")) arguments.emplace(DNNL_ARG_WORKSPACE, memory(pd.workspace_desc(), cpu));
  Sequence s;
  s.add(pooling_forward(pd), arguments);
  return s.work();
}

Work norm(const Keys& k) {
  if (!k.is("dir", "fwd")) throw Unsupported("norm's backward");
  const auto flags = normalization_flags::use_scale | normalization_flags::use_shift;
  Sequence s;
  if (k.is("kind", "batch")) {
    const memory x = filled(plain({k.number("n"), k.number("c"), k.number("h"), k.number("w")}));
    const batch_normalization_forward::primitive_desc pd(cpu, prop_kind::forward_training, x.get_desc(), x.get_desc(),
                                                         1e-5f, flags);
    const Desc channels = plain({k.number("c")});
    s.add(batch_normalization_forward(pd), {{DNNL_ARG_SRC, x},
                                            {DNNL_ARG_DST, filled(x.get_desc())},
                                            {DNNL_ARG_SCALE, filled(channels)},
                                            {DNNL_ARG_SHIFT, filled(channels)},
                                            {DNNL_ARG_MEAN, filled(channels)},
                                            {DNNL_ARG_VARIANCE, filled(channels)}});
  } else {
    const memory x = filled(plain({k.number("rows"), k.number("cols")}));
    const layer_normalization_forward::primitive_desc pd(cpu, prop_kind::forward_training, x.get_desc(), x.get_desc(),
                                                         1e-5f, flags);
    const Desc row = plain({k.number("cols")}), rows = plain({k.number("rows")});
    s.add(layer_normalization_forward(pd), {{DNNL_ARG_SRC, x},
                                            {DNNL_ARG_DST, filled(x.get_desc())},
                                            {DNNL_ARG_SCALE, filled(row)},
                                            {DNNL_ARG_SHIFT, filled(row)},
                                            {DNNL_ARG_MEAN, filled(rows)},
                                            {DNNL_ARG_VARIANCE, filled(rows)}});
  }
  return s.work();
}

Work softmax(const Keys& k) {
  if (!k.is("dir", "fwd")) throw Unsupported("softmax's backward");
  const memory x = filled(plain({k.number("rows"), k.number("cols")}));
  const auto kind = k.is("log", "1") ? algorithm::softmax_log : algorithm::softmax_accurate;
  const softmax_forward::primitive_desc pd(cpu, prop_kind::forward_inference, kind, x.get_desc(), x.get_desc(), 1);
  Sequence s;
  s.add(softmax_forward(pd), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, filled(x.get_desc())}});
  return s.work();
}

Work eltwise(const Keys& k) {
  const Desc desc = plain({k.number("elements")});
  const memory a = filled(desc), y = filled(desc);
  const std::string& chain = k.text("chain");
  Sequence s;
  if (chain == "copy") {
    s.add(reorder(a, y), {{DNNL_ARG_FROM, a}, {DNNL_ARG_TO, y}});
  } else if (chain == "add") {
    const binary::primitive_desc pd(cpu, algorithm::binary_add, desc, desc, desc);
    s.add(binary(pd), {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, filled(desc)}, {DNNL_ARG_DST, y}});
  } else {
    static const std::map<std::string, algorithm> kinds{{"exp", algorithm::eltwise_exp},
                                                        {"tanh", algorithm::eltwise_tanh},
                                                        {"sigmoid", algorithm::eltwise_logistic},
                                                        {"gelu", algorithm::eltwise_gelu_erf}};
    const auto kind = kinds.find(chain);
    if (kind == kinds.end()) throw Unsupported("the chain " + chain);
    const eltwise_forward::primitive_desc pd(cpu, prop_kind::forward_inference, kind->second, desc, desc);
    s.add(eltwise_forward(pd), {{DNNL_ARG_SRC, a}, {DNNL_ARG_DST, y}});
  }
  return s.work();
}

Work reduce(const Keys& k) {
  static const std::map<std::string, algorithm> kinds{{"sum", algorithm::reduction_sum},
                                                      {"mean", algorithm::reduction_mean},
                                                      {"max", algorithm::reduction_max},
                                                      {"min", algorithm::reduction_min}};
  const auto kind = kinds.find(k.text("op"));
  if (kind == kinds.end()) throw Unsupported("the reduction " + k.text("op"));
  const long rows = k.number("rows"), cols = k.number("cols");
  const Dims result{k.is("over", "cols") ? rows : 1, k.is("over", "rows") ? cols : 1};
  const memory x = filled(plain({rows, cols})), y = filled(plain(result));
  const reduction::primitive_desc pd(cpu, kind->second, x.get_desc(), y.get_desc(), 0.0f, 0.0f);
  Sequence s;
  s.add(reduction(pd), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}});
  return s.work();
}

Work rnn(const Keys& k) {
  if (!k.is("dir", "fwd")) throw Unsupported("recurrent backward");
  const long t = k.number("t"), b = k.number("b"), i = k.number("i"), h = k.number("h"), layers = k.number("layers");
  if (layers > 1 && i != h) throw Unsupported("layers of different sizes in one primitive");
  const bool lstm = k.is("kind", "lstm"), gru = k.is("kind", "gru");
  const long gates = lstm ? 4 : gru ? 3 : 1;
  const Desc x = {{t, b, i}, f32, Tag::tnc}, y = {{t, b, h}, f32, Tag::tnc};
  const Desc state = {{layers, 1, b, h}, f32, Tag::ldnc}, bias = {{layers, 1, gates, h}, f32, Tag::ldgo};
  const Desc bias_reset = {{layers, 1, gates + 1, h}, f32, Tag::ldgo};
  const Desc wx = any({layers, 1, i, gates, h}), wh = any({layers, 1, h, gates, h});
  const Desc given_wx = {{layers, 1, i, gates, h}, f32, Tag::ldigo},
             given_wh = {{layers, 1, h, gates, h}, f32, Tag::ldigo};
  Sequence s;
  const auto kind = prop_kind::forward_inference;
  const auto direction = rnn_direction::unidirectional_left2right;
  const auto run = [&](const auto& pd, const auto& make, const Desc& bias_desc) {
    Arguments arguments{{DNNL_ARG_SRC_LAYER, filled(x)},
                        {DNNL_ARG_SRC_ITER, filled(state)},
                        {DNNL_ARG_BIAS, filled(bias_desc)},
                        {DNNL_ARG_DST_LAYER, filled(y)},
                        {DNNL_ARG_DST_ITER, filled(state)}};
    arguments.emplace(DNNL_ARG_WEIGHTS_LAYER, s.as(filled(given_wx), pd.weights_layer_desc()));
    arguments.emplace(DNNL_ARG_WEIGHTS_ITER, s.as(filled(given_wh), pd.weights_iter_desc()));
    if (lstm) {
      arguments.emplace(DNNL_ARG_SRC_ITER_C, filled(state));
      arguments.emplace(DNNL_ARG_DST_ITER_C, filled(state));
    }
    s.add(make(pd), arguments);
  };
  if (lstm) {
    const lstm_forward::primitive_desc pd(cpu, kind, direction, x, state, state, wx, wh, bias, y, state, state);
    run(
        pd, [](const auto& d) { return lstm_forward(d); }, bias);
  } else if (gru) {  // PyTorch's form of GRU: the reset gate is applied after the product.
    const lbr_gru_forward::primitive_desc pd(cpu, kind, direction, x, state, wx, wh, bias_reset, y, state);
    run(
        pd, [](const auto& d) { return lbr_gru_forward(d); }, bias_reset);
  } else {
    const vanilla_rnn_forward::primitive_desc pd(cpu, kind, algorithm::eltwise_tanh, direction, x, state, wx, wh, bias,
                                                 y, state);
    run(
        pd, [](const auto& d) { return vanilla_rnn_forward(d); }, bias);
  }
  return s.work();
}

Work prepare(const std::string& name, const Keys& keys) {
  static const std::map<std::string, Work (*)(const Keys&)> cases{
      {"gemm", gemm},       {"conv2d", conv2d},   {"pool", pool},     {"norm", norm},
      {"softmax", softmax}, {"eltwise", eltwise}, {"reduce", reduce}, {"rnn", rnn}};
  const auto found = cases.find(name);
  if (found == cases.end()) throw Unsupported("no " + name);
  return found->second(keys);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::stod(argv[1]) : 1;
  const dnnl_version_t* v = dnnl_version();
  const std::string about =
      "oneDNN " + std::to_string(v->major) + '.' + std::to_string(v->minor) + '.' + std::to_string(v->patch);
  peer::serve(seconds, about, prepare);
}
