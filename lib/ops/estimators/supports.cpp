// Sums over support vectors: cl_kernels/estimators/support_sums.cl.
#include "ops/estimators/supports.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "dispatch/device_defines.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t lanes = 16;

/// Puts the columns of a matrix (rows, columns) into blocks: (blocks, rows, lanes), with zeros after the last column.
std::vector<float> in_blocks(const std::vector<float>& matrix, std::int64_t rows, std::int64_t columns,
                             bool is_transposed) {
  std::vector<float> packed(static_cast<std::size_t>(ceil_div(columns, lanes) * rows * lanes));
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r)
      packed[static_cast<std::size_t>((c / lanes * rows + r) * lanes + c % lanes)] =
          matrix[static_cast<std::size_t>(is_transposed ? c * rows + r : r * columns + c)];
  return packed;
}

}  // namespace

DeviceSupports::DeviceSupports(const Supports& supports, Device device)
    : kernel(supports.kernel),
      gamma(supports.gamma),
      coef0(supports.coef0),
      degree(supports.degree),
      features(supports.features),
      sums(static_cast<std::int64_t>(supports.rho.size())),
      blocks(ceil_div(supports.count, lanes)),
      vectors(from_vector(in_blocks(supports.vectors, features, supports.count, true), device)),
      coefficients(from_vector(in_blocks(supports.coefficients, sums, supports.count, false), device)),
      rho(from_vector(supports.rho, device)) {}

Tensor support_sums(const Tensor& x, const DeviceSupports& supports) {
  constexpr const char* op = "support_sums";
  require_dtype(op, "the input", x, DType::f32);
  require(x.dim() == 2 && x.size(1) == supports.features, op, "the input has shape ", x.shape(), ", (rows, ",
          supports.features, ") expected");
  const std::int64_t rows = x.size(0);
  const Tensor y = empty({rows, supports.sums}, DType::f32, x.device());
  if (rows == 0) return y;
  runtime::DeviceState& device = state_of(x);
  const dispatch::Target target = dispatch::target_of(device);
  const Contiguous from(x);
  const Tensor lost = empty(y.shape(), DType::f32, x.device());
  constexpr std::int64_t rows_at_once = 4;
  const std::int64_t iterations = supports.features + 2 * supports.sums + 2;
  const dispatch::WorkSplit split = split_for(target, rows, 16, rows_at_once, iterations);
  const auto degree = static_cast<std::int64_t>(supports.degree);
  const bool is_small = supports.degree == static_cast<float>(degree) && degree >= 1 && degree <= 3;
  runtime::KernelSpec spec{"estimators/support_sums.cl",
                           "support_sums",
                           {{"KIND", static_cast<std::int64_t>(supports.kernel)},
                            {"DEGREE", is_small ? degree : 0},
                            {"ROWS", target.takes_cpu_kernels() ? rows_at_once : 1}}};
  dispatch::define_math(spec.defines, target.info);
  const runtime::NdRange range = range_of(target, split.items);
  dispatch::in_launches(target, supports.blocks, split.chunk * iterations, [&](std::int64_t begin, std::int64_t end) {
    runtime::launch(device, spec, range, in(from), in(supports.vectors), in(supports.coefficients), in(supports.rho),
                    out(y), out(lost), rows, supports.features, supports.sums, supports.blocks, begin, end,
                    supports.gamma, supports.coef0, supports.degree, split.chunk);
  });
  return y;
}

}  // namespace crisol::ops
