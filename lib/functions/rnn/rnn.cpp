#include "crisol/functions/rnn.h"

#include <array>
#include <functional>
#include <utility>

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/rnn.h"
#include "functions/gradients.h"
#include "functions/rnn/composed_rnn.h"
#include "functions/traced/traced.h"
#include "ops/rnn/rnn_check.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

namespace {

struct SavedWeights {
  explicit SavedWeights(const RnnWeights& w)
      : weight_ih(w.weight_ih),
        weight_hh(w.weight_hh),
        bias_ih(w.bias_ih),
        bias_hh(w.bias_hh),
        weight_hr(w.weight_hr) {}

  RnnWeights get() const { return {weight_ih.get(), weight_hh.get(), bias_ih.get(), bias_hh.get(), weight_hr.get()}; }

  Saved weight_ih, weight_hh, bias_ih, bias_hh, weight_hr;
};

struct SavedForward {
  explicit SavedForward(const ops::RnnSaved& s)
      : gates(s.gates), states(s.states), cells(s.cells), projected(s.projected) {}

  ops::RnnSaved get() const { return {gates.get(), states.get(), cells.get(), projected.get()}; }

  Saved gates, states, cells, projected;
};

// The inputs in the order in which they are recorded.
std::vector<Tensor> inputs_of(const RnnInput& input, const RnnWeights& w) {
  return {input.x, input.h0, input.c0, w.weight_ih, w.weight_hh, w.bias_ih, w.bias_hh, w.weight_hr};
}

auto backward_of(const RnnInput& input, const RnnWeights& weights, const RnnOptions& options,
                 const ops::RnnSaved& made) {
  return [x = Saved(input.x), h0 = Saved(input.h0), c0 = Saved(input.c0), lengths = Saved(input.lengths),
          kept = SavedWeights(weights), saved = SavedForward(made), options](const Gradients& dy, Needs needs) {
    if (grad_enabled()) {
      const auto composed = [&](const std::vector<Tensor>& in) { return composed_rnn(in, lengths.get(), options); };
      return autograd::gradients_of(composed, inputs_of({x.get(), h0.get(), c0.get(), {}}, kept.get()), dy, needs);
    }
    // The op needs only to know whether h0 and c0 are present, because their values are in the saved data.
    const ops::RnnWanted wanted{needs[0], needs[1], needs[2], needs[3], needs[4], needs[5], needs[6], needs[7]};
    const ops::RnnOutputGradients from{dy[0], dy[1], dy[2]};
    const ops::RnnInputGradients to =
        ops::rnn_backward(from, {x.get(), {}, {}, lengths.get()}, kept.get(), options, saved.get(), wanted);
    const RnnWeights& dw = to.weights;
    return Gradients{to.x, to.h0, to.c0, dw.weight_ih, dw.weight_hh, dw.bias_ih, dw.bias_hh, dw.weight_hr};
  };
}

}  // namespace

RnnOutput rnn(const RnnInput& input, const RnnWeights& weights, const RnnOptions& options) {
  const RnnWeights& w = weights;
  if (const autograd::Autocasts casts("rnn"); casts)
    return rnn({casts(input.x), casts(input.h0), casts(input.c0), input.lengths},
               {casts(w.weight_ih), casts(w.weight_hh), casts(w.bias_ih), casts(w.bias_hh), casts(w.weight_hr)},
               options);
  if (input.x.defined() && is_floating(input.x.dtype()) && !computes_in_f32(input.x.dtype())) {
    ops::check_rnn("rnn", input, weights, options);
    const std::vector<Tensor> results = composed_rnn(inputs_of(input, weights), input.lengths, options);
    return {results[0], results[1], results.size() > 2 ? results[2] : Tensor()};
  }
  const std::array<std::reference_wrapper<const Tensor>, 8> inputs{input.x,     input.h0,  input.c0,  w.weight_ih,
                                                                   w.weight_hh, w.bias_ih, w.bias_hh, w.weight_hr};
  ops::RnnResult result = ops::rnn_forward(input, weights, options, autograd::linked(inputs));
  auto [y, h_n, c_n] = autograd::call_many(
      "rnn", inputs, std::array{std::move(result.y), std::move(result.h_n), std::move(result.c_n)},
      [&](Trace& trace, const auto& outputs) {
        traced::rnn(trace, input, weights, options, {outputs[0], outputs[1], outputs[2]});
      },
      [&] { return backward_of(input, weights, options, result.saved); });
  return {std::move(y), std::move(h_n), std::move(c_n)};
}

}  // namespace crisol
