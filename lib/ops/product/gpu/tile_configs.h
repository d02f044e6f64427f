// Tiles as configurations of variants: "128x64", or "128x64/4" if the depth has 4 parts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace crisol::ops {

/// The tiles' names, such as "128x64". Tiles must have `rows` and `columns`.
template <class Tiles>
std::vector<std::string> tile_names(const Tiles& tiles) {
  std::vector<std::string> names;
  for (const auto& tile : tiles) names.push_back(std::to_string(tile.rows) + 'x' + std::to_string(tile.columns));
  return names;
}

/// A configuration that consists of a tile and a split_k of 1, 2, 4, … 64.
struct TileConfig {
  static constexpr std::size_t split_counts = 7;

  explicit TileConfig(std::size_t config) : tile(config / split_counts), split_k(1 << config % split_counts) {}

  std::size_t tile;
  int split_k;
};

/// The names of configurations: each tile's name with each split_k.
inline std::vector<std::string> names_with_split_k(const std::vector<std::string>& tiles) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tiles.size() * TileConfig::split_counts; ++i) {
    const TileConfig config(i);
    names.push_back(tiles[config.tile]);
    if (config.split_k > 1) names.back() += '/' + std::to_string(config.split_k);
  }
  return names;
}

}  // namespace crisol::ops
