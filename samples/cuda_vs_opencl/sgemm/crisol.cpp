#include "crisol_side.h"

namespace twins {

Timed run_crisol(const Sgemm& task) {
  const Tensor a = crisol::from_vector(task.a, {task.m, task.k}), b = crisol::from_vector(task.b, {task.k, task.n});
  Tensor c;
  const double ms = crisol_time([&] { c = matmul(a, b); });
  return {c.to_vector<float>(), ms};
}

}  // namespace twins
