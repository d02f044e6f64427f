// Normalisations made of reductions and of sums over windows of channels.
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/pad.h"
#include "crisol/functions/pool.h"
#include "crisol/functions/reduce.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/half.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

/// There is a scale and a bias for each group before version 21, and for each channel since then.
Run group_normalization(Call& call) {
  call.check_counts(3, 3);
  call.gives_type_of(0);
  const bool by_channel = call.version() >= 21;
  const double epsilon = call.real("epsilon", 1e-5f);
  const std::int64_t groups = call.integer("num_groups", 0);
  if (by_channel) require(call.integer("stash_type", 1) == 1, "onnx", "stash_type other than 1 is not supported");
  require(groups > 0, "onnx", "num_groups is ", groups);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), scale = in[1].tensor(device), bias = in[2].tensor(device);
    require(x.dim() >= 2 && x.size(1) % groups == 0, "onnx", "an input of shape ", x.shape(), " and ", groups,
            " groups of channels");
    const auto of_channels = [&](const Tensor& t) {
      return by_channel ? t : t.unsqueeze(1).expand({groups, x.size(1) / groups}).flatten();
    };
    const Tensor y = group_norm(widened(x), groups, of_channels(widened(scale)), of_channels(widened(bias)), epsilon);
    return Data{y.to(x.dtype())};
  };
}

Run lp_normalization(Call& call) {
  call.check_counts(1, 1);
  call.gives_type_of(0);
  const std::int64_t axis = call.integer("axis", -1), p = call.integer("p", 2);
  require(p == 1 || p == 2, "onnx", "p is ", p, ", 1 or 2 expected");
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    // f16 cannot hold a length above 65504.
    const Tensor length = norm(widened(x), static_cast<double>(p), axis_of(axis, x.dim()), true);
    return Data{(x / where(length.eq(0), 1, length)).to(x.dtype())};  // A row of zeros does not change.
  };
}

Run mean_variance_normalization(Call& call) {
  call.check_counts(1, 1);
  call.gives_type_of(0);
  const Shape axes(call.integers("axes", {0, 2, 3}));
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), wide = widened(x);  // f16 cannot hold squares above 65504.
    const Tensor centred = wide - mean(wide, axes, true);
    // In ONNX, the body of this function adds 1e-9 to the standard deviation.
    return Data{(centred / (sqrt(mean(centred * centred, axes, true)) + 1e-9)).to(x.dtype())};
  };
}

/// x / (bias + alpha / size · sum of squares over neighbouring channels)^beta
Run lrn(Call& call) {
  call.check_counts(1, 1);
  call.gives_type_of(0);
  const double alpha = call.real("alpha", 1e-4f), beta = call.real("beta", 0.75), bias = call.real("bias", 1);
  const std::int64_t size = call.integer("size", 0);
  require(size > 0 && size < (1 << 30), "onnx", "size is ", size);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    require(x.dim() >= 2, "onnx", "an input of shape ", x.shape(), ", (N, C, …) expected");
    if (x.numel() == 0) return Data{x};
    // f16 cannot hold squares above 65504.
    const Tensor squares = widened(x).square().reshape({x.size(0), 1, x.size(1), -1});
    const Tensor around = pad(squares, {{0, 0}, {(size - 1) / 2, size / 2}});
    const Tensor sums = avg_pool2d(around, {.kernel = {static_cast<int>(size), 1}, .stride = 1, .divisor = 1});
    return Data{(x / (sums.reshape(x.shape()) * (alpha / static_cast<double>(size)) + bias).pow(beta)).to(x.dtype())};
  };
}

}  // namespace

std::vector<Row> normalize_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"GroupNormalization", 18, newest, group_normalization},
      {"LRN", 1, newest, lrn},
      {"LpNormalization", 1, newest, lp_normalization},
      {"MeanVarianceNormalization", 9, newest, mean_variance_normalization},
  };
}

}  // namespace crisol::onnx
