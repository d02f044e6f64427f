// The C interface: models from ONNX files.
#include <filesystem>
#include <string>

#include "c_api/handle.h"
#include "support/files.h"
#include "support/onnx_writer.h"
#include "support/processes/subprocess.h"

using namespace crisol::testing;
using namespace crisol::testing::c_api;
namespace of = crisol::testing::onnx_file;
using of::Proto;

TEST_CASE("C: a model from an ONNX file is run, copied and read") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/net.onnx";
  write_file(path,
             of::model(of::graph({.nodes = {of::node("Add", {"x", "w"}, {"y"}), of::node("Mul", {"y", "x"}, {"z"})},
                                  .initializers = {of::raw_tensor<float>("w", of::f32, {2}, {10, 20})},
                                  .inputs = {of::value("x", of::f32, {"2"})},
                                  .outputs = {of::value("y", of::f32, {"2"}), of::value("z", of::f32, {"2"})}}))
                 .bytes());
  crisol_model *model = nullptr, *copy = nullptr;
  OK(crisol_onnx_load(path.c_str(), here, &model));
  OK(crisol_model_clone(model, &copy));
  const Handle x({1, 2}, {2});
  for (crisol_model* one : {model, copy}) {
    Handle y;
    OK(crisol_model_forward(one, x.get(), y.place()));
    CHECK(values_of(y.get()) == std::vector<float>{11, 22});
    const char *names[]{"x"}, *wanted[]{"z", "y"};
    const crisol_tensor* inputs[]{x.get()};
    crisol_tensor* results[2]{};
    OK(crisol_onnx_run(one, 1, names, inputs, 2, wanted, results));
    CHECK(values_of(results[0]) == std::vector<float>{11, 44});
    CHECK(values_of(results[1]) == std::vector<float>{11, 22});
    for (crisol_tensor* result : results) crisol_tensor_destroy(result);
    crisol_named_tensors* all = nullptr;
    OK(crisol_onnx_run_all(one, 1, names, inputs, &all));
    std::int32_t outputs = 0;
    OK(crisol_named_tensors_count(all, &outputs));
    CHECK(outputs == 2);
    Handle z;
    OK(crisol_named_tensors_get(all, "z", z.place()));
    CHECK(values_of(z.get()) == std::vector<float>{11, 44});
    crisol_named_tensors_destroy(all);
    refused(crisol_onnx_run_all(one, 0, nullptr, nullptr, &all), CRISOL_INVALID_ARGUMENT, {"input \"x\" is missing"});
    wanted[1] = "w";
    results[0] = nullptr;
    refused(crisol_onnx_run(one, 1, names, inputs, 2, wanted, results), CRISOL_INVALID_ARGUMENT, {"no output \"w\""});
    CHECK(results[0] == nullptr);
    refused(crisol_onnx_run(one, 1, nullptr, inputs, 1, wanted, results), CRISOL_INVALID_ARGUMENT, {"input_names"});
    refused(crisol_onnx_run(one, 1, names, inputs, 1, wanted, nullptr), CRISOL_INVALID_ARGUMENT, {"results"});
    std::int32_t count = 0;
    OK(crisol_model_parameter_count(one, &count));
    CHECK(count == 1);
    crisol_model_destroy(one);
  }
  OK(crisol_model_create("simple_cnn", 3, here, &model));
  refused(crisol_onnx_run(model, 0, nullptr, nullptr, 0, nullptr, nullptr), CRISOL_INVALID_ARGUMENT,
          {"the model does not come from an ONNX file"});
  crisol_model_destroy(model);
  write_file(path, "not a model");
  refused(crisol_onnx_load(path.c_str(), here, &model), CRISOL_IO, {"net.onnx"});
}

TEST_CASE("C: the inputs and outputs of a model, its profile, and its test data") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/net.onnx", set = folder.path() + "/test_data_set_0";
  write_file(path, of::model(of::graph({.nodes = {of::node("Neg", {"x"}, {"y"})},
                                        .inputs = {of::value("x", of::f32, {"N", "2", ""})},
                                        .outputs = {of::value("y", Proto().message(1, Proto().integer(1, of::f32)))}}))
                       .bytes());
  crisol_model* model = nullptr;
  OK(crisol_onnx_load(path.c_str(), here, &model));
  std::int32_t count = 0, rank = 0;
  const char *name = nullptr, *type = nullptr;
  OK(crisol_onnx_value_count(model, CRISOL_ONNX_INPUT, &count));
  CHECK(count == 1);
  OK(crisol_onnx_value(model, CRISOL_ONNX_INPUT, 0, &name, &type, &rank));
  CHECK(name == std::string("x"));
  CHECK(type == std::string("f32"));
  CHECK(rank == 3);
  const std::vector<std::pair<std::int64_t, std::string>> sizes{{-1, "N"}, {2, ""}, {-1, ""}};
  for (std::int32_t axis = 0; axis < rank; ++axis) {
    std::int64_t size = 0;
    OK(crisol_onnx_value_size(model, CRISOL_ONNX_INPUT, 0, axis, &size, &name));
    CHECK(std::pair(size, std::string(name)) == sizes[static_cast<std::size_t>(axis)]);
  }
  OK(crisol_onnx_value(model, CRISOL_ONNX_OUTPUT, 0, &name, nullptr, &rank));
  CHECK(name == std::string("y"));
  CHECK(rank == -1);
  refused(crisol_onnx_value(model, CRISOL_ONNX_OUTPUT, 1, &name, nullptr, nullptr), CRISOL_INVALID_ARGUMENT,
          {"value 1 of 1"});
  refused(crisol_onnx_value_size(model, CRISOL_ONNX_OUTPUT, 0, 0, nullptr, nullptr), CRISOL_INVALID_ARGUMENT,
          {"axis 0 of 0"});
  volatile int neither = 2;
  refused(crisol_onnx_value_count(model, static_cast<crisol_onnx_kind>(neither), &count), CRISOL_INVALID_ARGUMENT,
          {"kind is 2"});

  const char* no_text = "";
  OK(crisol_onnx_text(model, 0, 0, &no_text));
  CHECK(no_text == nullptr);
  refused(crisol_onnx_text(model, 1, 0, &no_text), CRISOL_INVALID_ARGUMENT, {"output 1 of 1"});

  const Handle x({1, 2}, {1, 2, 1});
  const char *names[]{"x"}, *json = nullptr;
  const crisol_tensor* inputs[]{x.get()};
  OK(crisol_onnx_profile(model, 1, names, inputs, &json));
  CHECK(std::string(json).find("\"op\": \"Neg\"") != std::string::npos);
  const char* text = nullptr;
  OK(crisol_onnx_optimized(model, 1, names, inputs, &text));
  CHECK(std::string(text).find("pass fuse_elements: ") != std::string::npos);
  CHECK(std::string(text).find("Neg \"#0\": (1, 2, 1) -> (1, 2, 1)\n") != std::string::npos);
  refused(crisol_onnx_optimized(model, 1, names, inputs, nullptr), CRISOL_INVALID_ARGUMENT, {"text is null"});
  crisol_model_destroy(model);

  std::filesystem::create_directory(set);
  write_file(set + "/input_0.pb", of::raw_tensor<float>("x", of::f32, {1, 2, 1}, {1, 2}).bytes());
  write_file(set + "/output_0.pb", of::raw_tensor<float>("y", of::f32, {1, 2, 1}, {-1, -2.5f}).bytes());
  Handle y;
  OK(crisol_onnx_load_tensor((set + "/output_0.pb").c_str(), here, y.place()));
  CHECK(values_of(y.get()) == std::vector<float>{-1, -2.5f});
  OK(crisol_onnx_check(folder.path().c_str(), 1e-3, 1e-7, here, &json));
  CHECK(std::string(json).find("\"state\": \"wrong\"") != std::string::npos);
  OK(crisol_onnx_check(folder.path().c_str(), 0, 0.5, here, &json));
  CHECK(std::string(json).find("\"state\": \"passed\"") != std::string::npos);
  refused(crisol_onnx_check(set.c_str(), 0, 0, here, &json), CRISOL_IO, {"0 files *.onnx"});
  refused(crisol_onnx_load_tensor(nullptr, here, y.place()), CRISOL_INVALID_ARGUMENT, {"path is null"});
  OK(crisol_onnx_supported_ops(&json));
  CHECK(std::string(json).find("\"name\": \"Neg\"") != std::string::npos);
  refused(crisol_onnx_supported_ops(nullptr), CRISOL_INVALID_ARGUMENT, {"json is null"});
}

TEST_CASE("C: a model is written as an ONNX file") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/cnn.onnx";
  crisol_model *model = nullptr, *again = nullptr;
  OK(crisol_model_create("simple_cnn", 3, here, &model));
  OK(crisol_model_train(model, 0));
  const Handle x(std::vector<float>(3 * 28 * 28, 0.5F), {3, 1, 28, 28});
  OK(crisol_onnx_save(model, path.c_str(), x.get(), "images", nullptr));
  OK(crisol_onnx_load(path.c_str(), here, &again));
  const char *names[]{"images"}, *wanted[]{"output"};
  const crisol_tensor* inputs[]{x.get()};
  crisol_tensor* result = nullptr;
  OK(crisol_onnx_run(again, 1, names, inputs, 1, wanted, &result));
  Handle y;
  OK(crisol_model_forward(model, x.get(), y.place()));
  const std::vector<float> expected = values_of(y.get()), actual = values_of(result);
  REQUIRE(actual.size() == 9);
  for (std::size_t i = 0; i < actual.size(); ++i) CHECK(actual[i] == doctest::Approx(expected[i]).epsilon(1e-4));
  refused(crisol_onnx_save(model, nullptr, x.get(), nullptr, nullptr), CRISOL_INVALID_ARGUMENT, {"path"});
  refused(crisol_onnx_save(model, path.c_str(), nullptr, nullptr, nullptr), CRISOL_INVALID_ARGUMENT, {"example"});
  crisol_tensor_destroy(result);
  crisol_model_destroy(model);
  crisol_model_destroy(again);
}
