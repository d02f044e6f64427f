// Matrix products on matrix units.
#pragma once

#include "ops/product/gemm.h"
#include "ops/product/matrix_plan.h"

namespace crisol::ops {

MatrixWork work_of(const Gemm& problem);

/// Why no kernel on matrix units takes the product, or nullptr.
const char* refuse_matrix_unit(const Gemm& problem, const DeviceInfo& info);

const char* refuse_gemm_matrix(const Gemm& problem, const DeviceInfo& info);
void run_gemm_matrix(const Gemm& problem);
/// A tile, and parts of the depth: "64x64", "64x64/4".
extern const Settings<Gemm> matrix_settings;
/// The same with a plan of the caller's.
void run_gemm_matrix(const Gemm& problem, const MatrixPlan& plan);

}  // namespace crisol::ops
