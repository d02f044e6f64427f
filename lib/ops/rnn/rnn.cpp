// A recurrent layer: checks, the choice of the variant that runs the steps, and the products of backward over all steps
// at once.
#include "crisol/ops/rnn.h"

#include "crisol/ops/copy.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "ops/contiguous.h"
#include "ops/product/with_epilogue.h"
#include "ops/rnn/rnn_check.h"
#include "ops/rnn/rnn_problem.h"
#include "ops/storage.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr Variant<RnnForward> forward_variants[] = {
    {"rows", DeviceClass::cpu, plan_rnn_forward_rows},
    {"persistent_weights", DeviceClass::gpu, plan_rnn_forward_persistent_weights},
    {"persistent_rows", DeviceClass::any, plan_rnn_forward_persistent_rows},
    {"steps", DeviceClass::any, plan_rnn_forward_steps}};
constexpr Variant<RnnBackward> backward_variants[] = {
    {"rows", DeviceClass::cpu, plan_rnn_backward_rows},
    {"persistent_weights", DeviceClass::gpu, plan_rnn_backward_persistent_weights},
    {"persistent_rows", DeviceClass::any, plan_rnn_backward_persistent_rows},
    {"steps", DeviceClass::any, plan_rnn_backward_steps}};
const Table<RnnForward> forward_table("rnn_forward", forward_variants);
const Table<RnnBackward> backward_table("rnn_backward", backward_variants);

Tensor contiguous_or_none(const Tensor& x) { return x.defined() ? contiguous(x) : x; }

/// `wanted`, or `other` if `wanted` is undefined. The plan then does not read it.
template <class Operand>
const Operand& defined_or(const Operand& wanted, const Operand& other) {
  return wanted.defined() ? wanted : other;
}

/// The position of a product's operand, modulo offset_period.
std::int64_t offset_of(const Tensor& x) {
  return x.defined() ? static_cast<std::int64_t>(in(x).offset % offset_period) : 0;
}

// Reshapes (T, B, F) to (T B, F).
Tensor as_rows(const Tensor& x) { return reshape(x, {x.size(0) * x.size(1), x.size(2)}); }

/// The operands of a forward pass. Absent ones are undefined. Biases and initial states have few elements, and kernels
/// read them as f32.
struct Inputs {
  Inputs(const RnnInput& input, const RnnWeights& w)
      : x(input.x),
        h0(input.h0, DType::f32),
        c0(input.c0, DType::f32),
        lengths(input.lengths),
        weight_ih(w.weight_ih),
        weight_hh(w.weight_hh),
        bias_ih(w.bias_ih, DType::f32),
        bias_hh(w.bias_hh, DType::f32),
        weight_hr(w.weight_hr) {}

  const Contiguous x, h0, c0, lengths, weight_ih, weight_hh, bias_ih, bias_hh, weight_hr;
};

RnnProblem problem_of(const RnnSizes& sizes, const Tensor& weight_hh, const Tensor& weight_hr, const Tensor& lengths) {
  return {sizes,
          lengths.defined() ? 1 : 0,
          weight_hr.defined() ? 1 : 0,
          product_context(),
          offset_of(weight_hh),
          offset_of(weight_hr),
          storage_of(weight_hh)};
}

/// The tensors that a forward pass writes. The steps compute with f32, whatever the type of the layer is.
struct Buffers {
  Tensor gates, states, cells, projected;
};

Buffers buffers_of(const RnnSizes& s, bool projects, bool save, Device device) {
  Buffers b{empty({s.steps, s.batch, s.saved_columns()}, DType::f32, device),
            empty({s.steps + 1, s.batch, s.outputs}, DType::f32, device),
            {},
            {}};
  if (s.kind().has_cell_state) b.cells = empty({save ? s.steps + 1 : 1, s.batch, s.hidden}, DType::f32, device);
  if (projects) b.projected = empty({save ? s.steps : 1, s.batch, s.hidden}, DType::f32, device);
  return b;
}

void run_forward(const RnnForward& p, const Inputs& inputs, const Buffers& b, const Tensor& y) {
  const Contiguous& x = inputs.x;
  const PreparedPtr prepared = prepare(forward_table, p, state_of(x.layout()));
  launch(*prepared,
         {in(x), in_with_copies(inputs.weight_ih.filled()), in(defined_or(inputs.bias_ih, x)),
          in_with_copies(inputs.weight_hh.filled()), in(defined_or(inputs.bias_hh, x)),
          in_with_copies(defined_or(inputs.weight_hr, x).filled()), in(defined_or(inputs.lengths, x)), out(b.gates),
          out(b.states), out(defined_or(b.cells, b.states)), out(defined_or(b.projected, b.states)),
          out(p.padded != 0 ? y : b.states), in(defined_or(inputs.h0, x)), in(defined_or(inputs.c0, x))});
}

/// The tensors that a backward pass writes.
struct Gradients {
  Tensor dinput, drecurrent, dprojected, dh, dc;  ///< See RnnBackwardOperands.
};

Gradients gradients_of(const RnnSizes& s, bool projects, Device device) {
  Gradients g{empty({s.steps, s.batch, s.gate_rows()}, DType::f32, device),
              {},
              {},
              empty({s.batch, s.outputs}, DType::f32, device),
              {}};
  const bool gru = s.cell == static_cast<std::int64_t>(RnnCell::gru);
  g.drecurrent = gru ? empty(g.dinput.shape(), DType::f32, device) : g.dinput;
  if (projects) g.dprojected = empty({s.steps, s.batch, s.outputs}, DType::f32, device);
  if (s.kind().has_cell_state) g.dc = empty({s.batch, s.hidden}, DType::f32, device);
  return g;
}

void run_backward(const RnnSizes& s, const RnnOutputGradients& dy, const RnnInput& input, const RnnWeights& weights,
                  const RnnSaved& saved, const Gradients& g) {
  const Tensor weight_hh = contiguous(weights.weight_hh), weight_hr = contiguous_or_none(weights.weight_hr);
  const Tensor lengths = contiguous_or_none(input.lengths), dy_y = contiguous_or_none(dy.y);
  const RnnBackward p{problem_of(s, weight_hh, weight_hr, lengths), dy_y.defined() ? 1 : 0, dy.h_n.defined() ? 1 : 0,
                      dy.c_n.defined() ? 1 : 0};
  const PreparedPtr prepared = prepare(backward_table, p, state_of(g.dinput));
  if (p.has_dh_n != 0) copy_into(g.dh, dy.h_n);
  if (p.has_dc_n != 0) copy_into(g.dc, dy.c_n);
  launch(*prepared, {in_with_copies(weight_hh), in_with_copies(defined_or(weight_hr, weight_hh)),
                     in(defined_or(lengths, g.dinput)), in(defined_or(saved.gates, g.dinput)),
                     in(defined_or(saved.cells, saved.states)), in(defined_or(dy_y, g.dinput)), out(g.dinput),
                     out(g.drecurrent), out(defined_or(g.dprojected, g.dh)), out(g.dh), out(defined_or(g.dc, g.dh))});
}

/// x (T, B, F) with zeros after the end of each sequence. The padding may hold NaN, and NaN times a gradient of 0 is
/// NaN.
Tensor without_padding(const Tensor& x, const Tensor& lengths) {
  const Tensor all = contiguous(x);
  if (!lengths.defined() || x.numel() == 0) return all;
  const Tensor ends = contiguous(lengths), y = empty(x.shape(), x.dtype(), x.device());
  runtime::DeviceState& device = state_of(x);
  runtime::KernelSpec kernel{"rnn/rnn_outputs.cl", "rnn_outputs", elements_of(storage_of(x))};
  define_type(kernel.defines, "SOURCE", storage_of(x));
  runtime::launch(device, kernel, runtime::flat_range(device, x.numel()), in(all), in(ends), out(y), x.numel(),
                  x.size(1), x.size(2));
  return y;
}

RnnInputGradients finish_backward(const RnnSizes& s, const RnnInput& input, const RnnWeights& weights,
                                  const RnnSaved& saved, const Gradients& from, const RnnWanted& wanted) {
  RnnInputGradients g;
  const DType type = input.x.dtype();
  const auto product = [type](const Tensor& a, const Tensor& b) { return matmul_as(a, b, type); };
  const Tensor dinput = as_rows(from.dinput), drecurrent = as_rows(from.drecurrent);
  if (wanted.x) g.x = reshape(product(dinput, weights.weight_ih), input.x.shape());
  if (wanted.h0) g.h0 = cast(from.dh, type);
  if (wanted.c0 && from.dc.defined()) g.c0 = cast(from.dc, type);
  if (wanted.weight_ih) {
    const Tensor x = without_padding(input.x, input.lengths);
    g.weights.weight_ih = product(transpose(dinput, 0, 1), as_rows(x));
  }
  if (wanted.weight_hh) {
    const Tensor before = as_rows(narrow(saved.states, 0, s.slot_before(0), s.steps));
    g.weights.weight_hh = product(transpose(drecurrent, 0, 1), before);
  }
  if (wanted.bias_ih && weights.bias_ih.defined()) g.weights.bias_ih = cast(sum(dinput, {0}), type);
  if (wanted.bias_hh && weights.bias_hh.defined()) g.weights.bias_hh = cast(sum(drecurrent, {0}), type);
  if (wanted.weight_hr && weights.weight_hr.defined())
    g.weights.weight_hr =
        product(transpose(as_rows(from.dprojected), 0, 1), as_rows(without_padding(saved.projected, input.lengths)));
  return g;
}

/// Results in the type of the layer. Without lengths, kernels leave them in the states, which are f32.
RnnResult in_type(RnnResult result, DType type) {
  for (Tensor* const each : {&result.y, &result.h_n, &result.c_n})
    if (each->defined()) *each = cast(*each, type);
  return result;
}

}  // namespace

RnnResult rnn_forward(const RnnInput& input, const RnnWeights& weights, const RnnOptions& options, bool save) {
  const RnnSizes s = check_rnn(forward_table.op, input, weights, options);
  require_storage(forward_table.op, "the input", input.x);
  const Device device = input.x.device();
  const Inputs inputs(input, weights);
  const bool projects = weights.weight_hr.defined(), padded = input.lengths.defined();
  const Buffers b = buffers_of(s, projects, save, device);
  const std::int64_t last = s.slot_after(s.step(s.steps - 1));
  RnnResult result;
  const DType type = input.x.dtype();
  result.y =
      padded ? empty({s.steps, s.batch, s.outputs}, type, device) : narrow(b.states, 0, s.slot_after(0), s.steps);
  result.h_n = select(b.states, 0, last);
  if (b.cells.defined()) result.c_n = select(b.cells, 0, save ? last : 0);
  if (save) result.saved = {s.kind().saves_gates ? b.gates : Tensor(), b.states, b.cells, b.projected};
  if (s.batch == 0) return in_type(result, type);
  const RnnForward p{problem_of(s, inputs.weight_hh.layout(), inputs.weight_hr.layout(), inputs.lengths.layout()),
                     offset_of(inputs.x.layout()),
                     offset_of(inputs.weight_ih.layout()),
                     inputs.bias_hh.defined() ? 1 : 0,
                     save ? 1 : 0,
                     inputs.h0.defined() ? 1 : 0,
                     inputs.c0.defined() ? 1 : 0};
  run_forward(p, inputs, b, result.y);
  return in_type(result, type);
}

RnnInputGradients rnn_backward(const RnnOutputGradients& dy, const RnnInput& input, const RnnWeights& weights,
                               const RnnOptions& options, const RnnSaved& saved, const RnnWanted& wanted) {
  const char* const op = backward_table.op;
  const RnnSizes s = check_rnn(op, input, weights, options);
  require_storage(op, "the input", input.x);
  check_rnn_gradients(op, s, dy, input, weights, saved);
  const Gradients g = gradients_of(s, weights.weight_hr.defined(), input.x.device());
  if (s.batch > 0) run_backward(s, dy, input, weights, saved, g);
  return finish_backward(s, input, weights, saved, g, wanted);
}

}  // namespace crisol::ops
