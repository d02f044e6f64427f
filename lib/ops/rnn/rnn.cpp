// A recurrent layer: checks, the products over all steps at once, and the choice of who does the steps.
#include "crisol/ops/rnn.h"

#include "crisol/ops/copy.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "ops/rnn/rnn_check.h"
#include "ops/rnn/rnn_problem.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr Variant<RnnForward> forward_variants[] = {{"rows", refuse_rnn_forward_rows, run_rnn_forward_rows},
                                                    {"resident", refuse_rnn_forward_resident, run_rnn_forward_resident},
                                                    {"group", refuse_rnn_forward_group, run_rnn_forward_group},
                                                    {"steps", accept_all, run_rnn_forward_steps}};
constexpr Variant<RnnBackward> backward_variants[] = {
    {"rows", refuse_rnn_backward_rows, run_rnn_backward_rows},
    {"resident", refuse_rnn_backward_resident, run_rnn_backward_resident},
    {"group", refuse_rnn_backward_group, run_rnn_backward_group},
    {"steps", accept_all, run_rnn_backward_steps}};

Tensor contiguous_or_none(const Tensor& x) { return x.defined() ? contiguous(x) : x; }

void set(const Tensor& to, const Tensor& value) {
  if (value.defined())
    copy_into(to, value);
  else
    fill_into(to, 0);
}

// (T, B, F) as (T B, F).
Tensor as_rows(const Tensor& x) { return reshape(x, {x.size(0) * x.size(1), x.size(2)}); }

// y[t] = the state after step t, 0 past a sequence's end.
void mask_outputs(const RnnSizes& s, const Tensor& states, const Tensor& lengths, const Tensor& y) {
  runtime::DeviceState& device = state_of(y);
  runtime::launch(device, {"rnn/rnn_outputs.cl", "rnn_outputs"}, runtime::flat_range(device, y.numel()), in(states),
                  in(lengths), out(y), y.numel(), s.batch, s.outputs);
}

RnnInputGradients finish_backward(const RnnSizes& s, const RnnInput& input, const RnnWeights& weights,
                                  const RnnBackward& p, const RnnWanted& wanted) {
  RnnInputGradients g;
  const Tensor dinput = as_rows(p.dinput), drecurrent = as_rows(p.drecurrent);
  if (wanted.x) g.x = reshape(matmul(dinput, weights.weight_ih), input.x.shape());
  if (wanted.h0) g.h0 = p.dh;
  if (wanted.c0) g.c0 = p.dc;
  if (wanted.weight_ih) g.weights.weight_ih = matmul(transpose(dinput, 0, 1), as_rows(contiguous(input.x)));
  if (wanted.weight_hh) {
    const Tensor before = as_rows(narrow(p.saved.states, 0, s.slot_before(0), s.steps));
    g.weights.weight_hh = matmul(transpose(drecurrent, 0, 1), before);
  }
  if (wanted.bias_ih && weights.bias_ih.defined()) g.weights.bias_ih = sum(dinput, {0});
  if (wanted.bias_hh && weights.bias_hh.defined()) g.weights.bias_hh = sum(drecurrent, {0});
  if (wanted.weight_hr && weights.weight_hr.defined())
    g.weights.weight_hr = matmul(transpose(as_rows(p.dprojected), 0, 1), as_rows(p.saved.projected));
  return g;
}

}  // namespace

RnnResult rnn_forward(const RnnInput& input, const RnnWeights& weights, const RnnOptions& options, bool save) {
  const RnnSizes s = check_rnn("rnn", input, weights, options);
  const Device device = input.x.device();
  const bool projects = weights.weight_hr.defined();

  RnnForward p{s,
               contiguous(input.x),
               contiguous(weights.weight_ih),
               contiguous_or_none(weights.bias_ih),
               contiguous(weights.weight_hh),
               contiguous_or_none(weights.bias_hh),
               contiguous_or_none(weights.weight_hr),
               contiguous_or_none(input.lengths),
               empty({s.steps, s.batch, s.saved_columns()}, DType::f32, device),
               empty({s.steps + 1, s.batch, s.outputs}, DType::f32, device),
               {},
               {},
               save};
  if (s.kind().has_cell_state) p.cells = empty({save ? s.steps + 1 : 1, s.batch, s.hidden}, DType::f32, device);
  if (projects) p.projected = empty({save ? s.steps : 1, s.batch, s.hidden}, DType::f32, device);
  const bool padded = p.lengths.defined();
  const std::int64_t first = s.slot_before(s.step(0)), last = s.slot_after(s.step(s.steps - 1));
  RnnResult result;
  result.y =
      padded ? empty({s.steps, s.batch, s.outputs}, DType::f32, device) : narrow(p.states, 0, s.slot_after(0), s.steps);
  result.h_n = select(p.states, 0, last);
  if (p.cells.defined()) result.c_n = select(p.cells, 0, save ? last : 0);
  if (s.batch == 0) {
    if (save) result.saved = {p.gates, p.states, p.cells, p.projected};
    return result;
  }
  const Choice<RnnForward> choice = choose("rnn_forward", forward_variants, p, device.info());

  set(select(p.states, 0, first), input.h0);
  if (p.cells.defined()) set(select(p.cells, 0, save ? first : 0), input.c0);
  choice.run(p);
  if (padded) mask_outputs(s, narrow(p.states, 0, s.slot_after(0), s.steps), p.lengths, result.y);
  if (save) result.saved = {s.kind().saves_gates ? p.gates : Tensor(), p.states, p.cells, p.projected};
  return result;
}

RnnInputGradients rnn_backward(const RnnOutputGradients& dy, const RnnInput& input, const RnnWeights& weights,
                               const RnnOptions& options, const RnnSaved& saved, const RnnWanted& wanted) {
  const RnnSizes s = check_rnn("rnn_backward", input, weights, options);
  check_rnn_gradients(s, dy, input, weights, saved);
  const Device device = input.x.device();
  RnnBackward p{s,
                contiguous(weights.weight_hh),
                contiguous_or_none(weights.weight_hr),
                contiguous_or_none(input.lengths),
                saved,
                contiguous_or_none(dy.y),
                empty({s.steps, s.batch, s.gate_rows()}, DType::f32, device),
                {},
                {},
                empty({s.batch, s.outputs}, DType::f32, device),
                {}};
  p.drecurrent = s.cell == RnnCell::gru ? empty(p.dinput.shape(), DType::f32, device) : p.dinput;
  if (weights.weight_hr.defined()) p.dprojected = empty({s.steps, s.batch, s.outputs}, DType::f32, device);
  if (s.kind().has_cell_state) p.dc = empty({s.batch, s.hidden}, DType::f32, device);
  if (s.batch > 0) {
    const Choice<RnnBackward> choice = choose("rnn_backward", backward_variants, p, device.info());
    set(p.dh, dy.h_n);
    if (p.dc.defined()) set(p.dc, dy.c_n);
    choice.run(p);
  }
  return finish_backward(s, input, weights, p, wanted);
}

}  // namespace crisol::ops
