// A classifier from an ONNX file is trained further.
#include "crisol/crisol.h"
#include "digits/digits.h"
#include "doctest/doctest.h"
#include "support/processes/program.h"
#include "support/skip.h"

using namespace crisol;

namespace {

double accuracy(const onnx::Model& model, io::DataLoader& loader) {
  const NoGrad no_grad;
  std::int64_t right = 0, all = 0;
  for (const io::Batch& batch : loader) {
    right += model({{"images", batch.input}})["logits"].argmax(1).eq(batch.target).sum().item<std::int64_t>();
    all += batch.size();
  }
  return static_cast<double>(right) / static_cast<double>(all);
}

}  // namespace

TEST_CASE("onnx: the last layer of a loaded classifier learns digits, and the others stay as they are") {
  if (testing::few_images_only() || testing::slow_device()) CRISOL_SKIP("a training takes too long here");
  onnx::Model model = onnx::load(CRISOL_FIXTURES "/classifier.onnx");
  const NamedTensors before = nn::clone(model).state_dict();
  for (auto& [name, parameter] : model.named_parameters()) Tensor(parameter).requires_grad_(name.starts_with("fc."));
  optim::Adam optimizer({model.parameter("fc.weight"), model.parameter("fc.bias")}, 1e-3);
  io::DataLoader training(io::ImageDataset(samples::render_digits(1280, 1), 0.1307f, 0.3081f), {.shuffle = true});
  io::DataLoader test(io::ImageDataset(samples::render_digits(300, 2), 0.1307f, 0.3081f));
  CHECK(accuracy(model, test) < 0.2);  // The last layer is zero, so every guess is 0.
  for (int epoch = 0; epoch < 3; ++epoch)
    for (const io::Batch& batch : training) {
      const Tensor loss = cross_entropy(model(batch.input), batch.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
  CHECK(accuracy(model, test) > 0.8);
  const NamedTensors after = model.state_dict();
  for (const auto& [name, tensor] : before) {
    CAPTURE(name);
    CHECK(tensor.allclose(after[name], 0, 0) == !name.starts_with("fc."));
  }
  // The trained weights fit the file again.
  onnx::Model fresh = onnx::load(CRISOL_FIXTURES "/classifier.onnx");
  fresh.load_state_dict(after);
  CHECK(accuracy(fresh, test) == accuracy(model, test));
}
