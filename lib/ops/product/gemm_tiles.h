// Only for lib/ops/conv, until it is converted to plans; see tiled_product.h.
#pragma once

#include "ops/product/gemm.h"

namespace crisol::ops {
inline namespace before_plans {

/// Adds what the kernels that store results (cl_kernels/product/target.h) are told: the epilogue, VEC_C, and what the
/// device wants.
void add_result(runtime::KernelSpec& spec, const DeviceInfo& info, const Epilogue* epilogue, int vectors);

/// How a product is cut: `groups` work-groups of local[0] x local[1] items, in all.
struct TileCut {
  int parts;
  std::int64_t part_depth, groups;
  std::int64_t local[2];
};

}  // namespace before_plans
}  // namespace crisol::ops
