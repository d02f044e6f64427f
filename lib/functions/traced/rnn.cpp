// Recurrent layers.
#include "functions/traced/traced.h"

namespace crisol::traced {

void rnn(Trace& trace, const RnnInput& input, const RnnWeights& w, const RnnOptions& options, const RnnOutput& output) {
  std::vector<Value> inputs;
  for (const Tensor& x :
       {input.x, w.weight_ih, w.weight_hh, w.bias_ih, w.bias_hh, w.weight_hr, input.h0, input.c0, input.lengths})
    inputs.push_back(trace.of(x));
  const bool has_cells = options.cell == RnnCell::lstm;
  const std::vector<Value> made = trace.node(
      Op::rnn, inputs, {{"cell", static_cast<std::int64_t>(options.cell)}, {"reverse", options.reverse ? 1 : 0}},
      has_cells ? 3 : 2);
  trace.bind(output.y, made[0]);
  trace.bind(output.h_n, made[1]);
  if (has_cells) trace.bind(output.c_n, made[2]);
}

}  // namespace crisol::traced
