// The C interface: models from ONNX files.
#include <string>

#include "c_api/handle.h"
#include "support/files.h"
#include "support/onnx_writer.h"
#include "support/subprocess.h"

using namespace crisol::testing;
using namespace crisol::testing::c_api;
namespace of = crisol::testing::onnx_file;

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
