#include "digits/digit_raster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace samples {
namespace {

constexpr int oversampling = 3;
constexpr int canvas_side = digit_box_side * oversampling;

// The signed distance of each pixel to the edge of the ink, in canvas pixels: negative inside.
using Canvas = std::array<float, canvas_side * canvas_side>;
using Box = std::array<float, digit_box_side * digit_box_side>;

struct Bounds {
  float left = 1e30f, right = -1e30f, top = 1e30f, bottom = -1e30f;
};

Bounds bounds_of(const std::vector<PenPath>& paths) {
  Bounds b;
  for (const PenPath& path : paths)
    for (const PenPoint& p : path) {
      b.left = std::min(b.left, p.x);
      b.right = std::max(b.right, p.x);
      b.top = std::min(b.top, p.y);
      b.bottom = std::max(b.bottom, p.y);
    }
  return b;
}

float widest(const std::vector<PenPath>& paths) {
  float widest = 0;
  for (const PenPath& path : paths)
    for (const PenPoint& p : path) widest = std::max(widest, p.width);
  return widest;
}

void draw_segment(Canvas& canvas, const PenPoint& a, const PenPoint& b, float softness) {
  const float radius = 0.5f * (a.width + b.width), reach = radius + softness;
  const auto clip = [](float v) { return std::clamp(static_cast<int>(std::floor(v)), 0, canvas_side - 1); };
  const int x0 = clip(std::min(a.x, b.x) - reach), x1 = clip(std::max(a.x, b.x) + reach);
  const int y0 = clip(std::min(a.y, b.y) - reach), y1 = clip(std::max(a.y, b.y) + reach);
  const float dx = b.x - a.x, dy = b.y - a.y;
  const float scale = 1.0f / std::max(dx * dx + dy * dy, 1e-12f);
  for (int y = y0; y <= y1; ++y) {
    float* row = canvas.data() + y * canvas_side;
    const float py = static_cast<float>(y) + 0.5f - a.y;
    for (int x = x0; x <= x1; ++x) {
      const float px = static_cast<float>(x) + 0.5f - a.x;
      const float along = std::min(std::max((px * dx + py * dy) * scale, 0.0f), 1.0f);
      const float ex = px - along * dx, ey = py - along * dy;
      row[x] = std::min(row[x], std::sqrt(ex * ex + ey * ey) - radius);
    }
  }
}

Box draw_box(const std::vector<PenPath>& paths, const Pen& pen, HostRandom& random) {
  const Bounds bounds = bounds_of(paths);
  const float softness = std::max(pen.softness * oversampling, 1.0f);
  const float radius = pen.radius * oversampling;
  const float margin = radius * widest(paths) + 0.5f * softness;
  const float width = bounds.right - bounds.left, height = bounds.bottom - bounds.top;
  const float scale = (canvas_side - 2 * margin) / std::max(std::max(width, height), 1e-6f);
  const float x_shift = 0.5f * (canvas_side - scale * (bounds.left + bounds.right));
  const float y_shift = 0.5f * (canvas_side - scale * (bounds.top + bounds.bottom));
  const auto place = [&](const PenPoint& p) {
    return PenPoint{p.x * scale + x_shift, p.y * scale + y_shift, p.width * radius};
  };

  Canvas canvas;
  canvas.fill(1e6f);
  for (const PenPath& path : paths)
    for (std::size_t i = 1; i < path.size(); ++i)
      draw_segment(canvas, place(path[i - 1]), place(path[i]), 0.5f * softness);

  // Uniform noise of width w has a standard deviation of w / √12.
  const float roughness = pen.roughness * oversampling * 3.4641016f;
  Box box{};
  for (int y = 0; y < canvas_side; ++y)
    for (int x = 0; x < canvas_side; ++x) {
      const float noise = roughness * (random.uniform() - 0.5f);
      const float distance = canvas[static_cast<std::size_t>(y * canvas_side + x)] + noise;
      const float coverage = std::min(std::max(0.5f - distance / softness, 0.0f), 1.0f);
      box[static_cast<std::size_t>(y / oversampling * digit_box_side + x / oversampling)] += coverage;
    }
  for (float& value : box) value = std::min(value * pen.ink / (oversampling * oversampling), 1.0f);
  return box;
}

}  // namespace

void draw_digit(const std::vector<PenPath>& paths, const Pen& pen, HostRandom& random, std::uint8_t* image) {
  const Box box = draw_box(paths, pen, random);
  float mass = 0, x_moment = 0, y_moment = 0;
  for (int y = 0; y < digit_box_side; ++y)
    for (int x = 0; x < digit_box_side; ++x) {
      const float value = box[static_cast<std::size_t>(y * digit_box_side + x)];
      mass += value;
      x_moment += value * static_cast<float>(x);
      y_moment += value * static_cast<float>(y);
    }
  constexpr float centre = 0.5f * (digit_image_side - 1);
  const auto offset = [mass](float moment) {
    const int shift = static_cast<int>(std::floor(centre - moment / mass + 0.5f));
    return std::clamp(shift, 0, digit_image_side - digit_box_side);
  };
  const int left = offset(x_moment), top = offset(y_moment);
  std::fill(image, image + digit_image_side * digit_image_side, std::uint8_t{0});
  for (int y = 0; y < digit_box_side; ++y)
    for (int x = 0; x < digit_box_side; ++x)
      image[(y + top) * digit_image_side + x + left] =
          static_cast<std::uint8_t>(box[static_cast<std::size_t>(y * digit_box_side + x)] * 255.0f + 0.5f);
}

}  // namespace samples
