// A recurrent layer step by step, on every device: a product, then one launch for all that a step does elementwise.
#include "ops/product/gemm.h"
#include "ops/rnn/rnn_problem.h"
#include "runtime/moved.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

void run_rnn_forward_steps(const RnnForward& p) {
  const RnnSizes& s = p.sizes;
  runtime::DeviceState& device = state_of(p.gates);
  runtime::Kernel& step = rnn_kernel(device, s.cell, "rnn/rnn_steps.cl", "rnn_step_forward");
  const bool in_place = p.cells.defined() && p.cells.size(0) == 1;
  const bool projected = p.projected.defined();
  const std::int32_t flags = flags_of(p);
  const Tensor recurrent = empty({s.batch, s.gate_rows()}, DType::f32, p.gates.device());
  const runtime::BufferView gates = out(p.gates), states = out(p.states), products = out(recurrent);
  const runtime::BufferView cells = p.cells.defined() ? out(p.cells) : states;
  const runtime::BufferView unprojected = projected ? out(p.projected) : states;
  const std::int64_t cell_slot = in_place ? 0 : s.batch * s.hidden;
  multiply_input(p);
  for (std::int64_t n = 0; n < s.steps; ++n) {
    const std::int64_t t = s.step(n);
    const runtime::BufferView before = moved(states, s.slot_before(t) * s.batch * s.outputs);
    const runtime::BufferView after = moved(states, s.slot_after(t) * s.batch * s.outputs);
    const runtime::BufferView to_project =
        moved(unprojected, projected && p.projected.size(0) > 1 ? t * s.batch * s.hidden : 0);
    gemm({device,
          s.batch,
          s.gate_rows(),
          s.outputs,
          1,
          {before, s.outputs, 1},
          {in(p.weight_hh), 1, s.outputs},
          {products, s.gate_rows(), 1}});
    runtime::launch(device, step, runtime::flat_range(device, s.batch * s.hidden),
                    moved(gates, t * s.batch * s.saved_columns()), products, in(defined_or(p.bias_hh, p.gates)), before,
                    after, moved(cells, s.slot_before(t) * cell_slot), moved(cells, s.slot_after(t) * cell_slot),
                    to_project, in(defined_or(p.lengths, p.gates)), s.batch, s.hidden, s.outputs, t, flags);
    if (projected)
      gemm({device,
            s.batch,
            s.outputs,
            s.hidden,
            1,
            {to_project, s.hidden, 1},
            {in(p.weight_hr), 1, s.hidden},
            {after, s.outputs, 1},
            add_to_c});
  }
}

void run_rnn_backward_steps(const RnnBackward& p) {
  const RnnSizes& s = p.sizes;
  runtime::DeviceState& device = state_of(p.dinput);
  runtime::Kernel& step = rnn_kernel(device, s.cell, "rnn/rnn_steps.cl", "rnn_step_backward");
  const bool projected = p.dprojected.defined();
  runtime::Kernel* output =
      projected ? &rnn_kernel(device, s.cell, "rnn/rnn_steps.cl", "rnn_output_backward") : nullptr;
  const std::int32_t flags =
      (p.lengths.defined() ? with_lengths : 0) | (projected ? projects : 0) | (p.dy.defined() ? with_dy : 0);
  const Tensor unprojected = projected ? empty({s.batch, s.hidden}, DType::f32, p.dinput.device()) : p.dh;
  const runtime::BufferView dinput = out(p.dinput), drecurrent = out(p.drecurrent), dh = out(p.dh);
  const runtime::BufferView dc = p.dc.defined() ? out(p.dc) : dh, dunprojected = out(unprojected);
  const runtime::BufferView dprojected = projected ? out(p.dprojected) : dh;
  const runtime::BufferView dy = in(defined_or(p.dy, p.dinput)), lengths = in(defined_or(p.lengths, p.dinput));
  const runtime::BufferView gates = in(defined_or(p.saved.gates, p.dinput));
  const Tensor& states = p.saved.cells.defined() ? p.saved.cells : p.saved.states;
  const std::int64_t slot = s.batch * s.hidden, out_slot = s.batch * s.outputs;
  for (std::int64_t n = s.steps - 1; n >= 0; --n) {
    const std::int64_t t = s.step(n);
    const runtime::BufferView dy_now = moved(dy, p.dy.defined() ? t * out_slot : 0);
    const runtime::BufferView dgates = moved(drecurrent, t * s.batch * s.gate_rows());
    if (projected) {
      const runtime::BufferView doutput = moved(dprojected, t * out_slot);
      runtime::launch(device, *output, runtime::flat_range(device, out_slot), dy_now, dh, doutput, lengths, s.batch,
                      s.outputs, t, flags);
      gemm({device,
            s.batch,
            s.hidden,
            s.outputs,
            1,
            {doutput, s.outputs, 1},
            {in(p.weight_hr), s.hidden, 1},
            {dunprojected, s.hidden, 1}});
    }
    runtime::launch(device, step, runtime::flat_range(device, slot),
                    moved(gates, p.saved.gates.defined() ? t * s.batch * s.saved_columns() : 0),
                    moved(in(states), s.slot_before(t) * slot), moved(in(states), s.slot_after(t) * slot), dy_now, dh,
                    dc, dunprojected, moved(dinput, t * s.batch * s.gate_rows()), dgates, lengths, s.batch, s.hidden, t,
                    flags);
    gemm({device,
          s.batch,
          s.outputs,
          s.gate_rows(),
          1,
          {dgates, s.gate_rows(), 1},
          {in(p.weight_hh), s.outputs, 1},
          {dh, s.outputs, 1},
          add_to_c});
  }
}

}  // namespace crisol::ops
