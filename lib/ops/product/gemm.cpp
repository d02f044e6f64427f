#include "ops/product/gemm.h"

#include "ops/product/cpu/cpu_tiles.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

constexpr Variant<GemmProblem> variants[] = {
    {"matrix_packed", DeviceClass::any, plan_gemm_matrix_packed},
    {"matrix", DeviceClass::any, plan_gemm_matrix, matrix_configs},
    {"block", DeviceClass::gpu, plan_gemm_block, block_configs},
    {"cpu_skinny", DeviceClass::cpu, plan_gemm_cpu_skinny},
    {"cpu_narrow", DeviceClass::cpu, plan_gemm_cpu_narrow},
    {"cpu_tiled", DeviceClass::cpu, plan_gemm_cpu_tiled, cpu_tiled_configs},
    {"cpu_dot", DeviceClass::cpu, plan_gemm_cpu_dot},
    {"clblast", DeviceClass::any, plan_gemm_clblast, nullptr, false, 1, true},
    {"plain", DeviceClass::any, plan_gemm_plain, nullptr, false, 1, false, true}};

}  // namespace

const Table<GemmProblem> gemm_table("matmul", variants);

namespace {

// If an axis has one element, its stride does not matter. Strides that make the matrix contiguous allow more variants.
void tidy_strides(MatrixLayout& of, std::int64_t rows, std::int64_t columns) {
  if (columns <= 1 && of.row != 1) of.column = 1;
  if (rows <= 1 && of.column != 1) of.row = 1;
}

GemmProblem with_tidy_strides(GemmProblem p) {
  tidy_strides(p.a, p.m, p.k);
  tidy_strides(p.b, p.k, p.n);
  tidy_strides(p.c, p.m, p.n);
  return p;
}

// B as an operand. It has its owner if a packed copy of B is kept, or is worth keeping from this call on. On CPUs the
// plan depends on this, so the function also sets it in `p`.
OperandView right_operand(const Gemm& product, GemmProblem& p) {
  if (product.b_storage == nullptr) return product.b.first;
  Storage& owner = *product.b_storage;
  const OperandView b{product.b.first, &owner, owner.version.load(std::memory_order_relaxed)};
  const Target target = target_of(product.device);
  if (!target.takes_cpu_kernels()) return b;
  const std::optional<PackSource> source = b_source(p);
  if (!source || !keeps_copy(b, pack_key(*source, panel_columns(target)))) return product.b.first;
  p.b_kept = 1;
  return b;
}

}  // namespace

ProductContext product_context() { return {static_cast<std::int64_t>(precision())}; }

Choice choose_gemm(const GemmProblem& problem, const Target& target) {
  return choose(gemm_table, with_tidy_strides(problem), target);
}

GemmProblem problem_of(const Gemm& product) {
  return with_tidy_strides({.m = product.m,
                            .n = product.n,
                            .k = product.k,
                            .batch = product.batch,
                            .a = product.a.layout(),
                            .b = product.b.layout(),
                            .c = product.c.layout(),
                            .flags = product.flags,
                            .epilogue = layout_of(product.epilogue),
                            .b_is_weight = product.b_storage != nullptr ? 1 : 0});
}

void launch_gemm(const Prepared& plan, const Gemm& product, const OperandView& b) {
  for (const Contiguous* const copy : product.copies)
    if (copy != nullptr) copy->filled();
  const runtime::BufferView any = product.a.first;
  const bool has_bias = (product.flags & (bias_per_row | bias_per_column)) != 0;
  const ProductEpilogue* const f = product.epilogue;
  const OperandView operands[] = {product.a.first,
                                  b,
                                  product.c.first,
                                  has_bias ? product.bias : any,
                                  epilogue_operand(f, 0, any),
                                  epilogue_operand(f, 1, any)};
  launch(plan, operands, std::array{epilogue_scalars(f)});
}

PreparedGemm prepare_gemm(const Gemm& product) {
  GemmProblem p = problem_of(product);
  p.context = product_context();
  const OperandView b = right_operand(product, p);
  return {prepare(gemm_table, p, product.device), b};
}

void gemm(const Gemm& product) {
  if (product.m == 0 || product.n == 0 || product.batch == 0) return;
  const auto [plan, b] = prepare_gemm(product);
  launch_gemm(*plan, product, b);
}

GemmPlaces gemm_places(const GemmProblem& problem) {
  const auto [a, b, c, bias, e0, e1] = operands<6>();
  const bool has_bias = (problem.flags & (bias_per_row | bias_per_column)) != 0;
  return {a, b, c, has_bias ? bias : a, e0, e1};  // Kernels without a bias do not read the buffer.
}

GemmProblem transposed(const GemmProblem& p) {
  GemmProblem t = p;
  std::swap(t.m, t.n);
  t.a = p.b.transposed();
  t.b = p.a.transposed();
  t.c = p.c.transposed();
  t.b_is_weight = t.b_kept = 0;
  t.flags &= ~(bias_per_row | bias_per_column);
  if ((p.flags & bias_per_row) != 0) t.flags |= bias_per_column;
  if ((p.flags & bias_per_column) != 0) t.flags |= bias_per_row;
  return t;
}

GemmPlaces transposed(const GemmPlaces& places) {
  GemmPlaces swapped = places;
  std::swap(swapped.a, swapped.b);
  return swapped;
}

}  // namespace crisol::ops
