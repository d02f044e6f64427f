// Batch norm over all ranks against one process with all samples.
#include <cmath>
#include <string>
#include <vector>

#include "crisol/c/dist.h"
#include "crisol/crisol.h"
#include "crisol/dist.h"
#include "dist/parts.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

struct NormNet : nn::Module {
  nn::Conv2d conv{3, 5, 3};
  nn::BatchNorm2d norm{5};
  nn::Linear out{5, 2};
  NormNet() {
    register_module("conv", conv);
    register_module("norm", norm);
    register_module("out", out);
  }
  Tensor forward(const Tensor& x) override { return out(mean(relu(norm(conv(x))), {2, 3})); }
};

struct Result {
  std::vector<float> gradients, statistics, y;
};

std::vector<float> all_of(const NamedTensors& tensors, bool gradients) {
  std::vector<float> all;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.dtype() != DType::f32) continue;
    const std::vector<float> own = (gradients ? tensor.grad() : tensor).to_vector<float>();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

constexpr std::int64_t norm_samples = 13;  // Parts of unequal size on two and on three ranks.

// The samples differ in their means, so that local statistics would be far off.
Tensor images() {
  manual_seed(3);
  return randn({norm_samples, 3, 6, 5}) * 2.0 + arange(0, norm_samples).reshape({norm_samples, 1, 1, 1});
}

Result step(NormNet& net, const Tensor& x, const Tensor& labels) {
  Result result;
  const Tensor y = net(x);
  cross_entropy(y, labels).backward();
  result.y = y.to_vector<float>();
  result.gradients = all_of(net.named_parameters(), true);
  result.statistics = all_of(net.named_buffers(), false);
  return result;
}

}  // namespace

TEST_CASE("dist: sync_batch_norm gives the gradients and statistics of one process") {
  const Tensor x = images();
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < norm_samples; ++i) numbers.push_back(i % 2);
  const Tensor labels = from_vector(numbers);
  manual_seed(8);
  NormNet alone;
  NormNet together = nn::clone(alone);
  const Result expected = step(alone, x, labels);

  CHECK(dist::sync_batch_norm(together) == 1);
  dist::DataParallel model(together);
  const Part part(norm_samples);
  model.set_weight(static_cast<double>(part.count));
  const Result got = step(together, part.of(x), part.of(labels));
  CHECK(difference(expected.gradients, got.gradients) < 2e-5);
  CHECK(difference(expected.statistics, got.statistics) < 1e-4);
  CHECK(together.norm.num_batches_tracked.item<std::int64_t>() == 1);
  const std::vector<float> own(expected.y.begin() + 2 * part.begin, expected.y.begin() + 2 * (part.begin + part.count));
  CHECK(difference(own, got.y) < 2e-5);

  // In evaluation, the running statistics are used.
  together.eval();
  alone.eval();
  const NoGrad no_grad;
  CHECK(difference(alone(x).to_vector<float>(), together(x).to_vector<float>()) < 1e-4);
  check_error([&] { model.backward_without_samples(); }, {"sync_batch_norm needs samples on each rank"});
}

TEST_CASE("dist, C: sync_batch_norm finds the layers of a model") {
  crisol_model* model = nullptr;
  REQUIRE(crisol_model_create("resnet18", 10, CRISOL_DEFAULT_DEVICE, &model) == CRISOL_OK);
  std::int32_t layers = 0;
  CHECK(crisol_dist_sync_batch_norm(model, &layers) == CRISOL_OK);
  CHECK(layers == 20);
  crisol_model_destroy(model);
  CHECK(crisol_dist_sync_batch_norm(nullptr, &layers) == CRISOL_INVALID_ARGUMENT);
}
