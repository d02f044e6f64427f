// Random numbers on the host that are the same on every machine. The distributions of <random> differ between machines.
#pragma once

#include <cstdint>

namespace samples {

/// SplitMix64 (Steele, Lea, Flood 2014), with one independent stream for each (seed, index).
class HostRandom {
 public:
  HostRandom(std::uint64_t seed, std::uint64_t index) : state_(mix(seed + golden) ^ mix(mix(index + 1) + golden)) {}

  std::uint64_t next() noexcept { return mix(state_ += golden); }

  /// Uniform in [0, 1). The value is a multiple of 2^-24, so it is exact in float.
  float uniform() noexcept { return static_cast<float>(next() >> 40) * 0x1p-24f; }
  float uniform(float low, float high) noexcept { return low + (high - low) * uniform(); }
  bool chance(float probability) noexcept { return uniform() < probability; }

  /// Uniform in [0, count). The bias of the multiplication is below count / 2^32.
  int below(int count) noexcept { return static_cast<int>(((next() >> 32) * static_cast<std::uint64_t>(count)) >> 32); }

  /// Mean 0, standard deviation 1, within ±6: a sum of 12 uniforms, which needs no function of libm.
  float normal() noexcept {
    float sum = -6.0f;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;

  static std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace samples
