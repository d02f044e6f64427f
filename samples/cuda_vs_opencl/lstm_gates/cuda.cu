#include "cuda.h"
#include "lstm_gates.cuh"

namespace twins {

Timed run_cuda(const LstmGates& task) {
  const DeviceFloats gates(task.gates), cell(task.cell), new_hidden(task.cell.size()), new_cell(task.cell.size());
  const dim3 block(64, 4), grid(blocks_of(task.hidden, 64), blocks_of(task.batch, 4));
  const double ms = cuda_time([&] {
    lstm_gates<<<grid, block>>>(gates.get(), cell.get(), new_hidden.get(), new_cell.get(), task.batch, task.hidden);
  });
  Floats values = new_hidden.download();
  const Floats cells = new_cell.download();
  values.insert(values.end(), cells.begin(), cells.end());
  return {values, ms};
}

}  // namespace twins
