// Tiles as settings of variants: "128x64", or, with parts of the depth, "128x64/4".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace crisol::ops {

/// Of tiles that have rows and columns.
template <class Tiles>
std::vector<std::string> tile_names(const Tiles& tiles) {
  std::vector<std::string> names;
  for (const auto& tile : tiles) names.push_back(std::to_string(tile.rows) + 'x' + std::to_string(tile.columns));
  return names;
}

/// A setting that is one of several tiles, and 1, 2, 4, … 64 parts of the depth.
struct TileInParts {
  static constexpr std::size_t part_counts = 7;

  explicit TileInParts(std::size_t setting) : tile(setting / part_counts), parts(1 << setting % part_counts) {}

  std::size_t tile;
  int parts;
};

/// The settings' names for the tiles' names.
inline std::vector<std::string> names_in_parts(const std::vector<std::string>& tiles) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tiles.size() * TileInParts::part_counts; ++i) {
    const TileInParts setting(i);
    names.push_back(tiles[setting.tile]);
    if (setting.parts > 1) names.back() += '/' + std::to_string(setting.parts);
  }
  return names;
}

}  // namespace crisol::ops
