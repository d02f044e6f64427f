// From pen strokes to an image in the format of MNIST.
#pragma once

#include <cstdint>
#include <vector>

#include "io/host_random.h"

namespace crisol::io {

constexpr int digit_image_side = 28;
constexpr int digit_box_side = 20;

struct PenPoint {
  float x, y;
  float width;  ///< Factor on the pen's radius here.
};

using PenPath = std::vector<PenPoint>;  ///< A polyline.

/// In pixels of the final image, where the glyph's longer side measures 20.
struct Pen {
  float radius;
  float softness;   ///< Width of the edge between full ink and none.
  float ink;        ///< Factor on the coverage before it is clipped to 1.
  float roughness;  ///< Standard deviation of the edge's position.
};

/// Scales the paths into the 20×20 box with their aspect kept, draws them, and writes the 28×28 bytes with the centre
/// of mass of the ink within half a pixel of the image's centre.
void draw_digit(const std::vector<PenPath>& paths, const Pen& pen, HostRandom& random, std::uint8_t* image);

}  // namespace crisol::io
