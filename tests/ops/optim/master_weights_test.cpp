// f32 values that are kept as bf16 numbers and 16 more bits.
#include "ops/optim/master_weights.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using crisol::testing::values_of;

namespace {

std::vector<std::uint32_t> bits_of(const Tensor& x) {
  std::vector<std::uint32_t> bits;
  for (const float value : x.to_vector<float>()) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

}  // namespace

TEST_CASE("master weights: a bf16 number and a remainder give the f32 value back") {
  std::vector<float> values;
  // Every upper half without NaN, with lower halves around the middle of two bf16 numbers, and all kinds of others.
  for (std::uint32_t upper = 0; upper < 0x10000; upper += 5)
    for (const std::uint32_t lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu, upper * 40503u & 0xffffu})
      if ((upper & 0x7fff) < 0x7f80) values.push_back(std::bit_cast<float>(upper << 16 | lower));
  values.push_back(std::numeric_limits<float>::infinity());
  values.push_back(-std::numeric_limits<float>::infinity());
  values.push_back(1);  // A length without a common factor with vectors.
  const auto count = static_cast<std::int64_t>(values.size());
  const Tensor master = from_vector(values), rounded = empty({count}, DType::bf16),
               remainders = empty({count}, DType::i16);
  ops::split_master(master, rounded, remainders);
  CHECK(bits_of(rounded.to(DType::f32)) == bits_of(master.to(DType::bf16).to(DType::f32)));
  const std::vector<std::uint32_t> joined = bits_of(ops::join_master(rounded, remainders));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    const bool is_middle = (bits & 0xffff) == 0x8000, to_larger = (bits & 0x10000) != 0;
    REQUIRE(joined[i] == (is_middle ? bits + (to_larger ? 1 : -1u) : bits));
  }
}

TEST_CASE("master weights: a number that was written since gives an f32 value that rounds to it") {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const float remainder : {-0x1p-9F, -0x1p-15F, 0.0F, 0x1p-15F, 0x1p-9F})
    for (const double written : {0.0, -0.0, 1.0, -1.0, 0x1p-126, 0x1p-133, 0x1.fep127, infinity, -infinity, nan}) {
      const Tensor rounded = empty({37}, DType::bf16), remainders = empty({37}, DType::i16);
      ops::split_master(full({37}, 1 + remainder), rounded, remainders);
      Tensor target = rounded;
      target.fill_(written);
      for (const double value : values_of(ops::join_master(rounded, remainders).to(DType::bf16)))
        REQUIRE((std::isnan(written) ? std::isnan(value) : value == written));
    }
}
