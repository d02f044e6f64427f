#include "crisol/io/image.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "io/files/input_file.h"
#include "io/images/image_size.h"

namespace crisol::io {

namespace {

constexpr std::int64_t max_pixels = std::int64_t{1} << 26;

// How much memory the decoder may allocate at once for the current picture. A PNG with one pixel can hold gigabytes of
// zeros.
thread_local std::size_t largest_allocation = 0;

void* allocate(std::size_t bytes) { return bytes <= largest_allocation ? std::malloc(bytes) : nullptr; }
void* reallocate(void* memory, std::size_t bytes) {
  return bytes <= largest_allocation ? std::realloc(memory, bytes) : nullptr;
}

// The bytes of a JPEG as stb reads them: zeros follow the last byte.
class JpegBytes {
 public:
  explicit JpegBytes(const std::string& bytes) : bytes_(bytes) {}
  bool ended() const { return at_ >= bytes_.size(); }
  int next() { return ended() ? 0 : static_cast<unsigned char>(bytes_[at_++]); }
  void skip(int count) { at_ += static_cast<std::size_t>(std::max(count, 0)); }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

// Whether no Huffman table of a segment has more than 256 codes.
bool has_small_tables(JpegBytes& in, int length) {
  while (length > 0) {
    in.next();  // The table's class and number.
    int codes = 0;
    for (int i = 0; i < 16; ++i) codes += in.next();
    if (codes > 256) return false;
    in.skip(codes);
    length -= 17 + codes;
  }
  return true;
}

// stb 2.27 does not check the number of codes in a JPEG's Huffman table. If there are more than 256, it writes past the
// end of an array. So the tables of all segments are checked before stb sees the file.
bool may_decode(const std::string& bytes) {
  constexpr int huffman_tables = 0xC4, end_of_image = 0xD9;
  if (!bytes.starts_with("\xFF\xD8")) return true;  // No JPEG.
  JpegBytes in(bytes);
  in.skip(2);
  while (!in.ended()) {
    if (in.next() != 0xFF) continue;  // Bytes of a scan, or padding.
    int marker = 0xFF;
    while (marker == 0xFF && !in.ended()) marker = in.next();
    if (marker == end_of_image) return true;
    if (marker <= 0x01 || (marker >= 0xD0 && marker <= 0xD8)) continue;  // These markers have no segment.
    const int high = in.next(), length = 256 * high + in.next() - 2;
    if (marker != huffman_tables)
      in.skip(length);
    else if (!has_small_tables(in, length))
      return false;
  }
  return true;
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
// stb shifts negative numbers and relies on two's complement. The sanitizer still checks its memory accesses.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function)
#endif
#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif
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
  if (!may_decode(bytes)) file.refuse("cannot be read: a Huffman table has more than 256 codes");
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  int width = 0, height = 0, found = 0;
  largest_allocation = std::size_t{1} << 20;
  if (stbi_info_from_memory(data, size, &width, &height, &found) == 0)
    file.refuse("cannot be read: ", stbi_failure_reason());
  const std::int64_t pixels = std::int64_t{width} * height;
  if (pixels <= 0 || pixels > max_pixels)
    file.refuse("a picture of ", width, " x ", height, " pixels, at most ", max_pixels, " are read");
  // Four channels of 16 bits and a copy take sixteen bytes a pixel.
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
    require(side >= 1 && side <= max_pixels, "resize", "from ", image.height, " x ", image.width, " pixels to ", height,
            " x ", width);
  require(height <= largest_side && width <= largest_side, "resize", "to ", height, " x ", width, " pixels: at most ",
          largest_side, " on a side");
  require(image.channels >= 1 && image.channels <= 4 &&
              static_cast<std::int64_t>(image.pixels.size()) == image.height * image.width * image.channels,
          "resize", image.pixels.size(), " bytes for ", image.height, " x ", image.width, " pixels of ", image.channels,
          " channels");
  // The part of the picture that is used.
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
  if (rows == height && columns == width) {  // stb's filter would blur a picture that already has the right size.
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
