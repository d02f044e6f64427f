// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3") on the host. The
// version for the device is cl_kernels/random/philox.h.
#pragma once

#include <array>
#include <cstdint>

namespace crisol {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Ten rounds of the bijection of `counter` with the key `key`. The result is four independent words, uniform in 32
/// bits.
inline PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xcd9e8d57u} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
  }
  return counter;
}

/// Word `i` of the stream of a generator with this seed and counter. It is word i % 4 of block counter + i / 4.
inline std::uint32_t philox_word(std::uint64_t seed, std::uint64_t counter, std::uint64_t i) noexcept {
  const std::uint64_t block = counter + i / 4;
  return philox4x32({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0},
                    {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)})[i % 4];
}

}  // namespace crisol
