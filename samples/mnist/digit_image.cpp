#include "digit_image.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#define STB_IMAGE_RESIZE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>
#pragma GCC diagnostic pop

namespace mnist {

namespace {

struct Grey {
  int width = 0, height = 0;
  std::vector<float> ink;  // 0 background … 255 full ink

  float at(int x, int y) const {
    return ink[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  }
};

// Transparent parts of the picture become white.
Grey read_grey(const std::string& path) {
  if (!std::ifstream(path)) throw std::runtime_error(path + ": " + std::strerror(errno));
  Grey grey;
  const std::unique_ptr<stbi_uc, void (*)(void*)> bytes(stbi_load(path.c_str(), &grey.width, &grey.height, nullptr, 4),
                                                        stbi_image_free);
  if (bytes == nullptr) throw std::runtime_error(path + ": no PNG or JPEG that can be read: " + stbi_failure_reason());
  grey.ink.resize(static_cast<std::size_t>(grey.width) * static_cast<std::size_t>(grey.height));
  for (std::size_t i = 0; i < grey.ink.size(); ++i) {
    const stbi_uc* p = bytes.get() + 4 * i;
    const float alpha = static_cast<float>(p[3]) / 255.0f;
    const float luma =
        0.299f * static_cast<float>(p[0]) + 0.587f * static_cast<float>(p[1]) + 0.114f * static_cast<float>(p[2]);
    grey.ink[i] = luma * alpha + 255.0f * (1 - alpha);
  }
  return grey;
}

// The border shows the paper. Its median is the background, and the value that differs most from it is full ink.
void turn_into_ink(Grey& grey, const std::string& path) {
  std::vector<float> border;
  for (int x = 0; x < grey.width; ++x) {
    border.push_back(grey.at(x, 0));
    border.push_back(grey.at(x, grey.height - 1));
  }
  for (int y = 0; y < grey.height; ++y) {
    border.push_back(grey.at(0, y));
    border.push_back(grey.at(grey.width - 1, y));
  }
  std::nth_element(border.begin(), border.begin() + static_cast<std::ptrdiff_t>(border.size() / 2), border.end());
  const float paper = border[border.size() / 2];
  const auto [darkest, lightest] = std::minmax_element(grey.ink.begin(), grey.ink.end());
  const bool dark_on_light = paper - *darkest > *lightest - paper;
  const float full = dark_on_light ? paper - *darkest : *lightest - paper;
  if (full < 16) throw std::runtime_error(path + ": no ink: the picture is all of one brightness");
  for (float& value : grey.ink) {
    const float ink = (dark_on_light ? paper - value : value - paper) * 255.0f / full;
    // A tenth of the range counts as noise of the paper.
    value = ink < 25.0f ? 0.0f : ink;
  }
}

struct Box {
  int left, top, right, bottom;  // right and bottom are one past the last pixel.
};

Box box_of_ink(const Grey& grey) {
  Box box{grey.width, grey.height, 0, 0};
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x) {
      if (grey.at(x, y) == 0) continue;
      box = {std::min(box.left, x), std::min(box.top, y), std::max(box.right, x + 1), std::max(box.bottom, y + 1)};
    }
  return box;
}

}  // namespace

DigitImage read_digit(const std::string& path) {
  Grey grey = read_grey(path);
  turn_into_ink(grey, path);
  const Box box = box_of_ink(grey);
  const int width = box.right - box.left, height = box.bottom - box.top;
  const double scale = 20.0 / std::max(width, height);
  const int small_width = std::max(1, static_cast<int>(std::lround(width * scale)));
  const int small_height = std::max(1, static_cast<int>(std::lround(height * scale)));
  std::vector<float> glyph(static_cast<std::size_t>(small_width) * static_cast<std::size_t>(small_height));
  stbir_resize_float(&grey.ink[static_cast<std::size_t>(box.top) * static_cast<std::size_t>(grey.width) +
                               static_cast<std::size_t>(box.left)],
                     width, height, grey.width * static_cast<int>(sizeof(float)), glyph.data(), small_width,
                     small_height, 0, 1);

  double mass = 0, centre_x = 0, centre_y = 0;
  for (int y = 0; y < small_height; ++y)
    for (int x = 0; x < small_width; ++x) {
      const double ink =
          std::clamp(static_cast<double>(glyph[static_cast<std::size_t>(y * small_width + x)]), 0.0, 255.0);
      mass += ink;
      centre_x += ink * (x + 0.5);
      centre_y += ink * (y + 0.5);
    }
  const int left = static_cast<int>(std::lround(14 - centre_x / mass)),
            top = static_cast<int>(std::lround(14 - centre_y / mass));
  DigitImage image{};
  for (int y = 0; y < small_height; ++y)
    for (int x = 0; x < small_width; ++x) {
      const int to_x = left + x, to_y = top + y;
      if (to_x < 0 || to_x >= 28 || to_y < 0 || to_y >= 28) continue;
      image[static_cast<std::size_t>(to_y * 28 + to_x)] = static_cast<std::uint8_t>(
          std::lround(std::clamp(glyph[static_cast<std::size_t>(y * small_width + x)], 0.0f, 255.0f)));
    }
  return image;
}

}  // namespace mnist
