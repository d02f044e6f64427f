// Models with test data beside them, and tensors in files of their own.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/onnx_writer.h"
#include "support/processes/program.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;
namespace of = crisol::testing::onnx_file;
using doctest::Contains;
using of::Proto;
using Floats = std::vector<float>;

namespace {

/// y = a - b and n = whether a < b, with one set of right data.
struct Folder {
  TemporaryFolder folder;
  std::string path = folder.path(), set = (std::filesystem::path(path) / "test_data_set_0").string();

  Folder() {
    write_file(path + "/net.onnx",
               of::model(of::graph({.nodes = {of::node("Sub", {"a", "b"}, {"y"}), of::node("Less", {"a", "b"}, {"n"})},
                                    .inputs = {of::value("a", of::f32, {"2"}), of::value("b", of::f32, {"2"})},
                                    .outputs = {of::value("y", of::f32, {"2"}), of::value("n", of::boolean, {"2"})}}))
                   .bytes());
    std::filesystem::create_directory(set);
    write("input_0", of::raw_tensor<float>("b", of::f32, {2}, {1, 20}));
    write("input_1", of::raw_tensor<float>("a", of::f32, {2}, {5, 5}));
    write("output_0", of::raw_tensor<float>("", of::f32, {2}, {4, -15}));
    write("output_1", of::raw_tensor<char>("", of::boolean, {2}, {0, 1}));
  }
  void write(const std::string& name, const Proto& tensor) { write_file(set + '/' + name + ".pb", tensor.bytes()); }
  onnx::CheckedSet result(const onnx::CheckOptions& options = {}) const {
    const std::vector<onnx::CheckedSet> sets = onnx::check(path, options);
    REQUIRE(sets.size() == 1);
    CHECK(sets[0].folder == set);
    return sets[0];
  }
};

}  // namespace

TEST_CASE("onnx::load_tensor: elements in each place, and refusals") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/x.pb";
  const auto load = [&](const Proto& tensor) {
    write_file(path, tensor.bytes());
    return onnx::load_tensor(path);
  };
  const auto [name, raw] = load(of::raw_tensor<float>("x", of::f32, {1, 2}, {1.5f, -2}));
  CHECK(name == "x");
  CHECK(raw.shape() == Shape{1, 2});
  CHECK(raw.to_vector<float>() == Floats{1.5f, -2});
  const Tensor fields = load(of::tensor("", of::u8, {3}).integers(5, {1, 2, 255})).second;
  CHECK(fields.dtype() == DType::u8);
  CHECK(fields.to_vector<std::uint8_t>() == std::vector<std::uint8_t>{1, 2, 255});
  CHECK(load(of::raw_tensor<std::int64_t>("", of::i64, {}, {7})).second.item<int>() == 7);
  CHECK(load(of::raw_tensor<float>("", of::f32, {2, 0}, {})).second.shape() == Shape{2, 0});
  CHECK(refusal(ErrorCode::invalid_argument, [&] { load(of::raw_tensor<double>("", of::c64, {1}, {1})); }) ==
        "[onnx] elements of c64 are not supported");
  CHECK(refusal(ErrorCode::io, [&] { load(of::raw_tensor<float>("", of::f32, {2}, {1})); }) ==
        Contains("raw_data has 4 bytes, 2 elements of f32 take 8"));
  CHECK(refusal(ErrorCode::io, [&] { onnx::load_tensor(folder.path() + "/none.pb"); }) == Contains("none.pb"));
  write_file(path, "\x89PNG\r\n\x1a\n");
  CHECK(refusal(ErrorCode::io, [&] { onnx::load_tensor(path); }) == Contains("not a tensor of ONNX"));
}

TEST_CASE("onnx::check: outputs that are right, wrong and refused") {
  Folder data;
  CHECK(data.result().state == onnx::CheckState::passed);
  CHECK(data.result().largest_difference == 0);

  data.write("output_0", of::raw_tensor<float>("y", of::f32, {2}, {4, -15.01f}));
  CHECK(data.result().state == onnx::CheckState::passed);
  CHECK(data.result().largest_difference == doctest::Approx(0.01).epsilon(1e-3));
  const onnx::CheckedSet strict = data.result({.rtol = 1e-4});
  CHECK(strict.state == onnx::CheckState::wrong);
  CHECK(strict.reason == R"(output "y": 1 of 2 elements differ, the first at 1: -15, -15.0100002 expected)");
  CHECK(data.result({.rtol = 0, .atol = 0.02}).state == onnx::CheckState::passed);
  data.write("output_0", of::raw_tensor<float>("y", of::f32, {2}, {std::nanf(""), -15}));
  CHECK(data.result().reason == R"(output "y": 1 of 2 elements differ, the first at 0: 4, nan expected)");
  data.write("output_0", of::raw_tensor<float>("y", of::f32, {1, 2}, {4, -15}));
  CHECK(data.result().reason == R"(output "y": shape (2), (1, 2) expected)");

  data.write("output_0", of::raw_tensor<float>("y", of::f32, {2}, {4, -15}));
  data.write("output_1", of::raw_tensor<char>("n", of::boolean, {2}, {1, 1}));
  CHECK(data.result().reason == R"(output "n": 1 of 2 elements differ, the first at 0: 0, 1 expected)");
  data.write("output_1", of::raw_tensor<std::int64_t>("n", of::i64, {2}, {0, 1}));
  CHECK(data.result().reason == R"(output "n": elements of bool, i64 expected)");
  data.write("output_1", of::raw_tensor<double>("n", of::c64, {2}, {0, 1}));
  CHECK(data.result().state == onnx::CheckState::refused);
  CHECK(data.result().reason == "[onnx] elements of c64 are not supported");
  data.write("output_1", of::raw_tensor<char>("n", of::boolean, {2}, {0, 1}));
  data.write("input_2", of::raw_tensor<float>("c", of::f32, {2}, {0, 0}));
  CHECK(doctest::String(data.result().reason.c_str()) == Contains("input_2.pb: the model has 2 inputs"));
  std::filesystem::remove(data.set + "/input_2.pb");
  std::filesystem::remove(data.set + "/input_1.pb");
  CHECK(data.result().reason == R"([onnx] input "a" is missing)");
}

TEST_CASE("onnx::check: folders without a model or data") {
  Folder data;
  const auto refused = [&](ErrorCode code = ErrorCode::io) { return refusal(code, [&] { onnx::check(data.path); }); };
  write_file(data.path + "/other.onnx", "");
  CHECK(refused() == Contains("the folder has 2 files *.onnx; it must have one, or model.onnx"));
  std::filesystem::rename(data.path + "/net.onnx", data.path + "/model.onnx");
  CHECK(data.result().state == onnx::CheckState::passed);
  std::filesystem::remove(data.set + "/output_0.pb");
  CHECK(doctest::String(data.result().reason.c_str()) == Contains("there is no output_0.pb"));
  std::filesystem::remove_all(data.set);
  CHECK(refused() == Contains("there is no folder test_data_set_*"));
  CHECK(refusal(ErrorCode::io, [&] { onnx::check(data.path + "/none"); }) == Contains("none: "));
  CHECK(refusal(ErrorCode::invalid_argument, [&] { onnx::check(data.path, {.rtol = -1}); }) ==
        Contains("rtol -1 and atol 1e-07 must not be negative"));
}

TEST_CASE("crisol onnx check: a line for each set, JSON, and the exit status") {
  NEEDS_CRISOL();
  Folder good, bad;
  bad.write("output_0", of::raw_tensor<float>("y", of::f32, {2}, {4, 0}));
  const ProcessResult one = run_built("crisol", {"onnx", "check", good.path});
  CHECK(one.status == 0);
  CHECK(one.out == good.set + ": passed, largest difference 0\n");
  const ProcessResult all = run_built("crisol", {"onnx", "check", bad.path, good.path, good.path + "/none"});
  CHECK(all.status == 1);
  CHECK(contains(all.out, bad.set + ": wrong: output \"y\": 1 of 2 elements differ, the first at 1: -15, 0 expected\n" +
                              good.set + ": passed, largest difference 0\n" + good.path + "/none: refused: [onnx] "));
  CHECK(run_built("crisol", {"onnx", "check", bad.path, "--atol", "15"}).status == 0);
  const ProcessResult shown = run_built("crisol", {"onnx", "check", good.path, bad.path, "--json"});
  CHECK(shown.status == 1);
  const auto json = nlohmann::json::parse(shown.out);
  REQUIRE(json.size() == 2);
  CHECK(json[0] ==
        nlohmann::json{{"folder", good.set}, {"state", "passed"}, {"reason", ""}, {"largest_difference", 0.0}});
  CHECK(json[1]["state"] == "wrong");
  CHECK(json[1]["largest_difference"] == 15);
  CHECK(run_built("crisol", {"onnx", "check"}).status == 2);
  CHECK(run_built("crisol", {"onnx", "check", good.path, "--rtol", "-1"}).status == 2);
}
