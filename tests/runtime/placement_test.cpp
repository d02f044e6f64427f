// Memory that is shared by what is never needed at the same time.
#include "runtime/memory/placement.h"

#include <algorithm>
#include <random>

#include "doctest/doctest.h"

namespace crisol::runtime {

namespace {

bool meet(std::uint64_t first_a, std::uint64_t last_a, std::uint64_t first_b, std::uint64_t last_b) {
  return first_a <= last_b && first_b <= last_a;
}

/// Checks that the places are right, and returns the bytes of all buffers.
std::uint64_t check_placement(const std::vector<Lifetime>& lives, std::uint64_t alignment, std::uint64_t max_buffer) {
  const Placement placement = place_together(lives, alignment, max_buffer);
  REQUIRE(placement.places.size() == lives.size());
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const auto [buffer, offset] = placement.places[i];
    REQUIRE(buffer < placement.buffers.size());
    CHECK(offset % alignment == 0);
    CHECK(offset + lives[i].bytes <= placement.buffers[buffer]);
    for (std::size_t j = 0; j < i; ++j) {
      const auto [other_buffer, other] = placement.places[j];
      if (buffer != other_buffer || !meet(lives[i].first, lives[i].last, lives[j].first, lives[j].last)) continue;
      CHECK_FALSE(meet(offset, offset + lives[i].bytes - 1, other, other + lives[j].bytes - 1));
    }
  }
  std::uint64_t bytes = 0;
  for (const std::uint64_t one : placement.buffers) {
    CHECK(one <= max_buffer);
    bytes += one;
  }
  return bytes;
}

/// The most bytes that one command needs.
std::uint64_t least_bytes(const std::vector<Lifetime>& lives) {
  std::uint64_t most = 0;
  for (const Lifetime& at : lives) {
    std::uint64_t bytes = 0;
    for (const Lifetime& life : lives)
      if (life.first <= at.first && at.first <= life.last) bytes += life.bytes;
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace

TEST_CASE("placement: a chain needs the memory of two neighbours") {
  std::vector<Lifetime> chain;
  for (std::size_t i = 0; i < 10; ++i) chain.push_back({1024, i, i + 1});
  CHECK(check_placement(chain, 512, 1 << 20) == 2048);
}

TEST_CASE("placement: what is short goes into the gaps of what is long") {
  const std::vector<Lifetime> lives{{4096, 0, 1}, {1024, 1, 9}, {3072, 2, 9}, {1024, 3, 3}, {1024, 4, 9}};
  CHECK(check_placement(lives, 512, 1 << 20) == 5120);
}

TEST_CASE("placement: nothing needs no buffer") { CHECK(place_together({}, 512, 1024).buffers.empty()); }

TEST_CASE("placement: random lifetimes never meet, and take little more than the least memory") {
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) { return std::size_t{random() % limit}; };
  std::uint64_t all = 0, least = 0;
  for (int run = 0; run < 20; ++run) {
    CAPTURE(run);
    std::vector<Lifetime> lives;
    for (std::size_t i = 0; i < 60; ++i) {
      const std::size_t first = below(100);
      lives.push_back({1 + below(std::size_t{1} << (4 + below(14))), first, first + below(12)});
    }
    all += check_placement(lives, 64, std::uint64_t{1} << 40);
    least += least_bytes(lives);
    check_placement(lives, 512, 1 << 17);
  }
  CHECK(all >= least);
  CHECK(all * 10 <= least * 12);
}

}  // namespace crisol::runtime
