// Batch norm with the statistics of all ranks.
#include <algorithm>
#include <memory>
#include <vector>

#include "crisol/autograd.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/nn/norm.h"
#include "crisol/ops/norm.h"
#include "dist/collectives.h"

namespace crisol::dist {

namespace {

constexpr const char* op = "sync_batch_norm";

/// The statistics over the samples of all ranks.
struct Statistics {
  std::vector<double> mean, variance;  ///< By channel. The variance is biased.
  double count = 0;                    ///< Values per channel.
};

Shape all_axes_but_channels(const Tensor& x) {
  Shape axes{0};
  for (int axis = 2; axis < x.dim(); ++axis) axes.push_back(axis);
  return axes;
}

// Merges the statistics of the ranks in double, in the order of the ranks (Chan et al. 1979).
Statistics merged(const Tensor& x, Session& session) {
  const NoGrad no_grad;
  const auto channels = static_cast<std::size_t>(x.size(1));
  const Shape axes = all_axes_but_channels(x);
  const std::vector<float> mean = x.mean(axes).to_vector<float>();
  const std::vector<float> variance = x.var(axes, false, 0).to_vector<float>();
  const double own_count = static_cast<double>(x.numel() / x.size(1));
  std::vector<double> own{own_count};
  own.insert(own.end(), mean.begin(), mean.end());
  own.insert(own.end(), variance.begin(), variance.end());
  std::vector<double> rows(own.size() * static_cast<std::size_t>(session.world()));
  session.worker().run([&](Link& link) { link.all_gather(own.data(), own.size() * sizeof(double), rows.data()); });
  Statistics all{std::vector<double>(channels), std::vector<double>(channels), 0};
  for (std::size_t r = 0; r < static_cast<std::size_t>(session.world()); ++r) {
    const double* const row = &rows[r * own.size()];
    const double count = row[0], total = all.count + count;
    for (std::size_t c = 0; c < channels; ++c) {
      const double difference = row[1 + c] - all.mean[c];
      all.mean[c] += difference * count / total;
      all.variance[c] += row[1 + channels + c] * count + difference * difference * all.count * count / total;
    }
    all.count = total;
  }
  for (double& sum : all.variance) sum /= all.count;
  return all;
}

// The gradient of x. It needs sums over the samples of all ranks. The gradients of a rank have a weight in the average,
// and the sums of the rank have the same weight.
Tensor gradient_of_input(const ops::NormGradients& own, const Tensor& x, const Tensor& weight, const Tensor& mean,
                         const Tensor& invstd, double count, Session& session) {
  Tensor sums = cat({own.bias, own.weight}, 0) * session.weight;
  all_reduce(sums);
  const std::int64_t channels = x.size(1);
  Shape shape = Shape::filled(x.dim(), 1);
  shape[1] = channels;
  Tensor factor = invstd / (count * session.weight);
  if (weight.defined()) factor = factor * weight;
  const auto by_channel = [&](const Tensor& t) { return t.reshape(shape); };
  const Tensor of_mean = by_channel(factor * sums.narrow(0, 0, channels));
  const Tensor of_deviation = by_channel(factor * invstd * sums.narrow(0, channels, channels));
  return own.x - of_mean - (x - by_channel(mean)) * of_deviation;
}

void update_running(nn::BatchNorm2d& norm, const Statistics& all) {
  if (!norm.running_mean.defined()) return;
  const NoGrad no_grad;
  const double count = static_cast<double>(norm.num_batches_tracked.item<std::int64_t>()) + 1;
  const double momentum = norm.options().momentum.value_or(1 / count);
  std::vector<double> unbiased = all.variance;
  for (double& v : unbiased) v *= all.count / std::max(all.count - 1, 1.0);
  const auto update = [&](Tensor running, const std::vector<double>& values) {
    running.mul_(1 - momentum);
    running.add_(from_vector(values, DType::f32, running.device()) * momentum);
  };
  update(norm.running_mean, all.mean);
  update(norm.running_var, unbiased);
  Tensor(norm.num_batches_tracked).add_(1);
}

Tensor synchronised(nn::BatchNorm2d& norm, const Tensor& x) {
  const nn::BatchNorm2dOptions& options = norm.options();
  if (!norm.training() && options.track_running_stats) return norm.forward(x);
  require(x.defined() && x.dim() >= 3 && x.numel() > 0, op, "x must have channels on axis 1, and samples");
  Session& session = Session::get(op);
  require(session.weight > 0, op, "the weight of this rank's samples is 0");
  const Statistics all = merged(x.detach(), session);
  update_running(norm, all);
  const Tensor mean = from_vector(all.mean, DType::f32, x.device());
  const Tensor variance = from_vector(all.variance, DType::f32, x.device());
  BatchNormOptions call;
  call.training = false;
  call.epsilon = options.eps;
  const auto invstd = std::make_shared<Tensor>();
  return custom_function(
      op, {x, norm.weight, norm.bias},
      [&](const std::vector<Tensor>& in) {
        const ops::BatchNormResult result = ops::batch_norm2d(in[0], in[1], in[2], mean, variance, call);
        *invstd = result.invstd;
        return result.y;
      },
      [mean, invstd, count = all.count](const Tensor& dy, const std::vector<Tensor>& in, const Tensor&) {
        Session& own_session = Session::get(op);
        const ops::NormGradients own = ops::batch_norm2d_backward(dy, in[0], in[1], mean, *invstd, false);
        const Tensor dx = gradient_of_input(own, in[0], in[1], mean, *invstd, count, own_session);
        return std::vector<Tensor>{dx, in[1].defined() ? own.weight : Tensor(), in[2].defined() ? own.bias : Tensor()};
      });
}

}  // namespace

int sync_batch_norm(nn::Module& module) {
  Session& session = Session::get(op);
  int found = 0;
  for (nn::Module* layer : module.modules()) {
    if (dynamic_cast<nn::BatchNorm2d*>(layer) == nullptr) continue;
    layer->replace_forward(
        [](nn::Module& norm, const Tensor& x) { return synchronised(dynamic_cast<nn::BatchNorm2d&>(norm), x); });
    ++found;
  }
  session.shares_statistics = session.shares_statistics || found > 0;
  return found;
}

}  // namespace crisol::dist
