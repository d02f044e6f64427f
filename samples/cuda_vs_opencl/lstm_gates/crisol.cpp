#include "crisol_side.h"

namespace twins {

Timed run_crisol(const LstmGates& task) {
  const auto step = crisol::fuse([](const Expr& i, const Expr& f, const Expr& g, const Expr& o, const Expr& cell) {
    const Expr c = sigmoid(f) * cell + sigmoid(i) * tanh(g);
    return std::tuple(sigmoid(o) * tanh(c), c);
  });
  const Tensor gates = crisol::from_vector(task.gates, {task.batch, 4, task.hidden});
  const Tensor cell = crisol::from_vector(task.cell, {task.batch, task.hidden});
  Tensor new_hidden, new_cell;
  const double ms = crisol_time([&] {
    std::tie(new_hidden, new_cell) =
        step(gates.select(1, 0), gates.select(1, 1), gates.select(1, 2), gates.select(1, 3), cell);
  });
  return {crisol::cat({new_hidden.flatten(), new_cell.flatten()}, 0).to_vector<float>(), ms};
}

}  // namespace twins
