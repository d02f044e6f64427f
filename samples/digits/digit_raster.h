// Draws pen strokes as an image in the format of MNIST.
#pragma once

#include <cstdint>
#include <vector>

#include "digits/host_random.h"

namespace samples {

constexpr int digit_image_side = 28;
constexpr int digit_box_side = 20;

struct PenPoint {
  float x, y;
  float width;  ///< A factor on the pen's radius at this point.
};

using PenPath = std::vector<PenPoint>;  ///< A polyline.

/// Lengths are in pixels of the final image, in which the glyph's longer side measures 20.
struct Pen {
  float radius;
  float softness;   ///< Width of the edge between full ink and no ink.
  float ink;        ///< A factor on the coverage before it is clipped to 1.
  float roughness;  ///< Standard deviation of the edge's position.
};

/// Scales the paths into the 20×20 box, keeps their aspect ratio, and draws them. Then writes the 28×28 bytes, so that
/// the ink's centre of mass is within half a pixel of the image's centre.
void draw_digit(const std::vector<PenPath>& paths, const Pen& pen, HostRandom& random, std::uint8_t* image);

}  // namespace samples
