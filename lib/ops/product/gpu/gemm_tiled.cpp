#include "ops/product/gpu/gemm_tiled.h"

#include <limits>
#include <string>
#include <vector>

#include "ops/product/gpu/tile_configs.h"
#include "ops/product/indices.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

constexpr std::int64_t max_leading_dimension = std::int64_t{1} << 22;  // Bytes within a tile are counted in 32 bits.

bool has_unit_stride(const MatrixLayout& matrix) { return matrix.row == 1 || matrix.column == 1; }

bool is_near(const OperandLayout& operand) {
  return operand.leading_dimension >= 0 && operand.leading_dimension <= max_leading_dimension;
}

int vectors_of(const PlacedGemm& p) { return p.a().vectors && p.b().vectors ? 4 : 1; }

int split_limit(const PlacedGemm& p, const Target& target) { return max_split_k(target, 4 * p.extent().results(), 0); }

// The number of results that are stored at a time when the sums of parts go to a workspace.
int part_vectors(const GemmProblem& p) { return is_multiple(p.n) ? 4 : is_multiple(p.n, 2) ? 2 : 1; }

PlanOr plan_of(const PlacedGemm& p, const Target& target, const Engine& engine, const TilePlan& cut) {
  if (cut.groups > engine.max_groups()) return "too many tiles";
  Plan plan;
  plan.estimate = engine.cost(cut, p.extent(), target);
  add_tiled_product(plan, target, engine, cut, p);
  return plan;
}

// Makes the plan for one tile and one split_k.
PlanOr plan_configured(const PlacedGemm& p, const Target& target, const Engine& engine, const TileShape& tile,
                       int split_k) {
  if (split_k > 1 && split_k > split_limit(p, target)) return too_much_for_parts;
  const TilePlan cut = cut_tiles(engine, tile, p.extent(), split_k);
  if (cut.split_k != split_k) return too_small_for_parts;
  return plan_of(p, target, engine, cut);
}

}  // namespace

OperandLayout operand_layout(const MatrixLayout& matrix, std::int64_t rows, std::int64_t depth) {
  const auto layout = [&](bool along_depth, std::int64_t leading_dimension) {
    return OperandLayout{along_depth, leading_dimension,
                         is_multiple(along_depth ? depth : rows) && is_multiple(leading_dimension) &&
                             is_multiple(matrix.batch) && matrix.offset == 0};
  };
  if (matrix.column != 1) return layout(false, matrix.column);
  const OperandLayout deep = layout(true, matrix.row);
  if (deep.vectors || matrix.row != 1) return deep;
  return layout(false, matrix.column);
}

int PlacedGemm::result_vectors() const {
  const GemmProblem& p = problem;
  for (const int count : {4, 2})
    if (p.c.column == 1 && is_multiple(p.n, count) && is_multiple(p.c.row, count) && is_multiple(p.c.batch, count) &&
        is_multiple(p.c.offset, count) && reads_vectors(p.epilogue, count))
      return count;
  return 1;
}

PlacedGemm as_row_major(const GemmProblem& p) {
  const GemmPlaces at = gemm_places(p);
  if (p.c.column == 1 || p.c.row != 1 || !p.epilogue.empty()) return {p, at};
  return {transposed(p), transposed(at)};
}

const char* against_tiled_operands(const GemmProblem& problem) {
  if (problem.k == 0) return "the depth is 0";
  if (!has_unit_stride(problem.a) || !has_unit_stride(problem.b)) return "neither stride of an operand is 1";
  const PlacedGemm p = as_row_major(problem);
  if (!is_near(p.a()) || !is_near(p.b())) return "the rows of an operand lie too far apart";
  return problem.k > std::numeric_limits<std::int32_t>::max() / 2 ? "too deep" : nullptr;
}

void add_tiled_product(Plan& plan, const Target& target, const Engine& engine, const TilePlan& cut,
                       const PlacedGemm& product) {
  const GemmProblem& p = product.problem;
  const GemmPlaces& at = product.at;
  const OperandLayout a = product.a(), b = product.b();
  const bool is_split = cut.split_k > 1;
  const std::int64_t size = p.m * p.n;
  const int stored = product.result_vectors();

  runtime::KernelSpec spec{"product/gpu/gemm_tiled.cl", "gemm_tiled"};
  engine.define(spec, cut.tile, target);
  spec.defines.add({"A_ALONG_K", a.along_depth ? 1 : 0});
  spec.defines.add({"B_ALONG_K", b.along_depth ? 1 : 0});
  spec.defines.add({"VEC", vectors_of(product)});
  define_storage(spec.defines, "A_STORAGE", p.a.type);
  define_storage(spec.defines, "B_STORAGE", p.b.type);
  define_result(spec, target, is_split ? EpilogueLayout() : p.epilogue,
                std::min(engine.result_run(), is_split ? part_vectors(p) : stored), is_split ? 0 : p.c.type);

  const EpilogueArgs e = at.epilogue(p, at.a);
  const std::int32_t flags = p.gemm_flags() | epilogue_flags(p.epilogue);
  const Place parts = is_split ? plan.workspace(static_cast<std::uint64_t>(4 * size * p.batch * cut.split_k)) : at.c;
  const MatrixLayout c = is_split ? MatrixLayout{p.n, 1, size * cut.split_k} : p.c;
  plan.add(spec, range_of(engine, cut), at.a, at.b, parts, at.bias, e,
           kernels::ProductParameters{p.m, p.n, p.k, cut.part_depth, cut.split_k, is_split ? 0 : flags},
           kernels::MatrixParameters{p.a.batch, a.leading_dimension},
           kernels::MatrixParameters{p.b.batch, b.leading_dimension},
           kernels::ResultParameters{c.batch, c.row, c.column, size});
  if (!is_split) return;
  add_parts_sum(plan, target,
                {.parts = parts,
                 .c = at.c,
                 .bias = at.bias,
                 .m = p.m,
                 .n = p.n,
                 .batch = p.batch,
                 .c_batch = p.c.batch,
                 .c_row = p.c.row,
                 .c_column = p.c.column,
                 .c_type = p.c.type,
                 .split_k = cut.split_k,
                 .flags = flags,
                 .epilogue = p.epilogue,
                 .args = e,
                 .vectors = stored});
}

namespace {

// Makes the plan on an engine. A configuration is one of the named tiles and a split_k. The engine has only some of
// these tiles.
PlanOr plan_on(const Engine& engine, std::span<const TileShape> named, const GemmProblem& problem, const Target& target,
               std::size_t config) {
  const PlacedGemm p = as_row_major(problem);
  if (const char* reason = engine.against(p.extent(), target)) return reason;
  if (const char* reason = against_tiles(engine, target)) return reason;
  if (const char* reason = against_tiled_operands(problem)) return reason;
  const int vectors = vectors_of(p);
  if (config == own_config)
    return plan_of(p, target, engine, plan_tiles(engine, target, p.extent(), vectors, split_limit(p, target)));
  const TileConfig chosen(config);
  const TileShape* const tile = tile_like(named[chosen.tile], engine.tiles());
  if (tile == nullptr) return no_such_tile;
  if (const char* reason = engine.against_tile(*tile, target, vectors)) return reason;
  return plan_configured(p, target, engine, *tile, chosen.split_k);
}

}  // namespace

// ---- The variant "block" ----

std::span<const std::string> block_configs() {
  static const std::vector<std::string> names = names_with_split_k(tile_names(fma_engine().tiles()));
  return names;
}

PlanOr plan_gemm_block(const GemmProblem& problem, const Target& target, std::size_t config) {
  return plan_on(fma_engine(), fma_engine().tiles(), problem, target, config);
}

// ---- The variant "matrix" ----

std::span<const std::string> matrix_configs() {
  static const std::vector<std::string> names = names_with_split_k(tile_names(named_mma_tiles()));
  return names;
}

PlanOr plan_gemm_matrix(const GemmProblem& problem, const Target& target, std::size_t config) {
  const Engine& engine = mma_engine(target.unit(problem.precision()), problem.precision());
  return unless_emulated(plan_on(engine, named_mma_tiles(), problem, target, config), target.unit(problem.precision()));
}

}  // namespace crisol::ops
