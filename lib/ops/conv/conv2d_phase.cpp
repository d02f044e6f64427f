#include "ops/conv/conv2d_phase.h"

#include <algorithm>
#include <numeric>

namespace crisol::ops {

Phase phase_of(int first, std::int64_t size, std::int64_t kernel, int stride, int padding, int dilation) {
  const int common = std::gcd(dilation, stride);
  Phase phase{(size - first + stride - 1) / stride, 0, stride / common, 0, 0, -dilation / common};
  for (int tap = 0; tap < std::min<std::int64_t>(kernel, stride); ++tap) {
    const std::int64_t at = std::int64_t{first} + padding - std::int64_t{tap} * dilation;
    if (at % stride != 0) continue;
    phase.first_tap = tap;
    phase.taps = static_cast<std::int32_t>((kernel - 1 - tap) / phase.tap_step + 1);
    phase.start = static_cast<std::int32_t>(at / stride);
    break;
  }
  return phase;
}

}  // namespace crisol::ops
