#include "crisol/io/image.h"

#include <zlib.h>

#include <algorithm>
#include <filesystem>

#include "crisol/io/data_loader.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/files.h"
#include "support/processes/subprocess.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

using namespace crisol;
using doctest::Contains;
using testing::refusal;
using testing::TemporaryFolder;
using testing::write_file;

namespace {

// A picture of one colour; its left half is brighter by 100.
std::vector<std::uint8_t> two_halves(int width, int height, int channels, int base) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        pixels.push_back(static_cast<std::uint8_t>(base + c + (x < width / 2 ? 100 : 0)));
  return pixels;
}

void write_png(const std::string& path, int width, int height, int channels, int base) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  const auto pixels = two_halves(width, height, channels, base);
  REQUIRE(stbi_write_png(path.c_str(), width, height, channels, pixels.data(), 0) != 0);
}

void write_jpeg(const std::string& path, int width, int height, int base) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  const auto pixels = two_halves(width, height, 3, base);
  REQUIRE(stbi_write_jpg(path.c_str(), width, height, 3, pixels.data(), 95) != 0);
}

std::string big(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big(static_cast<std::uint32_t>(data.size())) + body + big(static_cast<std::uint32_t>(crc));
}

// A grey PNG whose data, once decompressed, is `zeros` bytes long.
std::string png_of_zeros(std::uint32_t width, std::uint32_t height, std::size_t zeros) {
  const std::string raw(zeros, '\0');
  std::string packed(compressBound(static_cast<uLong>(raw.size())), '\0');
  auto size = static_cast<uLongf>(packed.size());
  REQUIRE(compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(raw.data()),
                    static_cast<uLong>(raw.size()), 9) == Z_OK);
  packed.resize(size);
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", big(width) + big(height) + std::string("\x08\0\0\0\0", 5)) +
         chunk("IDAT", packed) + chunk("IEND", "");
}

doctest::String image_refusal(const std::string& bytes) {
  const TemporaryFolder folder;
  write_file(folder.path() + "/picture", bytes);
  return refusal(ErrorCode::io, [&] { io::read_image(folder.path() + "/picture"); });
}

}  // namespace

TEST_CASE("PNG and JPEG pictures are read with any number of channels") {
  const TemporaryFolder folder;
  const std::string png = folder.path() + "/a.png", jpeg = folder.path() + "/a.jpg";
  write_png(png, 6, 4, 3, 20);
  const io::Image image = io::read_image(png);
  CHECK(image.height == 4);
  CHECK(image.width == 6);
  CHECK(image.channels == 3);
  CHECK(image.pixels == two_halves(6, 4, 3, 20));
  CHECK(io::read_image(png, 1).pixels.size() == 24);
  CHECK(io::read_image(png, 4).pixels[3] == 255);
  write_jpeg(jpeg, 32, 16, 50);
  const io::Image lossy = io::read_image(jpeg);
  CHECK(lossy.width == 32);
  CHECK(std::abs(lossy.pixels[0] - 150) < 8);
  CHECK(std::abs(lossy.pixels[3 * 31] - 50) < 8);
  testing::check_error([&] { io::read_image(png, 5); }, {"[read_image]", "channels 5"});
}

TEST_CASE("a bad picture is refused by name with what is wrong") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.png";
  write_png(path, 40, 30, 3, 0);
  const std::string good = testing::read_file(path);
  CHECK(refusal(ErrorCode::io, [&] { io::read_image(folder.path() + "/none"); }) == Contains("/none: no such file"));
  CHECK(image_refusal("") == Contains("/picture: neither a PNG nor a JPEG image"));
  CHECK(image_refusal("text") == Contains("neither a PNG nor a JPEG image"));
  CHECK(image_refusal("\x93NUMPY\x01\x02\x03") == Contains("this is a NumPy array (.npy)"));
  CHECK(image_refusal(good.substr(0, 20)) == Contains("cannot be read: "));
  CHECK(image_refusal(good.substr(0, good.size() / 2)) == Contains("cannot be read: "));
  CHECK(image_refusal("\xff\xd8\xff\xe0 no picture") == Contains("cannot be read: "));
  CHECK(image_refusal(png_of_zeros(16000, 16000, 10)) ==
        Contains("a picture of 16000 x 16000 pixels, at most 67108864"));
  // A picture of one pixel with 64 MiB of data would fill the memory.
  CHECK(image_refusal(png_of_zeros(1, 1, std::size_t{1} << 26)) == Contains("cannot be read: outofmem"));
  CHECK(image_refusal(png_of_zeros(3, 3, 12)) == "nothing thrown");
}

TEST_CASE("a JPEG with more codes than its tables hold is refused before it is decoded") {
  // A segment of another kind that looks like tables, then a Huffman table with 16 x 17 codes.
  const std::string start("\xFF\xD8\xFF\xE0\x00\x04\xFF\xC4\xFF\xFF\xC4\x01\x23\x10", 14);
  const std::string values(272, '\0');
  CHECK(image_refusal(start + std::string(16, '\x11') + values) == Contains("more than 256 codes"));
  CHECK(image_refusal(start + std::string(16, '\x10') + values) == Contains("cannot be read: "));
  CHECK(image_refusal(start + std::string(16, '\x10') + values) != Contains("more than 256 codes"));
}

TEST_CASE("resize keeps proportions by cutting, or stretches") {
  io::Image wide{2, 8, 1, {}};
  for (int i = 0; i < 16; ++i) wide.pixels.push_back(i % 8 < 2 ? 0 : i % 8 < 6 ? 100 : 200);
  const io::Image cut = io::resize(wide, 4, 8);  // The middle four columns.
  CHECK(cut.height == 4);
  CHECK(cut.width == 8);
  CHECK(std::all_of(cut.pixels.begin(), cut.pixels.end(), [](int v) { return v == 100; }));
  const io::Image stretched = io::resize(wide, 4, 8, true);
  CHECK(stretched.pixels[0] < 30);
  CHECK(stretched.pixels[7] > 170);
  io::Image tall{8, 2, 1, {}};
  for (int i = 0; i < 16; ++i) tall.pixels.push_back(i < 4 || i >= 12 ? 0 : 90);
  const io::Image square = io::resize(tall, 3, 3);
  CHECK(std::count(square.pixels.begin(), square.pixels.end(), 90) >= 3);
  CHECK(io::resize(wide, 2, 8).pixels == wide.pixels);
  testing::check_error([&] { io::resize(wide, 0, 3); }, {"[resize]", "to 0 x 3"});
  testing::check_error([&] { io::resize(wide, 1, 20000); }, {"[resize]", "at most 16384"});
  testing::check_error([] { io::resize(io::Image{}, 3, 3); }, {"[resize]", "from 0 x 0"});
  wide.pixels.pop_back();
  testing::check_error([&] { io::resize(wide, 3, 3); }, {"[resize]", "15 bytes"});
}

TEST_CASE("ImageFolder: one class for each subfolder, in the order of names") {
  const TemporaryFolder folder;
  write_png(folder.path() + "/dog/2.PNG", 8, 8, 3, 60);
  write_jpeg(folder.path() + "/dog/1.jpeg", 16, 8, 80);
  write_png(folder.path() + "/cat/deep/er/x.png", 4, 4, 1, 10);
  write_file(folder.path() + "/cat/notes.txt", "no picture");
  write_file(folder.path() + "/readme.txt", "no class");
  const io::ImageFolder pictures(folder.path(), {.height = 4, .width = 6});
  CHECK(pictures.classes() == std::vector<std::string>{"cat", "dog"});
  REQUIRE(pictures.size() == 3);
  CHECK(std::filesystem::path(pictures.path(0)).filename() == "x.png");
  CHECK(std::filesystem::path(pictures.path(1)).filename() == "1.jpeg");
  CHECK(pictures.fields()[0].shape == Shape{3, 4, 6});
  io::DataLoader loader(pictures, {.batch_size = 3, .threads = 2});
  for (const io::Batch& batch : loader) {
    CHECK(batch.target.to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 1});
    const std::vector<float> values = batch.input.to_vector<float>();
    CHECK(values[0] == doctest::Approx(110 / 255.0).epsilon(0.02));
    // The second picture's green plane at its top right corner.
    CHECK(values[72 + 24 + 5] == doctest::Approx(81 / 255.0).epsilon(0.1));
  }
  testing::check_error([&] { pictures.path(3); }, {"[ImageFolder]", "index 3 is not in [0, 3)"});
}

TEST_CASE("ImageFolder: bad folders and options are refused, a bad picture when it is read") {
  const TemporaryFolder folder;
  const auto folder_refusal = [](const std::string& path) {
    return refusal(ErrorCode::io, [&] { io::ImageFolder pictures(path); });
  };
  CHECK(folder_refusal(folder.path() + "/none") == Contains("/none: no such folder"));
  CHECK(folder_refusal(folder.path()) == Contains("no subfolders"));
  write_file(folder.path() + "/file", "");
  CHECK(folder_refusal(folder.path() + "/file") == Contains("/file: no such folder"));
  std::filesystem::create_directories(folder.path() + "/cat");
  CHECK(folder_refusal(folder.path()) == Contains("cat: no pictures"));
  write_file(folder.path() + "/cat/broken.png", "\x89PNG and no more");
  testing::check_error([&] { io::ImageFolder(folder.path(), {.height = 0}); }, {"[ImageFolder]", "0 x 224"});
  testing::check_error([&] { io::ImageFolder(folder.path(), {.channels = 2}); }, {"[ImageFolder]", "channels 2"});
  io::DataLoader loader(io::ImageFolder(folder.path()), {.batch_size = 1});
  loader.start();
  io::Batch batch;
  CHECK(refusal(ErrorCode::io, [&] { loader.next(batch); }) == Contains("broken.png: cannot be read: "));
}
