// `crisol onnx info`, and the functions behind it.
#include <nlohmann/json.hpp>

#include "crisol/c/crisol.h"
#include "crisol/error.h"
#include "crisol/onnx.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/onnx_writer.h"
#include "support/processes/program.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol::testing;
using namespace crisol::testing::onnx_file;
using crisol::onnx::ModelInfo;
using crisol::onnx::read_info;
using doctest::Contains;
using nlohmann::json;

namespace {

/// A classifier with a graph within a node, a function, weights in another file, and names that a terminal should not
/// see.
Proto classifier() {
  const Proto branch =
      graph({.nodes = {node("Relu", {"y"}, {"r"})}, .initializers = {raw_tensor<float>("k", f32, {}, {1})}});
  const Proto function = Proto()
                             .text(1, "Twice")
                             .text(4, "x")
                             .text(5, "y")
                             .message(7, node("Add", {"x", "x"}, {"y"}))
                             .message(9, operator_set("", 14))
                             .text(10, "mine");
  return model(graph({.nodes = {node("Conv", {"images", "w", "b"}, {"y"}), node("Relu", {"y"}, {"z"}),
                                node("If", {"c"}, {"r"}, {graph_attribute("then_branch", branch)}),
                                node("Twice", {"z"}, {"logits"}, {}, "mine")},
                      .initializers = {external_tensor("w", f32, {8, 3, 3, 3}, {entry("location", "net.data")}),
                                       raw_tensor<std::int64_t>("shape", i64, {2}, {1, -1})},
                      .inputs = {value("images", f32, {"batch", "3", "", "224"}), value("w", f32, {"8"}),
                                 value("bad\033[31m", Proto().message(4, Proto().message(1, tensor_type(i64, {}))))},
                      .outputs = {value("logits", Proto().message(1, Proto().integer(1, f16)))}}))
      .message(25, function)
      .message(8, operator_set("mine", 1))
      .message(14, entry("author", "J. \xff"))
      .text(3, "1.0")
      .integer(5, 3)
      .message(20, Proto());
}

struct Files {
  TemporaryFolder folder;
  std::string path = folder.path() + "/net.onnx";

  Files() {
    write_file(path, classifier().bytes());
    write_file(folder.path() + "/net.data", std::string(8 * 27 * 4, '\0'));
  }
};

}  // namespace

TEST_CASE("onnx::read_info: what a file says about itself") {
  const Files files;
  const ModelInfo info = read_info(files.path);
  CHECK(info.path == files.path);
  CHECK(info.file_bytes == classifier().bytes().size());
  CHECK(info.ir_version == 8);
  CHECK(info.producer == "crisol tests");
  CHECK(info.producer_version == "1.0");
  CHECK(info.model_version == 3);
  CHECK(info.has_training);
  REQUIRE(info.operator_sets.size() == 2);
  CHECK(info.operator_sets[0].domain == "ai.onnx");
  CHECK(info.operator_sets[0].version == 17);
  REQUIRE(info.inputs.size() == 2);  // An input that is an initializer too is none.
  CHECK(info.inputs[0].name == "images");
  CHECK(info.inputs[0].type == "f32");
  REQUIRE(info.inputs[0].shape.size() == 4);
  CHECK(info.inputs[0].shape[0].name == "batch");
  CHECK(info.inputs[0].shape[0].size == -1);
  CHECK(info.inputs[0].shape[1].size == 3);
  CHECK(info.inputs[0].shape[2].name.empty());
  CHECK(info.inputs[1].type == "sequence(i64)");
  REQUIRE(info.outputs.size() == 1);
  CHECK(info.outputs[0].type == "f16");
  CHECK_FALSE(info.outputs[0].has_shape);
  // Relu is in the graph and in a branch, and Add is in the function.
  REQUIRE(info.ops.size() == 5);
  CHECK(info.ops[0].name == "Relu");
  CHECK(info.ops[0].nodes == 2);
  CHECK(info.ops[1].name == "Add");
  CHECK(info.ops[4].domain == "mine");
  CHECK(info.ops[4].name == "Twice");
  REQUIRE(info.functions.size() == 1);
  CHECK(info.functions[0].nodes == 1);
  CHECK(info.parameters == 8 * 27 + 1);
  REQUIRE(info.initializers.size() == 2);
  CHECK(info.initializers[0].type == "f32");
  CHECK(info.initializers[0].tensors == 2);
  CHECK(info.initializers[0].bytes == (8 * 27 + 1) * 4);
  CHECK(info.initializers[1].elements == 2);
  REQUIRE(info.external_files.size() == 1);
  CHECK(info.external_files[0].location == "net.data");
  CHECK(info.external_files[0].bytes == 8 * 27 * 4);
  CHECK(info.external_files[0].fault.empty());
  CHECK(info.metadata.at("author") == "J. \xff");
}

TEST_CASE("onnx::read_info: an external file that is missing is a fault in the facts, not an error") {
  const TemporaryFolder folder;
  write_file(folder.path() + "/net.onnx", classifier().bytes());
  const ModelInfo info = read_info(folder.path() + "/net.onnx");
  REQUIRE(info.external_files.size() == 1);
  CHECK(contains(info.external_files[0].fault, "\"net.data\": no such file in the model's folder"));
  std::ostringstream text;
  text << info;
  CHECK(contains(text.str(), "no such file in the model's folder"));
}

TEST_CASE("crisol onnx info: text and JSON, as the functions give them, and from C") {
  NEEDS_CRISOL();
  const Files files;
  const ModelInfo info = read_info(files.path);
  const ProcessResult text = run_built("crisol", {"onnx", "info", files.path});
  REQUIRE(text.status == 0);
  std::ostringstream expected;
  expected << info;
  CHECK(text.out == expected.str());
  CHECK(contains(text.out, "net.onnx: " + std::to_string(info.file_bytes) + " B, ONNX IR version 8\n"));
  for (const char* line :
       {"  producer      crisol tests 1.0\n", "  opset         ai.onnx 17\n", "                mine 1\n",
        "  inputs        \"images\": f32 (batch, 3, ?, 224)\n",
        "                \"bad?[31m\": sequence(i64) of any shape\n", "  outputs       \"logits\": f16 of any shape\n",
        "  parameters    217\n", "  initializers  f32: 2 tensors, 868 B\n", "                i64: 1 tensor, 16 B\n",
        "  external      \"net.data\": 1 tensor, 864 B\n", "  functions     mine.Twice: 1 node\n",
        "  ops           Relu: 2\n", "                mine.Twice: 1\n", "  metadata      \"author\": \"J. "})
    CHECK_MESSAGE(contains(text.out, line), line);
  CHECK_FALSE(contains(text.out, "\033"));

  const ProcessResult shown = run_built("crisol", {"onnx", "info", files.path, "--json"});
  REQUIRE(shown.status == 0);
  CHECK(shown.out == to_json(info) + "\n");
  const char* from_c = nullptr;
  REQUIRE(crisol_onnx_info(files.path.c_str(), &from_c) == CRISOL_OK);
  CHECK(from_c == to_json(info));
  const json facts = json::parse(shown.out);
  CHECK(facts["opsets"][0]["domain"] == "ai.onnx");
  CHECK(facts["inputs"][0]["shape"] == json{"batch", 3, nullptr, 224});
  CHECK(facts["inputs"][1]["shape"] == nullptr);
  CHECK(facts["ops"][0] == json{{"domain", "ai.onnx"}, {"name", "Relu"}, {"nodes", 2}});
  CHECK(facts["parameters"] == 217);
  CHECK(facts["external_files"][0]["fault"] == nullptr);
  CHECK(facts["metadata"]["author"] == "J. \xef\xbf\xbd");
}

TEST_CASE("crisol onnx: wrong words and files") {
  NEEDS_CRISOL();
  const Files files;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"onnx"},
                                                {"onnx", "info"},
                                                {"onnx", "inof", files.path},
                                                {"onnx", "info", files.path, "x"}})
    CHECK(run_built("crisol", words).status == 2);
  write_file(files.path, classifier().bytes().substr(0, 100));
  check_fails(run_built("crisol", {"onnx", "info", files.path}), {"crisol: [onnx] ", "net.onnx: ", "truncated"});
  const char* text = nullptr;
  CHECK(crisol_onnx_info(files.path.c_str(), &text) == CRISOL_IO);
  CHECK(crisol_onnx_info(nullptr, &text) == CRISOL_INVALID_ARGUMENT);
  CHECK(text == nullptr);
}
