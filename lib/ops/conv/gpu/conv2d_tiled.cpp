#include "ops/conv/gpu/conv2d_tiled.h"

#include <algorithm>

#include "ops/conv/conv2d_variants.h"
#include "ops/conv/gpu/conv2d_gather.h"

namespace crisol::ops {

namespace {

TilePlan cut_of(const GatheredProduct& p, const Target& target, const Engine& engine,
                std::span<const TileShape> tiles) {
  return plan_tiles(engine, tiles, target, extent_of(p), max_gathered_split_k(p, target));
}

// The product with the most work. All phases use its tile, because compiling another tile would gain little.
const GatheredProduct& largest_of(const std::vector<GatheredProduct>& products) {
  const auto work = [](const GatheredProduct& p) { return p.n() * p.packed_depth(); };
  return *std::max_element(products.begin(), products.end(),
                           [&](const GatheredProduct& a, const GatheredProduct& b) { return work(a) < work(b); });
}

PlanOr plan_products(const Conv2dProblem& p, const Target& target, const ConvEngine& with,
                     const std::vector<GatheredProduct>& products) {
  const Engine& engine = with.engine;
  const TileShape tile = cut_of(largest_of(products), target, engine, with.tiles).tile;
  Plan plan;
  for (const GatheredProduct& product : products) {
    if (const char* reason = engine.against(extent_of(product), target)) return reason;
    if (const char* reason = check_gathered(product, target)) return reason;
    const TilePlan cut = cut_of(product, target, engine, {&tile, 1});
    if (cut.groups > engine.max_groups()) return "too many tiles";
    plan.estimate += engine.cost(cut, extent_of(product), target);
    add_gathered(plan, target, p, product, engine, cut);
  }
  return plan;
}

}  // namespace

PlanOr plan_forward_product(const Conv2dProblem& p, const Target& target, const ConvEngine& engine) {
  if (engine.reason != nullptr) return engine.reason;
  if (const char* reason = check_gathering(p.sizes)) return reason;
  return plan_products(p, target, engine, {forward_product(p.sizes)});
}

PlanOr plan_phase_products(const Conv2dProblem& p, const Target& target, const ConvEngine& engine) {
  if (engine.reason != nullptr) return engine.reason;
  if (const char* reason = check_gathering(p.sizes)) return reason;
  if (p.sizes.stride_h * p.sizes.stride_w > 64) return "a stride with more than 64 phases";
  return plan_products(p, target, engine, phase_products(p.sizes));
}

PlanOr plan_conv2d_block(const Conv2dProblem& p, const Target& target, std::size_t config) {
  return plan_forward_product(p, target, block_engine(target, config));
}

PlanOr plan_conv2d_block_data(const Conv2dProblem& p, const Target& target, std::size_t config) {
  return plan_phase_products(p, target, block_engine(target, config));
}

PlanOr plan_conv2d_matrix(const Conv2dProblem& p, const Target& target, std::size_t config) {
  return unless_emulated(plan_forward_product(p, target, matrix_engine(p, target, config)), target.unit(p.precision()));
}

PlanOr plan_conv2d_matrix_data(const Conv2dProblem& p, const Target& target, std::size_t config) {
  return unless_emulated(plan_phase_products(p, target, matrix_engine(p, target, config)), target.unit(p.precision()));
}

}  // namespace crisol::ops
