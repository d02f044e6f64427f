// Elementwise chains, reductions and softmax.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "cli/bench/groups.h"
#include "crisol/functions/elementwise.h"
#include "crisol/fuse.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/softmax.h"

namespace crisol::cli::bench {

namespace {

using Inputs = std::vector<Tensor>;

/// One chain, eager and fused, and the number of full-size inputs that it reads.
struct Chain {
  const char* name;
  int inputs;
  Tensor (*eager)(const Inputs&);
  Tensor (*fused)(const Inputs&);
};

/// Calls `function` with as many inputs as f takes; `function` is f, or f fused.
template <class F, class G>
Tensor call(const G& function, const Inputs& in) {
  if constexpr (std::is_invocable_v<F, const Tensor&>)
    return function(in[0]);
  else
    return function(in[0], in[1]);
}

/// Makes a chain of f: called with tensors, f runs one op after another; called with expressions, f becomes one kernel.
template <class F>
Chain chain(const char* name, int inputs, F) {
  return {name, inputs, [](const Inputs& in) { return call<F>(F(), in); },
          [](const Inputs& in) {
            static const auto fused = fuse(F());
            return call<F>(fused, in);
          }};
}

Tensor copy_of(const Tensor& x) { return ops::clone(x); }
Expr copy_of(const Expr& x) { return x; }

const Chain chains[] = {
    chain("copy", 1, [](const auto& x) { return copy_of(x); }),
    chain("add", 2, [](const auto& a, const auto& b) { return a + b; }),
    chain("exp", 1, [](const auto& x) { return exp(x); }),
    chain("tanh", 1, [](const auto& x) { return tanh(x); }),
    chain("sigmoid", 1, [](const auto& x) { return sigmoid(x); }),
    chain("gelu", 1, [](const auto& x) { return gelu(x); }),
    chain("gate", 2, [](const auto& a, const auto& b) { return tanh(a * b + b) * sigmoid(a); }),
    chain("chain6", 2, [](const auto& a, const auto& b) { return relu(exp(-(a * a)) * b + a); }),
    chain("bias_relu", 1, [](const auto& x, const auto& b) { return relu(x + b); }),
};

/// bias_relu takes images (n, 64, h, w). Their number and width are chosen to come near the wanted number of elements.
std::vector<Tensor> bias_inputs(const Values& v) {
  constexpr std::int64_t channels = 64, plane = 64 * 64;
  const std::int64_t wanted = v.number("elements");
  const std::int64_t images = std::max<std::int64_t>(1, wanted / (channels * plane));
  const std::int64_t width = std::clamp<std::int64_t>(wanted / (images * channels * 64), 1, 64);
  return {numbers(v, {images, channels, 64, width}), numbers(v, {channels, 1, 1})};
}

Work prepare_eltwise(const Values& v) {
  const Chain& chain = entry_of(chains, v.text("chain"));
  std::vector<Tensor> inputs;
  if (v.is("chain", "bias_relu"))
    inputs = bias_inputs(v);
  else
    for (int i = 0; i < chain.inputs; ++i) inputs.push_back(numbers(v, {v.number("elements")}));
  Work work;
  work.bytes = element_bytes(v) * static_cast<double>(inputs[0].numel()) * (chain.inputs + 1);
  work.run = [inputs, run = v.on("fused") ? chain.fused : chain.eager] { run(inputs); };
  return work;
}

struct ReduceCase {
  const char* name;
  Tensor (*function)(const Tensor&, const Shape&, bool);
};

const ReduceCase reductions[] = {
    {"sum", ops::sum},
    {"mean", ops::mean},
    {"prod", ops::prod},
    {"max", ops::max},
    {"min", ops::min},
    {"argmax", ops::argmax},
    {"argmin", ops::argmin},
    {"any", ops::any},
    {"all", ops::all},
    {"var", [](const Tensor& x, const Shape& axes, bool keepdim) { return ops::var(x, axes, keepdim); }},
    {"norm", [](const Tensor& x, const Shape& axes, bool keepdim) { return ops::norm(x, 2, axes, keepdim); }},
    {"logsumexp", ops::logsumexp},
    // The result has the shape of x; over=all scans the rows.
    {"cumsum",
     [](const Tensor& x, const Shape& axes, bool) { return ops::cumsum(x, static_cast<int>(axes[axes.rank() - 1])); }}};

Work prepare_reduce(const Values& v) {
  const Tensor x = numbers(v, {v.number("rows"), v.number("cols")});
  const Shape axes = v.is("over", "all") ? Shape{0, 1} : v.is("over", "rows") ? Shape{0} : Shape{1};
  const auto function = entry_of(reductions, v.text("op")).function;
  Work work;
  work.bytes = element_bytes(v) * static_cast<double>(x.numel()) * (v.is("op", "cumsum") ? 2 : 1);
  work.run = [=] { function(x, axes, false); };
  return work;
}

Work prepare_softmax(const Values& v) {
  const Tensor x = numbers(v, {v.number("rows"), v.number("cols")});
  const bool log = v.on("log");
  Work work;
  work.bytes = element_bytes(v) * static_cast<double>(x.numel());
  if (v.is("dir", "fwd")) {
    work.bytes *= 2;
    work.run = [=] { log ? ops::log_softmax(x, 1) : ops::softmax(x, 1); };
  } else {
    work.bytes *= 3;
    const Tensor y = log ? ops::log_softmax(x, 1) : ops::softmax(x, 1), dy = numbers(v, x.shape());
    work.run = [=] { log ? ops::log_softmax_backward(dy, y, 1) : ops::softmax_backward(dy, y, 1); };
  }
  return work;
}

}  // namespace

const Case eltwise_case{
    "eltwise",
    "elementwise chains: gate is tanh(a*b+b)*sigmoid(a), chain6 relu(exp(-(a*a))*b+a), bias_relu relu(x+b) with one b "
    "for each of 64 channels of images",
    {{"chain", "add", names_of(chains), ""},
     {"elements", "16777216", ">=1", "of each input"},
     {"fused", "0", "0|1", "1: one kernel for the chain"},
     dtype_or_i8_key()},
    prepare_eltwise};

const Case reduce_case{"reduce",
                       "reduction of a matrix (rows, cols)",
                       {{"op", "sum", names_of(reductions), ""},
                        {"rows", "4096", ">=1", ""},
                        {"cols", "4096", ">=1", ""},
                        {"over", "all", "all|rows|cols", "the axis that disappears: cols leaves a value for each row"},
                        dtype_or_i8_key()},
                       prepare_reduce};

const Case softmax_case{"softmax",
                        "softmax of the rows of a matrix (rows, cols)",
                        {{"rows", "4096", ">=1", ""},
                         {"cols", "1024", ">=1", ""},
                         {"log", "0", "0|1", "1: log-softmax"},
                         {"dir", "fwd", "fwd|bwd", ""},
                         dtype_key()},
                        prepare_softmax};

}  // namespace crisol::cli::bench
