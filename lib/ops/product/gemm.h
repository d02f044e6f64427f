// Matrix products on raw buffers: what matmul, linear and convolutions are made of.
#pragma once

#include <cstdint>

#include "crisol/precision.h"
#include "dispatch/matrix_unit.h"
#include "dispatch/variant.h"
#include "ops/product/epilogue.h"
#include "runtime/launch.h"
#include "tensor/impl.h"

namespace crisol::ops {

/// A batch of matrices: element (i, j) of matrix p is p * batch + i * row + j * column elements behind `first`.
struct Matrix {
  runtime::BufferView first;
  std::int64_t row, column;
  std::int64_t batch = 0;

  Matrix transposed() const noexcept { return {first, column, row, batch}; }
};

/// What happens to a product on its way to C; the numbers are those of cl_kernels/product/gemm_flags.h.
enum GemmFlag : std::int32_t {
  add_to_c = 1,
  bias_per_row = 2,
  bias_per_column = 4,
  with_relu = 8,
  add_operand = 16,
  with_snippet = 32,
  b_packed = 64,  ///< The last two are the kernels' own.
  gathered = 128,
};

/// C = f(A·B (+ C) (+ bias)): `batch` products of m x k with k x n matrices.
struct Gemm {
  runtime::DeviceState& device;
  std::int64_t m, n, k;
  std::int64_t batch = 1;
  Matrix a, b, c;
  std::int32_t flags = 0;
  runtime::BufferView bias{};  ///< m or n elements, as the flags say; the same for the whole batch.
  /// f, beside with_relu; needs contiguous rows of C.
  const Epilogue* epilogue = nullptr;
  /// The storages of A and B, where they are worth keeping packed copies with: an operand that is used again without
  /// having been written is packed once (see Storage::derived).
  Storage *a_storage = nullptr, *b_storage = nullptr;
  /// What b_storage has for this product; gemm() looks it up.
  DerivedData::Found b_kept{};
  /// What A and B may be rounded to, and what multiplies them then; gemm() asks precision() and the device.
  Precision precision = Precision::fp32;
  MatrixUnit unit{};

  /// Which operands lie transposed, whether B belongs to somebody who keeps packed copies, and the precision's number.
  ProblemKey key() const {
    return {{"m", m},
            {"n", n},
            {"k", k},
            {"batch", batch},
            {"transa", a.column != 1},
            {"transb", b.column != 1},
            {"transc", c.column != 1},
            {"weight", b_storage != nullptr},
            {"precision", static_cast<std::int64_t>(precision)}};
  }
};

/// CPUs, and the simulator Oclgrind, which reports every type: it checks the CPU kernels' accesses in the tests.
inline bool takes_cpu_kernels(const DeviceInfo& info) noexcept {
  return info.type == DeviceType::cpu || info.platform == "Oclgrind";
}

/// Queues the product with the first variant that accepts it. Variants of "matmul": matrix_packed, matrix (matrix
/// units, where the precision allows), clblast and block (GPUs), cpu_skinny, cpu_rows, cpu_tiled, plain. The operands
/// must have one of their strides 1 for any but the last. False where the variant takes no epilogue and the caller has
/// to run it over C.
bool gemm(const Gemm& problem);

const char* refuse_gemm_clblast(const Gemm& problem, const DeviceInfo& info);
void run_gemm_clblast(const Gemm& problem);
const char* refuse_gemm_skinny(const Gemm& problem, const DeviceInfo& info);
void run_gemm_skinny(const Gemm& problem);
const char* refuse_gemm_rows(const Gemm& problem, const DeviceInfo& info);
void run_gemm_rows(const Gemm& problem);
const char* refuse_gemm_tiled(const Gemm& problem, const DeviceInfo& info);
void run_gemm_tiled(const Gemm& problem);
void run_gemm_plain(const Gemm& problem);

}  // namespace crisol::ops
