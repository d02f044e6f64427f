// QR by Householder's reflections: cl_kernels/decompose/householder.cl.
#include <algorithm>

#include "crisol/ops/copy.h"
#include "crisol/ops/decompose.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/triangle.h"
#include "crisol/ops/view.h"
#include "decompose/parameters.h"
#include "dispatch/work_split.h"
#include "ops/decompose/check.h"
#include "ops/decompose/householder.h"
#include "ops/result.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

runtime::BuiltKernel& kernel_of(const Target& target, runtime::DeviceState& device, const RowGeometry& g, DType type,
                                const char* entry) {
  runtime::Defines defines = row_defines(target, g);
  define_real(defines, type);
  return runtime::resolve(device, {"decompose/householder.cl", entry, defines});
}

}  // namespace

Reflections reflect(const MatrixRows& rows, const RowSharing& sharing) {
  runtime::DeviceState& device = state_of(rows.x);
  const Target target = dispatch::target_of(device);
  const RowGeometry& g = sharing.geometry;
  const std::int64_t n = rows.count(), steps = std::min(rows.m, n), chunks = rows.length() / g.lanes;
  const Reflections made{rows, g, empty({rows.batch(), steps}, rows.x.dtype(), rows.x.device())};
  runtime::BuiltKernel& kernel = kernel_of(target, device, g, rows.x.dtype(), "householder_steps");
  // Wide matrices have further columns after the last reflection.
  const std::int64_t all = steps < n ? steps + 1 : steps;
  in_steps(target, sharing, all, n * (2 * ceil_div(chunks, g.group) + 8), [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t slots = std::clamp<std::int64_t>(n - begin, 1, sharing.slots);
    const kernels::ReflectionParameters sizes{
        .matrices = rows.batch(), .slots = slots, .n = n, .steps = steps, .chunks = chunks};
    runtime::launch(device, kernel, g.range(rows.batch() * slots), out(rows.x), out(made.taus), struct_arg(sizes),
                    begin, end);
  });
  return made;
}

Tensor columns_of(const Reflections& reflections, std::int64_t columns) {
  const MatrixRows& rows = reflections.rows;
  runtime::DeviceState& device = state_of(rows.x);
  const Target target = dispatch::target_of(device);
  const RowGeometry& g = reflections.geometry;
  const std::int64_t steps = reflections.taus.size(1), chunks = rows.length() / g.lanes;
  const Tensor q = empty({rows.batch(), columns, rows.length()}, rows.x.dtype(), rows.x.device());
  if (q.numel() == 0) return narrow(q, 2, 0, rows.m);
  runtime::BuiltKernel& kernel = kernel_of(target, device, g, rows.x.dtype(), "householder_columns");
  const kernels::ReflectionParameters sizes{
      .matrices = rows.batch(), .slots = columns, .n = rows.count(), .steps = steps, .chunks = chunks};
  in_launches(target, steps, 2 * ceil_div(chunks, g.group) + 8, [&](std::int64_t begin, std::int64_t end) {
    runtime::launch(device, kernel, g.range(rows.batch() * columns), in(rows.x), in(reflections.taus), out(q),
                    struct_arg(sizes), begin, end);
  });
  return narrow(q, 2, 0, rows.m);
}

QrResult qr(const Tensor& x, bool complete) {
  require_matrices("qr", x);
  const std::int64_t m = x.size(-2), n = x.size(-1), steps = std::min(m, n), kept = complete ? m : steps;
  const Tensor columns = batch_of(x, true);
  if (x.numel() == 0) {
    const Tensor unit = eye(m, kept, columns.dtype(), x.device());
    return {like_batch(expand(unit, {columns.size(0), m, kept}), x),
            like_batch(zeros({columns.size(0), kept, n}, columns.dtype(), x.device()), x)};
  }
  const MatrixRows rows = load_rows(columns, false);
  const Target target = dispatch::target_of(state_of(x));
  const Reflections made = reflect(rows, sharing_of(target, rows.x.dtype(), rows.batch(), n, rows.length()));
  const Tensor r = triu(transpose(narrow(rows.x, 2, 0, kept), 1, 2));
  return {like_batch(transpose(columns_of(made, kept), 1, 2), x),
          like_batch(mul(r, reshape(rows.scales, {rows.batch(), 1, 1})), x)};
}

void qr_into(const Tensor& q, const Tensor& r, const Tensor& x, bool complete) {
  deliver("qr", {&q, &r}, {&x}, [&] {
    const QrResult made = qr(x, complete);
    return std::array{made.q, made.r};
  });
}

}  // namespace crisol::ops
