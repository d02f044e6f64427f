// Matrix products: what matmul, linear, convolutions and recurrent layers are made of.
#pragma once

#include <array>
#include <cstdint>

#include "crisol/precision.h"
#include "dispatch/choose.h"
#include "ops/contiguous.h"
#include "ops/product/epilogue_layout.h"
#include "product/parameters.h"
#include "runtime/launch.h"
#include "tensor/impl.h"

namespace crisol::ops {

/// The strides of a batch of matrices. Element (i, j) of matrix p is p * batch + i * row + j * column elements after
/// the first element.
struct MatrixLayout {
  std::int64_t row, column;
  std::int64_t batch = 0;
  std::int64_t offset = 0;  ///< Position of the first element in its buffer, modulo 4.
  std::int64_t type = 0;    ///< The DType of the elements in memory.

  MatrixLayout transposed() const noexcept { return {column, row, batch, offset, type}; }
  kernels::StridedParameters parameters() const noexcept { return {batch, row, column}; }
};

/// The settings that a product takes from the state of the thread.
struct ProductContext {
  std::int64_t precision = 0;  ///< A Precision to which operands may be rounded.
};
/// The context of this thread.
ProductContext product_context();

/// C = f(A·B (+ C) (+ bias)): `batch` products of m x k with k x n matrices. A plan's operands are A, B, C, the bias,
/// and the two operands of the epilogue f. The bias has m or n elements, as the flags say, and is the same for the
/// whole batch. The bias and the operands of f have the type of C. Sums are f32, and are rounded to the type of C once.
/// The plan's scalars are the scalars of f. Every variant runs f.
struct GemmProblem {
  std::int64_t m, n, k;
  std::int64_t batch = 1;
  MatrixLayout a{}, b{}, c{};
  std::int64_t flags = 0;     ///< GemmFlag.
  EpilogueLayout epilogue{};  ///< f without with_relu. It needs contiguous rows of C.
  /// b_is_weight: whether B is a weight. A packed copy of a weight saves time if the weight is used again without a
  /// write. b_kept: whether the weight's owner has the copy, or will keep it in this call.
  std::int64_t b_is_weight = 0, b_kept = 0;
  ProductContext context{};

  /// The types of C, A and B in one number; 0 if all are f32.
  std::int64_t types() const noexcept { return c.type << 16 | a.type << 8 | b.type; }
  Precision precision() const noexcept { return static_cast<Precision>(context.precision); }
  std::int32_t gemm_flags() const noexcept { return static_cast<std::int32_t>(flags); }
  std::int32_t kernel_flags() const noexcept { return gemm_flags() | epilogue_flags(epilogue); }
  /// The arguments of a kernel that computes the whole depth at once.
  kernels::ProductParameters whole() const noexcept { return {m, n, k, k, 1, kernel_flags()}; }
  double multiply_adds() const noexcept {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(batch);
  }
  static constexpr std::uint32_t written_operands = 1u << 2;
  /// Which operands are stored transposed, whether B is a weight, the number of the precision, and types().
  dispatch::ProblemKey key() const {
    const dispatch::ProblemKey key{{"m", m},
                                   {"n", n},
                                   {"k", k},
                                   {"batch", batch},
                                   {"transa", a.column != 1},
                                   {"transb", b.column != 1},
                                   {"transc", c.column != 1},
                                   {"weight", b_is_weight},
                                   {"precision", context.precision}};
    return key.with_types(types());
  }
};

extern const dispatch::Table<GemmProblem> gemm_table;

/// Chooses a plan for a product that is a part of another op's plan. That plan gives the operands to Plan::append() in
/// the order of GemmProblem. The product must not be empty.
dispatch::Choice choose_gemm(const GemmProblem& problem, const dispatch::Target& target);

// ---- Products of buffers ----

struct Matrix {
  runtime::BufferView first;
  std::int64_t row, column;
  std::int64_t batch = 0;
  DType type = DType::f32;

  Matrix transposed() const noexcept { return {first, column, row, batch, type}; }
  MatrixLayout layout() const noexcept {
    return {row, column, batch, static_cast<std::int64_t>(first.offset % 4), static_cast<std::int64_t>(type)};
  }
};

/// A GemmProblem with its operands.
struct Gemm {
  runtime::DeviceState& device;
  std::int64_t m, n, k;
  std::int64_t batch = 1;
  Matrix a, b, c;
  std::int32_t flags = 0;
  runtime::BufferView bias{};
  const ProductEpilogue* epilogue = nullptr;
  Storage* b_storage = nullptr;               ///< The owner of B, if B is a weight.
  std::array<const Contiguous*, 4> copies{};  ///< The copies that operands need. launch_gemm() queues them.
};

/// The problem of a product that has no ProductContext. Its precision is fp32.
GemmProblem problem_of(const Gemm& product);
/// Queues a plan of the product. `b` is B, with its owner if a packed copy may be kept.
void launch_gemm(const dispatch::Prepared& plan, const Gemm& product, const dispatch::OperandView& b);

/// The plan that is chosen for the product, and B for launch_gemm(). The product must not be empty.
struct PreparedGemm {
  dispatch::PreparedPtr plan;
  dispatch::OperandView b;
};
PreparedGemm prepare_gemm(const Gemm& product);

/// Queues the product. One stride of each operand must be 1, except for the variant "plain".
void gemm(const Gemm& product);

// ---- The variants ----

/// Operands of a product's plan, and its epilogue as arguments of a kernel.
struct GemmPlaces {
  dispatch::Place a, b, c, bias, e0, e1;

  EpilogueArgs epilogue(const GemmProblem& problem, dispatch::Place any) const {
    return epilogue_args(problem.epilogue, e0, e1, any);
  }
};
GemmPlaces gemm_places(const GemmProblem& problem);

/// The transposed product: Cᵀ = Bᵀ · Aᵀ. It stores the same values at the same places. A bias of rows becomes a bias of
/// columns.
GemmProblem transposed(const GemmProblem& problem);
GemmPlaces transposed(const GemmPlaces& places);

using PlanGemm = dispatch::PlanOr(const GemmProblem&, const dispatch::Target&, std::size_t config);
PlanGemm plan_gemm_matrix_packed, plan_gemm_matrix, plan_gemm_block;                          // GPUs
PlanGemm plan_gemm_cpu_skinny, plan_gemm_cpu_narrow, plan_gemm_cpu_tiled, plan_gemm_cpu_dot;  // CPUs
PlanGemm plan_gemm_clblast, plan_gemm_plain;                                                  // Any device
std::span<const std::string> block_configs();                                                 // "64x64", "64x64/4"
std::span<const std::string> matrix_configs();                                                // The same.
std::span<const std::string> cpu_tiled_configs();                                             // "wide/512/packed"

}  // namespace crisol::ops
