// Shared by the files that use crisol.
#pragma once

#include <crisol/crisol.h>

#include "stopwatch.h"
#include "tasks.h"

namespace twins {

using crisol::Expr;
using crisol::Tensor;

template <class Run>
double crisol_time(const Run& run) {
  const crisol::NoGrad no_grad;
  return shortest_ms(run, [] { crisol::synchronize(); });
}

Timed run_crisol(const ReluChain& task);
Timed run_crisol(const Sgemm& task);
Timed run_crisol(const Conv3x3& task);
Timed run_crisol(const LstmGates& task);
Timed run_crisol(const SimpleCnn& task);

}  // namespace twins
