// The layout of parameters in arenas, and its cuts.
#include "optim/arena_layout.h"

#include <vector>

#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

using optim::ArenaLayout;
using testing::check_error;
using Range = ArenaLayout::Range;
using Bucket = ArenaLayout::Bucket;
using Piece = ArenaLayout::Piece;

TEST_CASE("ArenaLayout aligns every parameter, and a group is one range") {
  const ArenaLayout layout({{15, 64}, {}, {65, 0, 1}});
  CHECK(layout.parameters() == 5);
  CHECK(layout.groups() == 3);
  CHECK(layout.size() == 64 + 64 + 128 + 0 + 64);
  CHECK(layout.parameter(0) == Range{0, 15});
  CHECK(layout.parameter(1) == Range{64, 128});
  CHECK(layout.parameter(2) == Range{128, 193});
  CHECK(layout.parameter(3) == Range{256, 256});
  CHECK(layout.parameter(4) == Range{256, 257});
  CHECK(layout.group(0) == Range{0, 128});
  CHECK(layout.group(1) == Range{128, 128});
  CHECK(layout.group(2) == Range{128, 320});
  CHECK(layout.parameters(1, 3) == Range{64, 256});
  CHECK(layout.parameters(2, 2).count() == 0);
}

TEST_CASE("ArenaLayout: buckets hold whole parameters, the last first") {
  const ArenaLayout layout({{64, 64, 200}, {64, 10}});
  // In f32 parameters take 256, 256, 1024, 256 and 256 bytes.
  const std::vector<Bucket> buckets = layout.buckets(512, 300, 4);
  const std::vector<Bucket> expected{{4, 5, {448, 512}}, {3, 4, {384, 448}}, {2, 3, {128, 384}}, {0, 2, {0, 128}}};
  CHECK(buckets == expected);
  // In f16 they take half of it.
  CHECK(layout.buckets(512, 300, 2).size() == 3);
  CHECK(layout.buckets(1 << 20, 1 << 20, 4) == std::vector<Bucket>{{0, 5, {0, 512}}});
  CHECK(ArenaLayout({}).buckets(512, 512, 4).empty());
}

TEST_CASE("ArenaLayout: shards are equal, aligned and cover everything; their pieces name the parameters") {
  const ArenaLayout layout({{100, 300}, {70}}, 5);
  REQUIRE(layout.size() == 640);  // 128 + 320 + 128 = 576, and 64 of padding.
  CHECK(ArenaLayout({{100, 300}, {70}}).size() == 576);
  std::int64_t end = 0;
  std::vector<std::int64_t> covered(3, 0);
  for (std::int64_t k = 0; k < 5; ++k) {
    const Range shard = layout.shard(k);
    CHECK(shard.begin == end);
    CHECK(shard.count() == 128);
    end = shard.end;
    for (const Piece& piece : layout.pieces(shard)) {
      CHECK(piece.within.begin == covered[piece.parameter]);
      covered[piece.parameter] = piece.within.end;
    }
  }
  CHECK(end == layout.size());
  CHECK(covered == std::vector<std::int64_t>{100, 300, 70});
  CHECK(layout.pieces(layout.shard(3)) == std::vector<Piece>{{1, {256, 300}}, {2, {0, 64}}});
  check_error([&] { layout.shard(5); }, {"[arena]", "shard 5 of 5"});
  check_error([] { ArenaLayout({{1}}, 0); }, {"[arena]", "0 shards"});
}

}  // namespace crisol
