// Runs of a program read the inputs where they are, and give outputs of their own.
#include "graph/model_file.h"

namespace {

Proto f32_value(const std::string& name) { return value(name, Proto().message(1, Proto().integer(1, of::f32))); }

/// y = -x, z = exp(y), a second name of z, x itself, and y with its axes exchanged.
onnx::Model many_outputs() {
  return loaded(of::model(
      of::graph({.nodes = {node("Neg", {"x"}, {"y"}), node("Exp", {"y"}, {"z"}), node("Identity", {"z"}, {"z2"}),
                           node("Identity", {"x"}, {"x2"}), node("Transpose", {"y"}, {"t"})},
                 .inputs = {f32_value("x")},
                 .outputs = {f32_value("y"), f32_value("z"), f32_value("z2"), f32_value("x2"), f32_value("t")}}),
      17));
}

void check_outputs(const onnx::Outputs& out, const Tensor& x) {
  CHECK(out["y"].allclose(-x, 0, 0));
  CHECK(out["z"].allclose(exp(-x), 1e-6, 0));
  CHECK(out["z2"].allclose(exp(-x), 1e-6, 0));
  CHECK(out["x2"].allclose(x, 0, 0));
  CHECK(out["t"].allclose(-x.transpose(0, 1), 0, 0));
}

}  // namespace

TEST_CASE("a program's outputs belong to the caller, and no later run changes them") {
  const NoGrad no_grad;
  manual_seed(2);
  const onnx::Model model = many_outputs();
  std::vector<Tensor> inputs;
  std::vector<onnx::Outputs> kept;
  for (int i = 0; i < 6; ++i) {
    inputs.push_back(randn({5, 7}));
    kept.push_back(model({{"x", inputs.back()}}));
    // Writing to outputs changes neither the others, nor the input, nor later runs.
    onnx::Outputs written = model({{"x", inputs.back()}});
    for (const char* name : {"y", "z", "z2", "x2", "t"}) Tensor(written[name]).fill_(100);
  }
  for (std::size_t i = 0; i < kept.size(); ++i) check_outputs(kept[i], inputs[i]);
}

TEST_CASE("a program reads views, parts of other tensors, and its own earlier outputs") {
  const NoGrad no_grad;
  manual_seed(3);
  const onnx::Model model = many_outputs();
  const Tensor whole = randn({9, 14});
  for (int i = 0; i < 2; ++i)
    for (const Tensor& x : {randn({5, 7}), whole.narrow(0, 2, 5).narrow(1, 3, 7), randn({7, 5}).transpose(0, 1),
                            randn({35}).reshape({5, 7}), randn({6, 7}).narrow(0, 1, 5)})
      check_outputs(model({{"x", x}}), x);
  Tensor x = rand({5, 7});
  for (int i = 0; i < 4; ++i) {
    const onnx::Outputs out = model({{"x", x}});
    check_outputs(out, x);
    x = out["z"];
  }
  Tensor changed = randn({5, 7});
  const Tensor before = changed.clone();
  const onnx::Outputs out = model({{"x", changed}});
  changed.fill_(3);  // Queued behind the run.
  CHECK(out["y"].allclose(-before, 0, 0));
  check_outputs(model({{"x", changed}}), changed);
}

TEST_CASE("a run of a program queues no copies of whole inputs and outputs") {
  const NoGrad no_grad;
  const onnx::Model model = ModelFile({node("Neg", {"x"}, {"y"})}, {}).load();
  const Tensor x = randn({4000});
  model({{"x", x}});
  const Profile profile;
  const onnx::Outputs out = model({{"x", x}});
  Device().synchronize();
  // A device that keeps the commands of a program in a command buffer copies.
  std::int64_t launches = 0;
  for (const ProfileRow& row : profile.rows()) launches += row.launches;
  if (Device().info().type == DeviceType::cpu) CHECK(launches == 1);
  CHECK(out["y"].allclose(-x, 0, 0));
}
