// The variant "tiles": work-groups that keep the scores of a tile in registers, on the engine of multiply-adds.
#include "base/ceil_div.h"
#include "ops/attention/attention.h"
#include "ops/product/gpu/tiled_product.h"
#include "ops/storage.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

constexpr std::int64_t max_row = std::int64_t{1} << 22;  // Bytes within a tile are counted in 32 bits.

// The first tile that has as many columns as the values is taken. Of 12 tiles these two take the least time on an H100.
// With more sums for a work-item, too few groups would run at a time.
constexpr TileShape tiles[] = {{32, 64, 4, 4, 1, 16}, {32, 128, 8, 4, 1, 16}};

constexpr std::uint64_t min_local_memory = 32 << 10;  // For slices of both products, and a number for each run of sums.

int vectors_of(const AttentionProblem& p) { return p.aligned != 0 ? 4 : 1; }

const TileShape* tile_of(std::int64_t columns) {
  for (const TileShape& tile : tiles)
    if (columns <= tile.columns) return &tile;
  return nullptr;
}

}  // namespace

PlanOr plan_attention_tiles(const AttentionProblem& p, const Target& target, std::size_t) {
  if (const char* reason = against_operands(p)) return reason;
  for (const HeadStrides& x : {p.q, p.k, p.v})
    if (x.row > max_row || x.column > max_row || x.row < 0) return "the rows of an operand lie too far apart";
  if (p.precision() != Precision::fp32) return "products of this precision take matrix units";
  const TileShape* const tile = tile_of(p.columns);
  if (tile == nullptr) return "the values have more columns than the tiles";
  const Engine& engine = fma_engine();
  if (const char* reason = engine.against_tile(*tile, target, vectors_of(p))) return reason;
  const std::int64_t iterations = p.keys * (p.depth + tile->columns) / 8;
  if (const char* reason = target.against_iterations(iterations)) return reason;
  if (p.head_count() * ceil_div(p.rows, tile->rows) > engine.max_groups()) return "too many tiles";

  if (target.info.local_memory < min_local_memory) return "the device has too little local memory";
  return unless_kept(p, plan_attention_on(engine, *tile, p, target));
}

Plan plan_attention_on(const Engine& engine, const TileShape& tile, const AttentionProblem& p, const Target& target) {
  runtime::KernelSpec spec{"attention/attention_tiled.cl", "attention_tiled"};
  engine.define(spec, tile, target);
  spec.defines.add({"B_ALONG_K", p.k.column == 1 ? 1 : 0});
  spec.defines.add({"V_ALONG_KEYS", p.v.column == 1 ? 0 : 1});
  spec.defines.add({"VEC", vectors_of(p)});
  define_device(spec.defines, target);
  define_elements(spec.defines, p.type);
  for (const char* name : {"A_STORAGE", "B_STORAGE"}) define_storage(spec.defines, name, p.type);
  const auto [q, k, v, bias, y] = operands<5>();
  const auto [across, down] = engine.local_size(tile);
  const std::int64_t groups = p.head_count() * ceil_div(p.rows, tile.rows);
  Plan plan;
  plan.add(spec, {{groups * across, down}, {across, down}}, q, k, v, bias, y, CallScalar{0}, p.parameters(),
           p.q.parameters(), p.k.parameters(), p.v.parameters(), p.bias.parameters(), p.y.parameters());
  return plan;
}

}  // namespace crisol::ops
