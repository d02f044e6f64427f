#include "ops/decompose/jacobi.h"

#include <cmath>

#include "crisol/dtype_table.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "decompose/parameters.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

// Random matrices take 6 sweeps (n = 8), 9 (n = 64) and 12 (n = 256). The last of these finds nothing to rotate.
constexpr std::int64_t max_sweeps = 24;

// Products below this factor of the norms count as 0, because a product of two long rows has an error of this size.
runtime::KernelArg tolerance_of(DType type) {
  const double tolerance = 4 * epsilon_of(type);
  if (type == DType::f32) return static_cast<float>(tolerance);
  return runtime::KernelArg::of_f64(tolerance);
}

}  // namespace

RowSharing sharing_of_pairs(const MatrixRows& rows) {
  return sharing_of(dispatch::target_of(state_of(rows.x)), rows.x.dtype(), rows.batch(), ceil_div(rows.count(), 2),
                    rows.length());
}

Tensor rotate_rows(const MatrixRows& rows, bool symmetric, const RowSharing& sharing) {
  runtime::DeviceState& device = state_of(rows.x);
  const Target target = dispatch::target_of(device);
  const RowGeometry& g = sharing.geometry;
  const std::int64_t batch = rows.batch(), n = rows.count(), chunks = rows.length() / g.lanes,
                     w_chunks = rows.start() / g.lanes, pairs = ceil_div(n, 2), rounds = 2 * pairs - 1;
  runtime::Defines defines = row_defines(target, g);
  defines.add({"SYMMETRIC", symmetric ? 1 : 0});
  define_real(defines, rows.x.dtype());
  runtime::BuiltKernel& kernel = runtime::resolve(device, {"decompose/jacobi.cl", "jacobi_rounds", defines});
  runtime::BuiltKernel& last = runtime::resolve(device, {"decompose/jacobi.cl", "jacobi_values", defines});
  const Tensor moved = zeros({batch, max_sweeps}, DType::i32, rows.x.device());
  const Tensor values = empty({batch, n}, rows.x.dtype(), rows.x.device());
  // The root mean square of the rows' norms. No eigenvalue's magnitude is larger than this by more than a factor of
  // sqrt(n).
  const Tensor norms = div(norm(narrow(rows.x, 2, 0, rows.m), 2, {1, 2}), std::sqrt(static_cast<double>(n)));
  const kernels::JacobiParameters sizes{
      .matrices = batch, .slots = sharing.slots, .n = n, .w_chunks = w_chunks, .chunks = chunks, .sweeps = max_sweeps};
  const std::int64_t iterations = pairs * (ceil_div(w_chunks, g.group) + ceil_div(chunks, g.group) + 8);
  in_steps(target, sharing, rounds * max_sweeps, iterations, [&](std::int64_t begin, std::int64_t end) {
    runtime::launch(device, kernel, g.range(batch * sharing.slots), out(rows.x), in(norms), out(moved),
                    struct_arg(sizes), tolerance_of(rows.x.dtype()), begin, end);
  });
  runtime::launch(device, last, g.range(batch * n), out(rows.x), in(rows.scales), out(values), batch * n, n, w_chunks,
                  chunks);
  return values;
}

Tensor in_order(const Tensor& vectors, const Tensor& order) {
  return gather(vectors, 1, expand(unsqueeze(order, 2), vectors.shape()));
}

}  // namespace crisol::ops
