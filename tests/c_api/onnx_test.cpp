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
