// Data of tensors in files beside a model.
#include <filesystem>

#include "base/system.h"
#include "doctest/doctest.h"
#include "onnx/reader/model_file.h"
#include "support/files.h"
#include "support/onnx_writer.h"
#include "support/processes/subprocess.h"

using namespace crisol::onnx::file;
using namespace crisol::testing::onnx_file;
using crisol::ErrorCode;
using crisol::testing::refusal;
using crisol::testing::TemporaryFolder;
using crisol::testing::write_file;
using doctest::Contains;

namespace fs = std::filesystem;

namespace {

/// A folder with a model of one tensor of 2 bytes, and the files "data" (5 bytes) and "sub/data".
struct Folder {
  TemporaryFolder outside;
  std::string folder = outside.path() + "/models";

  Folder() {
    fs::create_directories(crisol::system::path_of(folder + "/sub"));
    write_file(folder + "/data", "01234");
    write_file(folder + "/sub/data", "abcde");
    write_file(outside.path() + "/secret", "secret");
  }

  std::string read(const std::vector<Proto>& entries, const std::string& model_path = {}) const {
    const std::string path = model_path.empty() ? folder + "/net.onnx" : model_path;
    write_file(path, model(graph({.initializers = {external_tensor("w", u8, {2}, entries)}})).bytes());
    ModelFile file(path);
    return std::string(file.elements_of(file.model().graph.initializers[0]).bytes());
  }
  std::string at(const std::string& location) const { return read({entry("location", location)}); }
  doctest::String refused(const std::string& location) const {
    return refusal(ErrorCode::io, [&] { at(location); });
  }
};

}  // namespace

TEST_CASE("onnx external data: ranges of files in the model's folder") {
  const Folder f;
  CHECK(f.at("data") == "01");
  CHECK(f.at("./sub/./data") == "ab");
  CHECK(f.read({entry("location", "data"), entry("offset", "3"), entry("length", "2"), entry("checksum", "x")}) ==
        "34");
  const fs::path before = fs::current_path();
  fs::current_path(crisol::system::path_of(f.folder));
  CHECK(f.read({entry("location", "data")}, "net.onnx") == "01");
  fs::current_path(before);
}

TEST_CASE("onnx external data: ranges that do not fit are refused") {
  const Folder f;
  const auto refused = [&](const std::vector<Proto>& entries) {
    return refusal(ErrorCode::io, [&] { f.read(entries); });
  };
  const Proto location = entry("location", "data");
  CHECK(refused({location, entry("offset", "4")}) ==
        Contains(R"(net.onnx: external data in "data": tensor "w" takes 2 bytes from byte 4, the file has 5 bytes)"));
  CHECK(refused({location, entry("offset", "18446744073709551615")}) == Contains("from byte 18446744073709551615"));
  CHECK(refused({location, entry("offset", "18446744073709551616")}) == Contains("is no number of bytes"));
  CHECK(refused({location, entry("offset", "-1")}) == Contains("\"-1\" is no number of bytes"));
  CHECK(refused({location, entry("length", "1x")}) == Contains("\"1x\" is no number of bytes"));
  CHECK(refused({location, entry("length", "3")}) == Contains("the tensor takes 2 bytes, and 3 lie in \"data\""));
  CHECK(refused({}) == Contains("its location is missing"));
}

TEST_CASE("onnx external data: locations outside of the model's folder are refused") {
  const Folder f;
  CHECK(f.refused("../secret") == Contains("the location is refused: it has \"..\""));
  CHECK(f.refused("sub/../data") == Contains("it has \"..\""));
  CHECK(f.refused(f.outside.path() + "/secret") == Contains("the location is refused: it "));
  CHECK(f.refused("/etc/passwd") == Contains("it is an absolute path"));
  CHECK(f.refused("sub\\data") == Contains("it has a backslash or a colon"));
  CHECK(f.refused("C:data") == Contains("it has a backslash or a colon"));
  CHECK(f.refused(std::string("data\0x", 6)) == Contains("it has a control character"));
  CHECK(f.refused("none") == Contains("no such file in the model's folder"));
  CHECK(f.refused("sub") == Contains("not a regular file"));

  std::error_code error;
  fs::create_symlink("../secret", crisol::system::path_of(f.folder + "/link"), error);
  if (error) return;  // Windows lets administrators alone make links.
  CHECK(f.refused("link") == Contains("a symbolic link leads out of the model's folder"));
  fs::create_directory_symlink("..", crisol::system::path_of(f.folder + "/up"));
  CHECK(f.refused("up/secret") == Contains("a symbolic link leads out of the model's folder"));
  fs::create_symlink("sub/data", crisol::system::path_of(f.folder + "/inside"));
  CHECK(f.at("inside") == "ab");
}
