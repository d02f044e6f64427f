#include "crisol/io/image.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "io/input_file.h"

namespace crisol::io {

namespace {

constexpr std::int64_t most_pixels = std::int64_t{1} << 26;
constexpr std::int64_t largest_side = 16384;

// The largest memory that reading the present picture may take at once. A PNG of one pixel can hold gigabytes of zeros.
thread_local std::size_t largest_allocation = 0;

void* allocate(std::size_t bytes) { return bytes <= largest_allocation ? std::malloc(bytes) : nullptr; }
void* reallocate(void* memory, std::size_t bytes) {
  return bytes <= largest_allocation ? std::realloc(memory, bytes) : nullptr;
}

}  // namespace

}  // namespace crisol::io

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_MALLOC(bytes) crisol::io::allocate(bytes)
#define STBI_REALLOC(memory, bytes) crisol::io::reallocate(memory, bytes)
#define STBI_FREE(memory) std::free(memory)
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#define STB_IMAGE_RESIZE_STATIC
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace crisol::io {

Image read_image(const std::string& path, std::int64_t channels) {
  require(channels >= 1 && channels <= 4, "read_image", "channels ", channels, " is not in [1, 4]");
  InputFile file("read_image", path);
  const std::string kind = file.kind();
  if (kind.find("image") == kind.npos)
    file.refuse(kind.empty() ? "neither a PNG nor a JPEG image" : "this is " + kind + ", not a PNG or JPEG image");
  if (file.size() > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    file.refuse(file.size(), " bytes, below 2^31 are read");
  const std::string bytes = file.read_all();
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  int width = 0, height = 0, found = 0;
  largest_allocation = std::size_t{1} << 20;
  if (stbi_info_from_memory(data, size, &width, &height, &found) == 0)
    file.refuse("cannot be read: ", stbi_failure_reason());
  const std::int64_t pixels = std::int64_t{width} * height;
  if (pixels <= 0 || pixels > most_pixels)
    file.refuse("a picture of ", width, " x ", height, " pixels, at most ", most_pixels, " are read");
  // Sixteen bytes a pixel are enough for four channels of 16 bits and a copy.
  largest_allocation = (std::size_t{1} << 20) + 16 * static_cast<std::size_t>(pixels) + 2 * bytes.size();
  const std::unique_ptr<stbi_uc, void (*)(void*)> decoded(
      stbi_load_from_memory(data, size, &width, &height, &found, static_cast<int>(channels)), stbi_image_free);
  if (decoded == nullptr) file.refuse("cannot be read: ", stbi_failure_reason());
  Image image{height, width, channels, {}};
  image.pixels.assign(decoded.get(), decoded.get() + image.height * image.width * channels);
  return image;
}

Image resize(const Image& image, std::int64_t height, std::int64_t width, bool stretch) {
  for (const std::int64_t side : {height, width, image.height, image.width})
    require(side >= 1 && side <= most_pixels, "resize", "from ", image.height, " x ", image.width, " pixels to ",
            height, " x ", width);
  require(height <= largest_side && width <= largest_side, "resize", "to ", height, " x ", width, " pixels: at most ",
          largest_side, " on a side");
  require(image.channels >= 1 && image.channels <= 4 &&
              static_cast<std::int64_t>(image.pixels.size()) == image.height * image.width * image.channels,
          "resize", image.pixels.size(), " bytes for ", image.height, " x ", image.width, " pixels of ", image.channels,
          " channels");
  // The part of the picture that is kept.
  std::int64_t rows = image.height, columns = image.width;
  if (!stretch && columns * height > rows * width)
    columns = std::max<std::int64_t>(
        1, std::llround(static_cast<double>(rows) * static_cast<double>(width) / static_cast<double>(height)));
  else if (!stretch)
    rows = std::max<std::int64_t>(
        1, std::llround(static_cast<double>(columns) * static_cast<double>(height) / static_cast<double>(width)));
  const std::int64_t top = (image.height - rows) / 2, left = (image.width - columns) / 2;
  const std::uint8_t* first = image.pixels.data() + (top * image.width + left) * image.channels;
  const auto stride = static_cast<int>(image.width * image.channels);
  Image result{height, width, image.channels, {}};
  result.pixels.resize(static_cast<std::size_t>(height * width * image.channels));
  if (rows == height && columns == width) {  // stb's filter would blur a picture that has the size already.
    for (std::int64_t row = 0; row < height; ++row)
      std::copy_n(first + row * stride, width * image.channels, result.pixels.data() + row * width * image.channels);
    return result;
  }
  if (stbir_resize_uint8(first, static_cast<int>(columns), static_cast<int>(rows), stride, result.pixels.data(),
                         static_cast<int>(width), static_cast<int>(height), 0, static_cast<int>(image.channels)) == 0)
    fail(ErrorCode::out_of_memory, "resize", "no host memory for ", height, " x ", width, " pixels");
  return result;
}

}  // namespace crisol::io
