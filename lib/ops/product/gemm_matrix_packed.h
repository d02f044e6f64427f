// Large products on matrix units: operands are rounded and packed first, so that tiles copy half as much and in order.
#pragma once

#include "ops/product/gemm.h"
#include "ops/product/matrix_plan.h"

namespace crisol::ops {

const char* refuse_gemm_matrix_packed(const Gemm& problem, const DeviceInfo& info);
/// Bytes of the packed operands.
std::uint64_t packed_workspace(const Gemm& problem, const DeviceInfo& info);
void run_gemm_matrix_packed(const Gemm& problem);
/// The same with a tile of the caller's, as high as wide, whose items copy whole fours of words.
void run_gemm_matrix_packed(const Gemm& problem, const MatrixTile& tile);

}  // namespace crisol::ops
