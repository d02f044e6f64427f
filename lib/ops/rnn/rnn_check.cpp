#include "ops/rnn/rnn_check.h"

#include "ops/check.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

// Checks an operand that may be absent.
void check_operand(const char* op, const char* name, const Tensor& x, const Tensor& operand, const Shape& shape) {
  if (operand.defined()) require_operand(op, "the input", x, name, operand, shape, x.dtype());
}

// Checks what a forward pass saved, which is f32.
void check_saved(const char* op, const char* name, const Tensor& x, const Tensor& saved, const Shape& shape) {
  if (saved.defined()) require_operand(op, "the input", x, name, saved, shape);
}

void check_weights(const char* op, const Tensor& x, const RnnWeights& w, const RnnSizes& s) {
  const std::int64_t rows = s.gate_rows();
  require_operand(op, "the input", x, "weight_ih", w.weight_ih, {rows, s.inputs}, x.dtype());
  require_operand(op, "the input", x, "weight_hh", w.weight_hh, {rows, s.outputs}, x.dtype());
  require(w.bias_ih.defined() == w.bias_hh.defined(), op, w.bias_ih.defined() ? "bias_hh" : "bias_ih",
          " is missing: both biases must be given or none");
  check_operand(op, "bias_ih", x, w.bias_ih, {rows});
  check_operand(op, "bias_hh", x, w.bias_hh, {rows});
  check_operand(op, "weight_hr", x, w.weight_hr, {s.outputs, s.hidden});
}

}  // namespace

RnnSizes check_rnn(const char* op, const RnnInput& input, const RnnWeights& w, const RnnOptions& options) {
  const Tensor& x = input.x;
  require(x.defined(), op, "the input is undefined");
  require_floating(op, "the input", x);
  require(x.dim() == 3, op, "the input must have 3 axes (steps, batch, size), its shape is ", x.shape());
  require(w.weight_ih.defined() && w.weight_hh.defined(), op, w.weight_ih.defined() ? "weight_hh" : "weight_ih",
          " is undefined");
  require(w.weight_hh.dim() == 2, op, "weight_hh must have 2 axes, its shape is ", w.weight_hh.shape());
  const bool projects = w.weight_hr.defined();
  require(!projects || (options.cell == RnnCell::lstm && w.weight_hr.dim() == 2), op,
          "weight_hr must have 2 axes and belong to an LSTM; its shape is ", projects ? w.weight_hr.shape() : Shape(),
          ", the cell ", name_of(options.cell));
  const std::int64_t gates = gates_of(options.cell);
  RnnSizes s{static_cast<std::int64_t>(options.cell),
             options.reverse ? 1 : 0,
             x.size(0),
             x.size(1),
             x.size(2),
             w.weight_hh.size(0) / gates,
             projects ? w.weight_hr.size(0) : w.weight_hh.size(0) / gates};
  require(s.steps > 0, op, "the input has ", s.steps, " steps, there must be at least 1");
  require(s.hidden > 0 && s.outputs > 0, op, "weight_hh of shape ", w.weight_hh.shape(), " is too small for ", gates,
          " gates");
  require(s.outputs <= s.hidden, op, "weight_hr has ", s.outputs, " rows, there are ", s.hidden, " hidden units");
  check_weights(op, x, w, s);
  check_operand(op, "h0", x, input.h0, {s.batch, s.outputs});
  require(s.kind().has_cell_state || !input.c0.defined(), op, "c0 is given, ", name_of(options.cell),
          " has no cell state");
  check_operand(op, "c0", x, input.c0, {s.batch, s.hidden});
  if (input.lengths.defined()) {
    require_dtype(op, "lengths", input.lengths, DType::i64);
    require_shape(op, "lengths", input.lengths, {s.batch});
    require_device(op, "the input", x, "lengths", input.lengths);
  }
  return s;
}

void check_rnn_gradients(const char* op, const RnnSizes& s, const RnnOutputGradients& dy, const RnnInput& input,
                         const RnnWeights& weights, const RnnSaved& saved) {
  const Tensor& x = input.x;
  check_operand(op, "the gradient of y", x, dy.y, {s.steps, s.batch, s.outputs});
  check_operand(op, "the gradient of h_n", x, dy.h_n, {s.batch, s.outputs});
  require(s.kind().has_cell_state || !dy.c_n.defined(), op, "a gradient of c_n is given, ", s.kind().name,
          " has no cell state");
  check_operand(op, "the gradient of c_n", x, dy.c_n, {s.batch, s.hidden});
  require(saved.states.defined() && (saved.gates.defined() || !s.kind().saves_gates) &&
              (saved.cells.defined() || !s.kind().has_cell_state) &&
              (saved.projected.defined() || !weights.weight_hr.defined()),
          op, "what the forward saved is missing: it ran without save, or with another cell");
  check_saved(op, "what was saved of the gates", x, saved.gates, {s.steps, s.batch, s.saved_columns()});
  check_saved(op, "what was saved of the states", x, saved.states, {s.steps + 1, s.batch, s.outputs});
  check_saved(op, "what was saved of the cells", x, saved.cells, {s.steps + 1, s.batch, s.hidden});
  check_saved(op, "what was saved before weight_hr", x, saved.projected, {s.steps, s.batch, s.hidden});
}

}  // namespace crisol::ops

namespace crisol {

const char* name_of(RnnCell cell) noexcept { return ops::kind_of(cell).name; }

std::int64_t gates_of(RnnCell cell) noexcept { return ops::kind_of(cell).gates; }

}  // namespace crisol
