#include "ops/decompose/rows.h"

#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/triangle.h"
#include "crisol/ops/view.h"
#include "decompose/sizes.h"
#include "ops/product/leading_axes.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

std::int64_t aligned(std::int64_t elements) { return ceil_div(elements, ROW_ALIGNMENT) * ROW_ALIGNMENT; }

}  // namespace

std::int64_t MatrixRows::start() const { return aligned(m); }

MatrixRows load_rows(const Tensor& matrices, bool with_unit, bool symmetric) {
  const std::int64_t batch = matrices.size(0), n = matrices.size(1), m = matrices.size(2);
  runtime::DeviceState& device = state_of(matrices);
  const Tensor largest = max(abs(symmetric ? tril(matrices) : matrices), {1, 2});
  const std::int64_t start = aligned(m), length = start + (with_unit ? aligned(n) : 0);
  const MatrixRows rows{empty({batch, n, length}, matrices.dtype(), matrices.device()),
                        empty({batch}, matrices.dtype(), matrices.device()), m};
  runtime::Defines defines{{"SYMMETRIC", symmetric ? 1 : 0}};
  define_real(defines, matrices.dtype());
  runtime::launch(device, {"decompose/load.cl", "load_rows", defines}, runtime::flat_range(device, rows.x.numel()),
                  in(matrices), in(largest), out(rows.x), out(rows.scales), rows.x.numel(), n, m, start, length);
  return rows;
}

RowSharing sharing_of(const Target& target, DType type, std::int64_t matrices, std::int64_t units,
                      std::int64_t length) {
  const RowGeometry alone = type == DType::f32 ? vector_rows(target) : RowGeometry{1, 1, 1};
  const std::int64_t iterations = 2 * (length / alone.lanes + 8);
  if (!target.takes_cpu_kernels() || iterations > target.loop_budget) {
    require_tree_rows({matrices, length, 1, static_cast<std::int64_t>(type)}, target);
    return {tree_rows(target), std::max<std::int64_t>(1, units)};
  }
  // A launch takes about 10 µs. In this time a core processes about 10,000 elements.
  const std::int64_t cores = target.info.compute_units, fewest = 1 + units * iterations / target.loop_budget;
  const bool shared = fewest > 1 || (matrices < 2 * cores && units * length > (1 << 15));
  return {alone, shared ? std::clamp(units, fewest, std::max(fewest, 4 * cores)) : 1};
}

Tensor batch_of(const Tensor& x, bool transposed) {
  const Tensor matrices = transposed ? transpose(x, -1, -2) : x;
  return reshape(contiguous(cast(matrices, promote_types(x.dtype(), DType::f32))),
                 {leading_axes(x.shape()).numel(), matrices.size(-2), matrices.size(-1)});
}

Tensor like_batch(const Tensor& y, const Tensor& x) {
  Shape shape = leading_axes(x.shape());
  for (int i = 1; i < y.dim(); ++i) shape.push_back(y.size(i));
  return cast(reshape(contiguous(y), shape), x.dtype());
}

}  // namespace crisol::ops
