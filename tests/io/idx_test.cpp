#include "crisol/io/idx.h"

#include <zlib.h>

#include <cstdlib>
#include <filesystem>

#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"
#include "support/unopenable.h"

namespace fs = std::filesystem;
using crisol::ErrorCode;
using crisol::io::ImageSet;
using crisol::io::load_mnist;
using crisol::io::MnistPart;
using crisol::io::read_idx;
using crisol::io::read_idx_images;
using crisol::io::read_idx_labels;
using crisol::testing::read_file;
using crisol::testing::refusal;
using crisol::testing::TemporaryFolder;
using crisol::testing::Unopenable;
using crisol::testing::write_file;
using doctest::Contains;

namespace {

std::string u32(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string counting(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(i * 37 + 5);
  return bytes;
}

std::string images_file(std::uint32_t count, std::uint32_t rows, std::uint32_t columns) {
  return u32(0x803) + u32(count) + u32(rows) + u32(columns) + counting(std::size_t{count} * rows * columns);
}

std::string labels_file(const std::string& labels) {
  return u32(0x801) + u32(static_cast<std::uint32_t>(labels.size())) + labels;
}

void write_gzipped(const std::string& path, const std::string& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

doctest::String images_refusal(const std::string& path) {
  return refusal(ErrorCode::io, [&] { read_idx_images(path); });
}

doctest::String mnist_refusal(const std::string& folder) {
  return refusal(ErrorCode::io, [&] { load_mnist(folder, MnistPart::test); });
}

}  // namespace

TEST_CASE("IDX files are read plain and gzipped") {
  const TemporaryFolder folder;
  const std::string images = folder.path() + "/images", labels = folder.path() + "/labels";
  void (*write)(const std::string&, const std::string&) = write_file;
  SUBCASE("plain") {}
  SUBCASE("gzipped") { write = write_gzipped; }
  write(images, images_file(3, 4, 5));
  write(labels, labels_file({7, '\xff', 0}));
  const ImageSet set = read_idx(images, labels);
  CHECK(set.size() == 3);
  CHECK(set.rows == 4);
  CHECK(set.columns == 5);
  const std::string expected = counting(60);
  CHECK(set.pixels == std::vector<std::uint8_t>(expected.begin(), expected.end()));
  // The reader accepts any byte as a label.
  CHECK(set.labels == std::vector<std::uint8_t>{7, 255, 0});
}

TEST_CASE("an IDX file larger than one read comes whole") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/images.gz";
  write_gzipped(path, images_file(3000, 28, 28));
  const std::string expected = counting(3000 * 784);
  CHECK(read_idx_images(path).pixels == std::vector<std::uint8_t>(expected.begin(), expected.end()));
}

TEST_CASE("an IDX file without images is empty, not wrong") {
  const TemporaryFolder folder;
  write_file(folder.path() + "/images", images_file(0, 28, 28));
  write_file(folder.path() + "/labels", labels_file(""));
  CHECK(read_idx(folder.path() + "/images", folder.path() + "/labels").size() == 0);
}

TEST_CASE("a damaged IDX file is refused by name with what is wrong") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/images";
  const auto check = [&](const std::string& bytes, const char* expected) {
    CAPTURE(expected);
    write_file(path, bytes);
    const doctest::String text = images_refusal(path);
    CHECK(text == Contains(path.c_str()));
    CHECK(text == Contains(expected));
    // The same damage inside a gzip stream.
    write_gzipped(path, bytes);
    CHECK(images_refusal(path) == Contains(expected));
  };
  SUBCASE("wrong magic") {
    check(labels_file("abc"), "magic number is 0x00000801, a file of images has 0x00000803");
    check("PNG and so on", "magic number is 0x504e4720, a file of images has 0x00000803");
  }
  SUBCASE("truncated header") {
    check(u32(0x803).substr(0, 3), "truncated in the magic number: 4 bytes expected, 3 found");
    check(u32(0x803) + u32(2) + u32(3).substr(0, 1), "truncated in the sizes: 4 bytes expected, 1 found");
  }
  SUBCASE("truncated data") {
    const std::string good = images_file(2, 5, 6);
    check(good.substr(0, good.size() - 7), "truncated: 60 bytes of data expected, 53 found");
  }
  SUBCASE("trailing bytes") { check(images_file(2, 5, 6) + "x", "trailing bytes after the 60 bytes of data"); }
  SUBCASE("absurd sizes") {
    check(u32(0x803) + u32(0xffffffff) + u32(0xffffffff) + u32(0xffffffff), "more than 2^64 bytes");
    check(u32(0x803) + u32(60000) + u32(50000) + u32(50000) + "abc", "cannot come from a file of");
  }
  SUBCASE("images without pixels") { check(u32(0x803) + u32(60000) + u32(0) + u32(28), "images of 0 x 28 pixels"); }
}

TEST_CASE("a damaged gzip stream is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/images.gz";
  write_gzipped(path, images_file(20, 28, 28));
  const std::string good = read_file(path);
  SUBCASE("broken off in the data") {
    write_file(path, good.substr(0, good.size() / 2));
    CHECK(images_refusal(path) == Contains("truncated: 15680 bytes of data expected, "));
  }
  SUBCASE("broken off in its checksum") {
    write_file(path, good.substr(0, good.size() - 3));
    CHECK(images_refusal(path) == Contains("truncated: the gzip stream lacks its end"));
  }
  SUBCASE("wrong checksum") {
    std::string bad = good;
    bad[bad.size() - 6] = static_cast<char>(bad[bad.size() - 6] ^ 1);
    write_file(path, bad);
    CHECK(images_refusal(path) == Contains("damaged gzip stream: "));
  }
}

TEST_CASE("what is no file is refused") {
  const TemporaryFolder folder;
  CHECK(images_refusal(folder.path()) == Contains("not a regular file"));
  CHECK(images_refusal(folder.path() + "/none") == Contains("/none: no such file"));
}

TEST_CASE("an IDX file that cannot be opened is refused with the system's reason") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/images";
  write_file(path, images_file(1, 1, 1));
  doctest::String text;
  {
    const Unopenable locked(path);
    text = images_refusal(path);
  }
  CHECK(text == Contains((std::string("/images: cannot be opened: ") + Unopenable::reason).c_str()));
}

TEST_CASE("an IDX file that cannot be read is refused with the system's reason") {
  NEEDS_POSIX("/proc/self/mem");
  // It is a regular file that can be opened. Reading from its beginning fails, because nothing is mapped there.
  constexpr const char* unreadable_file = "/proc/self/mem";
  if (!std::filesystem::is_regular_file(unreadable_file)) CRISOL_SKIP("this system has no /proc/self/mem");
  CHECK(images_refusal(unreadable_file) == Contains("cannot be read: Input/output error"));
}

TEST_CASE("labels must be as many as images") {
  const TemporaryFolder folder;
  const std::string images = folder.path() + "/images", labels = folder.path() + "/labels";
  write_file(images, images_file(3, 2, 2));
  write_file(labels, labels_file("abcd"));
  const doctest::String text = refusal(ErrorCode::io, [&] { read_idx(images, labels); });
  CHECK(text == Contains((labels + ": 4 labels for the 3 images of " + images).c_str()));
  CHECK(refusal(ErrorCode::io, [&] { read_idx_labels(images); }) ==
        Contains("magic number is 0x00000803, a file of labels has 0x00000801"));
}

TEST_CASE("MNIST is found under each of its names") {
  const TemporaryFolder folder;
  for (const char* separator : {"-", "."})
    for (const char* suffix : {"", ".gz"}) {
      CAPTURE(separator);
      CAPTURE(suffix);
      const auto name = [&](const char* stem, const char* type) {
        return folder.path() + "/" + stem + separator + type + suffix;
      };
      const auto write = *suffix != '\0' ? write_gzipped : write_file;
      write(name("train-images", "idx3-ubyte"), images_file(2, 28, 28));
      write(name("train-labels", "idx1-ubyte"), labels_file({3, 9}));
      write(name("t10k-images", "idx3-ubyte"), images_file(1, 28, 28));
      write(name("t10k-labels", "idx1-ubyte"), labels_file({4}));
      CHECK(load_mnist(folder.path(), MnistPart::train).labels == std::vector<std::uint8_t>{3, 9});
      CHECK(load_mnist(folder.path(), MnistPart::test).labels == std::vector<std::uint8_t>{4});
      for (const fs::directory_entry& entry : fs::directory_iterator(folder.path())) fs::remove(entry.path());
    }
}

TEST_CASE("a folder that holds no MNIST is refused") {
  const TemporaryFolder folder;
  const std::string images = folder.path() + "/t10k-images-idx3-ubyte",
                    labels = folder.path() + "/t10k-labels-idx1-ubyte";
  CHECK(mnist_refusal(folder.path()) ==
        Contains("none of t10k-images-idx3-ubyte, t10k-images-idx3-ubyte.gz, t10k-images.idx3-ubyte, "
                 "t10k-images.idx3-ubyte.gz in folder "));
  write_file(images, images_file(2, 28, 28));
  CHECK(mnist_refusal(folder.path()) == Contains("none of t10k-labels-idx1-ubyte"));
  write_file(labels, labels_file({1, 10}));
  CHECK(mnist_refusal(folder.path()) == Contains("t10k-labels-idx1-ubyte: label 10 of image 1 is not a digit"));
  write_file(labels, labels_file({1, 2}));
  write_file(images, images_file(2, 28, 27));
  CHECK(mnist_refusal(folder.path()) == Contains("images of 28 x 27 pixels"));
}

TEST_CASE("the real MNIST has its sizes and first labels") {
  const char* data = std::getenv("CRISOL_TEST_DATA");
  if (data == nullptr) CRISOL_SKIP("CRISOL_TEST_DATA is not set");
  const std::string folder = std::string(data) + "/mnist";
  const ImageSet train = load_mnist(folder, MnistPart::train), test = load_mnist(folder, MnistPart::test);
  CHECK(train.size() == 60000);
  CHECK(train.pixels.size() == 60000u * 784u);
  CHECK(std::vector<std::uint8_t>(train.labels.begin(), train.labels.begin() + 8) ==
        std::vector<std::uint8_t>{5, 0, 4, 1, 9, 2, 1, 3});
  CHECK(test.size() == 10000);
  CHECK(std::vector<std::uint8_t>(test.labels.begin(), test.labels.begin() + 8) ==
        std::vector<std::uint8_t>{7, 2, 1, 0, 4, 1, 4, 9});
}
