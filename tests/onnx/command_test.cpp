// `crisol onnx run`, `bench` and `ops`, and the profile of a model.
#include <algorithm>
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

namespace {

/// y = relu(x · w) · w², with rows of any number, and the mask, which goes through.
struct Net {
  TemporaryFolder folder;
  std::string path = folder.path() + "/net.onnx", in = folder.path() + "/in.safetensors",
              out = folder.path() + "/out.safetensors";

  Net() {
    write_file(path,
               of::model(of::graph({.nodes = {of::node("MatMul", {"x", "w"}, {"a"}), of::node("Relu", {"a"}, {"b"}),
                                              of::node("MatMul", {"b", "w"}, {"c"}), of::node("Not", {"mask"}, {"m"}),
                                              of::node("MatMul", {"c", "w"}, {"y"})},
                                    .initializers = {of::raw_tensor<float>("w", of::f32, {2, 2}, {1, 2, 3, -4})},
                                    .inputs = {of::value("x", of::f32, {"N", "2"}),
                                               of::value("mask", of::boolean, {"N", "M"})},
                                    .outputs = {of::value("y", of::f32, {}), of::value("m", of::boolean, {})}}))
                   .bytes());
  }
  ProcessResult run(const std::vector<std::string>& more) const {
    return run_built("crisol", std::vector<std::string>{"onnx"} + more);
  }
};

}  // namespace

TEST_CASE("onnx::Model::profile: a row for each op, the longest first") {
  const Net net;
  const onnx::Model model = onnx::load(net.path);
  const NamedTensors inputs{{"x", ones({3, 2})}, {"mask", ones({3, 1}, DType::boolean)}};
  const std::vector<onnx::OpTime> rows = model.profile(inputs);
  REQUIRE(rows.size() == 3);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(rows[i].op);
    CHECK(rows[i].nodes == (rows[i].op == "MatMul" ? 3 : 1));
    CHECK(rows[i].launches >= rows[i].nodes);
    CHECK(rows[i].kernel_ms > 0);
    CHECK(rows[i].total_ms >= rows[i].kernel_ms * 0.9);
    if (i > 0) CHECK(rows[i - 1].total_ms >= rows[i].total_ms);
  }
  {
    // The passes leave no Relu: the first product computes it.
    const NoGrad no_grad;
    const std::vector<onnx::OpTime> left = model.profile(inputs);
    REQUIRE(left.size() == 2);
    for (const onnx::OpTime& row : left) {
      CHECK((row.op == "MatMul" || row.op == "Not"));
      CHECK(row.nodes == (row.op == "MatMul" ? 3 : 1));
      CHECK(row.kernel_ms > 0);
    }
  }
  CHECK(refusal(ErrorCode::invalid_argument, [&] { model.profile({}); }) == "[onnx] input \"x\" is missing");
  std::ostringstream text;
  text << rows;
  CHECK(contains(text.str(), "op       nodes  launches  kernels ms    total ms    share\n"));
  CHECK(contains(text.str(), "\nMatMul       3"));
  CHECK(nlohmann::json::parse(to_json(rows)).size() == 3);
}

TEST_CASE("crisol onnx run: tensors from a file to a file") {
  NEEDS_CRISOL();
  const Net net;
  const NamedTensors inputs{{"mask", from_vector(std::vector<bool>{true, false}, {2, 1}, DType::boolean)},
                            {"x", from_vector(std::vector<float>{1, 2, -3, 4}, {2, 2})}};
  io::save_safetensors(net.in, inputs);
  const ProcessResult done = net.run({"run", net.path, "--inputs", net.in, "--outputs", net.out});
  INFO(done.output);
  CHECK(done.status == 0);
  CHECK(done.out == "\"y\": f32 (2, 2)\n\"m\": bool (2, 1)\n");
  const NamedTensors outputs = io::load_safetensors(net.out);
  const onnx::Outputs expected = onnx::load(net.path)(inputs);
  REQUIRE(outputs.size() == 2);
  CHECK(outputs["y"].to_vector<float>() == expected["y"].to_vector<float>());
  CHECK(outputs["m"].to(DType::u8).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{0, 1});
  io::save_safetensors(net.in, {inputs[0]});
  check_fails(net.run({"run", net.path, "--inputs", net.in, "--outputs", net.out}),
              {"crisol: [onnx] input \"x\" is missing"});
  CHECK(net.run({"run", net.path, "--inputs", net.in}).status == 2);
}

TEST_CASE("crisol onnx run: a model without bytes does not ask the device for products of bytes") {
  NEEDS_CRISOL();
  const Net net;
  io::save_safetensors(net.in, {{"mask", ones({2, 1}, DType::boolean)}, {"x", ones({2, 2})}});
  const std::string trace = net.folder.path() + "/trace.json";
  const ProcessResult done = run_built("crisol", {"onnx", "run", net.path, "--inputs", net.in, "--outputs", net.out},
                                       {{"CRISOL_TRACE", trace}});
  INFO(done.output);
  REQUIRE(done.status == 0);
  const std::string events = read_file(trace);
  CHECK(contains(events, ".cl\""));
  CHECK_FALSE(contains(events, "pairs_probe"));
}

TEST_CASE("crisol onnx bench: shapes, inputs of a file, profile and JSON") {
  NEEDS_CRISOL();
  const Net net;
  const auto bench = [&](const std::vector<std::string>& more) {
    return net.run(std::vector<std::string>{"bench", net.path, "--repeat", "3"} + more);
  };
  const ProcessResult text = bench({"--shape", "mask=4,3"});
  INFO(text.output);
  CHECK(text.status == 0);
  CHECK(contains(text.out, "input   \"x\": f32 (4, 2)\ninput   \"mask\": bool (4, 3)\nmedian  "));
  CHECK(contains(text.out, "; 3 runs\n"));
  CHECK_FALSE(contains(text.out, "MatMul"));

  const ProcessResult shown = bench({"--shape", "mask=1,3", "--shape", "x=1,2", "--profile", "--json"});
  REQUIRE(shown.status == 0);
  const auto json = nlohmann::json::parse(shown.out);
  CHECK(json["inputs"] == nlohmann::json{{"x", {1, 2}}, {"mask", {1, 3}}});
  CHECK(json["median_ms"].get<double>() >= json["min_ms"].get<double>());
  CHECK(json["min_ms"].get<double>() > 0);
  CHECK(json["runs"] == 3);
  CHECK(json["peak_bytes"].get<int>() > 0);
  CHECK(json["profile"].size() == 2);
  CHECK(contains(bench({"--profile", "--shape", "mask=1,3"}).out, "\nMatMul  "));

  io::save_safetensors(net.in, {{"mask", ones({5, 1}, DType::boolean)}, {"x", ones({5, 2})}});
  CHECK(contains(bench({"--inputs", net.in}).out, "input   \"x\": f32 (5, 2)\n"));
  const auto refused = [&](const std::vector<std::string>& more, const char* text_of_error) {
    const ProcessResult result = bench(more);
    CHECK(result.status == 2);
    CHECK_MESSAGE(contains(result.errors, text_of_error), result.errors);
  };
  refused({}, "crisol onnx: input \"mask\" has an open size \"M\" on axis 1; give it with --shape mask=1,3,224,224\n");
  refused({"--shape", "y=1"}, "--shape y=1: the model has the inputs \"x\" \"mask\"");
  for (const char* shape :
       {"x", "=1", "x=1,", "x=1,,2", "x=-1", "x=a", "x=1;2", "x=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"})
    refused({"--shape", shape}, "is not of the form NAME=1,3,224,224");
  refused({"--shape", "x=1,2", "--inputs", net.in}, "--inputs");
  check_fails(bench({"--shape", "x=1,3", "--shape", "mask=1,1"}), {"has shape (1, 3), (N, 2) expected"});
}

TEST_CASE("crisol onnx info --optimized: what the passes leave") {
  NEEDS_CRISOL();
  const Net net;
  const ProcessResult shown = net.run({"info", net.path, "--optimized", "--shape", "mask=4,3"});
  INFO(shown.output);
  CHECK(shown.status == 0);
  CHECK(contains(shown.out, "pass remove_identities: "));
  CHECK(contains(shown.out, "MatMul "));
  CHECK(contains(shown.out, "(4, 2)"));
  CHECK(net.run({"info", net.path, "--optimized", "--json"}).status == 2);
  const ProcessResult refused = net.run({"info", net.path, "--shape", "mask=4,3"});
  CHECK(refused.status == 2);
  CHECK(contains(refused.errors, "--shape and --inputs need --optimized"));
}

TEST_CASE("crisol onnx ops: the ops that models may use") {
  NEEDS_CRISOL();
  const std::vector<onnx::SupportedOp> ops = onnx::supported_ops();
  CHECK(ops.size() > 100);
  CHECK(std::is_sorted(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
  const Net net;
  const std::string text = net.run({"ops"}).out;
  CHECK(contains(text, "\nConv 1-28\n"));
  CHECK(contains(text, "\nConstant 1-28\n"));
  const ProcessResult shown = net.run({"ops", "--json"});
  CHECK(shown.out == to_json(ops) + "\n");
  CHECK(nlohmann::json::parse(shown.out).size() == ops.size());
}
