// The engines' tiles for convolutions.
#include "conv/sizes.h"
#include "ops/conv/conv2d_variants.h"
#include "ops/conv/gpu/conv2d_tiled.h"
#include "ops/product/gpu/tile_configs.h"

namespace crisol::ops {

namespace {

using Tiles = std::span<const TileShape>;

// The tiles are chosen as for matrix products (ops/product/gpu/fma_engine.cpp). There are fewer tiles, because each one
// is one more program to compile. No tile is wide, because columns are gathered element by element.
constexpr TileShape block_tiles[] = {
    {128, 128, 8, 8, 1.0, 8}, {128, 64, 8, 8, 1.0, 8}, {64, 64, 8, 4, 1.09, 8}, {32, 32, 4, 4, 1.4, 16}};
// An item reads a pixel for several rows and columns, element by element. With tiles of 128 x 64 the item's addresses
// would not fit into the registers of AMD's GPUs.
// The costs are an H100's: 128 x 128 took 1.15 to 2.2 times as long as 64 x 64, and 32 x 32 took 1.3 to 2.4 times.
constexpr TileShape block_weight_tiles[] = {{128, 128, 8, 8, 1.3, 8}, {64, 64, 8, 4, 1.14, 8}, {32, 32, 4, 4, 2.0, 16}};

// Rows are the channels of the result, of which there may be few. Columns are its many pixels.
constexpr TileShape matrix_tiles_32[] = {
    {128, 128, 64, 32, 1.0}, {64, 128, 32, 32, 1.2}, {64, 64, 32, 32, 1.3}, {32, 128, 32, 32, 1.6}};
constexpr TileShape matrix_tiles_64[] = {
    {128, 128, 64, 64, 1.0}, {64, 128, 32, 64, 1.2}, {64, 64, 32, 32, 1.3}, {32, 128, 32, 32, 1.6}};

// If items share a multiprocessor's registers, the registers hold one group of the first tile, or three groups of the
// second. On other devices the registers hold the same number of items of either tile, and the second tile needs more
// items.
bool suits(const TileShape& tile, const Target& target) {
  const bool first = tile.columns == 128, second = tile.rows != tile.columns;
  return target.traits.shared_registers != 0 ? !first : !second;
}

// The engine with the tile of a configuration. Without a configuration it has all tiles for which `suit` is true. If
// there is no tile, the result holds the reason.
template <class Suits>
ConvEngine fma_engine_with(Tiles all, const Target& target, std::size_t config, Suits&& suit) {
  ConvEngine made{fma_engine(), {}};
  if (config != own_config) {
    made.reason = made.engine.against_tile(all[config], target, 1);
    if (made.reason == nullptr) made.tiles.push_back(all[config]);
    return made;
  }
  for (const TileShape& tile : all)
    if (suit(tile) && made.engine.against_tile(tile, target, 1) == nullptr) made.tiles.push_back(tile);
  if (made.tiles.empty()) made.reason = "the device's work-groups, local memory or registers are too small";
  return made;
}

// The engine with only this tile.
ConvEngine with_tile(ConvEngine engine, const TileShape& tile) {
  const TileShape* const same = tile_like(tile, engine.tiles);
  if (same == nullptr)
    engine.reason = no_such_tile;
  else
    engine.tiles = {TileShape(*same)};
  return engine;
}

// The engine with the tile of a configuration, which names one of `named`. Without a configuration the engine has all
// of `tiles`.
ConvEngine mma_engine_with(const Conv2dProblem& p, const Target& target, std::vector<TileShape> tiles, Tiles named,
                           std::size_t config) {
  ConvEngine made = matrix_engine(target.unit(p.precision()), p.precision(), std::move(tiles));
  return config == own_config || made.reason != nullptr ? made : with_tile(std::move(made), named[config]);
}

}  // namespace

std::vector<TileShape> gathered_matrix_tiles(const dispatch::MatrixUnit& unit, Precision precision) {
  const int lanes = facts_of(unit.kind).lanes;
  Tiles all = lanes == 64 ? Tiles(matrix_tiles_64) : Tiles(matrix_tiles_32);
  if (facts_of(unit.kind).waves_share_registers) all = mma_engine(unit, precision).tiles();
  std::vector<TileShape> usable;
  for (const TileShape& tile : all)
    if (GATHER_OF_ITEM(tile.columns, slice_depth(precision), tile.parts() * lanes) % GATHER_MULTIPLE == 0)
      usable.push_back(tile);
  return usable;
}

ConvEngine block_engine(const Target& target, std::size_t config) {
  return fma_engine_with(block_tiles, target, config, [&](const TileShape& tile) { return suits(tile, target); });
}

ConvEngine block_weight_engine(const Target& target, std::size_t config) {
  return fma_engine_with(block_weight_tiles, target, config, [](const TileShape&) { return true; });
}

ConvEngine matrix_engine(const dispatch::MatrixUnit& unit, Precision precision, std::vector<TileShape> tiles) {
  return {mma_engine(unit, precision), std::move(tiles), against_unit(unit, precision)};
}

ConvEngine matrix_engine(const Conv2dProblem& p, const Target& target, std::size_t config) {
  return mma_engine_with(p, target, gathered_matrix_tiles(target.unit(p.precision()), p.precision()), matrix_tiles_32,
                         config);
}

ConvEngine matrix_weight_engine(const Conv2dProblem& p, const Target& target, std::size_t config) {
  const Tiles all = mma_engine(target.unit(p.precision()), p.precision()).tiles();
  return mma_engine_with(p, target, {all.begin(), all.end()}, named_mma_tiles(), config);
}

// ---- Configurations: the tiles ----

std::span<const std::string> conv2d_block_tiles() {
  static const std::vector<std::string> names = tile_names(block_tiles);
  return names;
}

std::span<const std::string> conv2d_block_weight_tiles() {
  static const std::vector<std::string> names = tile_names(block_weight_tiles);
  return names;
}

std::span<const std::string> conv2d_matrix_tiles() {
  static const std::vector<std::string> names = tile_names(matrix_tiles_32);
  return names;
}

std::span<const std::string> conv2d_matrix_weight_tiles() {
  static const std::vector<std::string> names = tile_names(named_mma_tiles());
  return names;
}

}  // namespace crisol::ops
