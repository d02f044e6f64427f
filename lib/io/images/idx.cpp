#include "crisol/io/idx.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>

#include "base/system.h"
#include "base/text.h"

namespace crisol::io {
namespace {

constexpr std::uint32_t images_magic = 0x00000803;
constexpr std::uint32_t labels_magic = 0x00000801;
// DEFLATE encodes at most 258 bytes in 2 bits.
constexpr std::uint64_t largest_expansion = 1032;

std::string hexadecimal(std::uint32_t value) {
  std::string digits = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(value >> shift) & 15u];
  return digits;
}

/// Reads a plain or gzipped file in order; errors name the file.
class IdxFile {
 public:
  explicit IdxFile(const std::string& path) : path_(path) {
    std::error_code error;
    const std::filesystem::path name = system::path_of(path);
    const auto status = std::filesystem::status(name, error);
    if (!std::filesystem::exists(status)) refuse("no such file");
    if (!std::filesystem::is_regular_file(status)) refuse("not a regular file");
    size_ = std::filesystem::file_size(name, error);
#ifdef _WIN32
    file_.reset(gzopen_w(name.c_str(), "rb"));
#else
    file_.reset(gzopen(name.c_str(), "rb"));
#endif
    if (error || file_ == nullptr) refuse("cannot be opened: ", std::strerror(errno));
  }

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorCode::io, "idx", path_, ": ", parts...);
  }

  /// The sizes in the header, one for each dimension. Their product is known to fit into the file.
  template <std::size_t dimensions>
  std::array<std::int64_t, dimensions> read_header(std::uint32_t magic, const char* kind) {
    if (const std::uint32_t found = read_u32("the magic number"); found != magic)
      refuse("magic number is ", hexadecimal(found), ", a file of ", kind, " has ", hexadecimal(magic));
    std::array<std::int64_t, dimensions> sizes;
    std::string text;
    for (std::int64_t& size : sizes) {
      size = read_u32("the sizes");
      text += (text.empty() ? "" : " x ") + std::to_string(size);
    }
    std::uint64_t bytes = 1;
    for (const std::int64_t size : sizes) {
      const auto factor = static_cast<std::uint64_t>(size);
      if (factor != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / factor)
        refuse("absurd sizes ", text, ": more than 2^64 bytes");
      bytes *= factor;
    }
    if (bytes / largest_expansion > size_)
      refuse("absurd sizes ", text, ": ", bytes, " bytes cannot come from a file of ", size_);
    return sizes;
  }

  /// Reads exactly `expected` bytes and checks that the file ends there.
  std::vector<std::uint8_t> read_rest(std::uint64_t expected) {
    // Reads step by step, so that a short file with a large promised size does not cause a large allocation.
    constexpr std::uint64_t step = 1 << 20;
    std::vector<std::uint8_t> bytes;
    while (bytes.size() < expected) {
      const std::size_t begin = bytes.size();
      const auto wanted = static_cast<std::size_t>(std::min(step, expected - begin));
      bytes.resize(begin + wanted);
      const std::size_t got = read(bytes.data() + begin, wanted);
      if (got < wanted) refuse("truncated: ", expected, " bytes of data expected, ", begin + got, " found");
    }
    std::uint8_t extra;
    if (read(&extra, 1) != 0) refuse("trailing bytes after the ", expected, " bytes of data");
    if (breaks_off_) refuse("truncated: the gzip stream lacks its end");
    return bytes;
  }

 private:
  struct Close {
    void operator()(gzFile_s* file) const { gzclose(file); }
  };

  std::uint32_t read_u32(const char* what) {
    std::array<std::uint8_t, 4> b;
    if (const std::size_t got = read(b.data(), 4); got < 4)
      refuse("truncated in ", what, ": 4 bytes expected, ", got, " found");
    return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
  }

  std::size_t read(std::uint8_t* bytes, std::size_t count) {
    const int got = gzread(file_.get(), bytes, static_cast<unsigned>(count));
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    breaks_off_ = code == Z_BUF_ERROR;
    if (code == Z_ERRNO) refuse("cannot be read: ", std::strerror(errno));
    if (got < 0 || (code < 0 && !breaks_off_)) refuse("damaged gzip stream: ", text);
    return static_cast<std::size_t>(got);
  }

  std::string path_;
  std::uint64_t size_ = 0;
  bool breaks_off_ = false;  // Whether the gzip stream ended too early in the last read.
  std::unique_ptr<gzFile_s, Close> file_;
};

// The first existing file of the folder among MNIST's file names.
std::string find_mnist(const std::string& folder, const std::string& stem, const std::string& type) {
  std::string tried;
  for (const char* separator : {"-", "."})
    for (const char* suffix : {"", ".gz"}) {
      const std::string name = stem + separator + type + suffix;
      const std::filesystem::path path = system::path_of(folder) / name;
      std::error_code error;
      if (std::filesystem::exists(path, error)) return system::text_of(path);
      tried.append(tried.empty() ? "" : ", ").append(name);
    }
  fail(ErrorCode::io, "load_mnist", "none of ", tried, " in folder ", folder);
}

}  // namespace

IdxImages read_idx_images(const std::string& path) {
  IdxFile file(path);
  const auto [count, rows, columns] = file.read_header<3>(images_magic, "images");
  if (rows == 0 || columns == 0) file.refuse("images of ", rows, " x ", columns, " pixels");
  IdxImages images{count, rows, columns, {}};
  images.pixels = file.read_rest(static_cast<std::uint64_t>(count * rows * columns));
  return images;
}

std::vector<std::uint8_t> read_idx_labels(const std::string& path) {
  IdxFile file(path);
  return file.read_rest(static_cast<std::uint64_t>(file.read_header<1>(labels_magic, "labels")[0]));
}

ImageSet read_idx(const std::string& images_path, const std::string& labels_path) {
  IdxImages images = read_idx_images(images_path);
  std::vector<std::uint8_t> labels = read_idx_labels(labels_path);
  if (static_cast<std::int64_t>(labels.size()) != images.count)
    fail(ErrorCode::io, "idx", labels_path, ": ", labels.size(), " labels for the ", images.count, " images of ",
         images_path);
  return {images.rows, images.columns, std::move(images.pixels), std::move(labels)};
}

ImageSet load_mnist(const std::string& folder, MnistPart part) {
  constexpr std::int64_t side = 28;
  const std::string stem = part == MnistPart::train ? "train" : "t10k";
  const std::string images_path = find_mnist(folder, stem + "-images", "idx3-ubyte");
  const std::string labels_path = find_mnist(folder, stem + "-labels", "idx1-ubyte");
  ImageSet set = read_idx(images_path, labels_path);
  if (set.rows != side || set.columns != side)
    fail(ErrorCode::io, "load_mnist", images_path, ": images of ", set.rows, " x ", set.columns,
         " pixels, MNIST's have 28 x 28");
  for (std::size_t i = 0; i < set.labels.size(); ++i)
    if (set.labels[i] > 9)
      fail(ErrorCode::io, "load_mnist", labels_path, ": label ", static_cast<int>(set.labels[i]), " of image ", i,
           " is not a digit from 0 to 9");
  return set;
}

}  // namespace crisol::io
