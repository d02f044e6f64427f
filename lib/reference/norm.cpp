#include "reference/norm.h"

#include <cmath>

namespace crisol::reference {

namespace {

using Numbers = std::vector<double>;

double at(const Numbers& values, std::size_t i, double absent) { return values.empty() ? absent : values[i]; }

// The mean and the biased variance of the values at index(0) … index(count - 1).
template <class Index>
void moments(const Numbers& x, std::int64_t count, Index index, double& mean, double& var) {
  mean = var = 0;
  for (std::int64_t i = 0; i < count; ++i) mean += x[index(i)] / static_cast<double>(count);
  for (std::int64_t i = 0; i < count; ++i)
    var += (x[index(i)] - mean) * (x[index(i)] - mean) / static_cast<double>(count);
}

// The position of value i of a channel.
auto channel_index(std::int64_t channels, std::int64_t spatial, std::int64_t channel) {
  return [=](std::int64_t i) {
    return static_cast<std::size_t>((i / spatial * channels + channel) * spatial + i % spatial);
  };
}

auto row_index(std::int64_t n, std::int64_t row) {
  return [=](std::int64_t i) { return static_cast<std::size_t>(row * n + i); };
}

}  // namespace

NormForward batch_norm(const Numbers& x, std::int64_t images, std::int64_t channels, std::int64_t spatial,
                       const Numbers& weight, const Numbers& bias, double epsilon) {
  NormForward result{{}, Numbers(static_cast<std::size_t>(channels)), Numbers(static_cast<std::size_t>(channels))};
  for (std::int64_t c = 0; c < channels; ++c)
    moments(x, images * spatial, channel_index(channels, spatial, c), result.mean[static_cast<std::size_t>(c)],
            result.var[static_cast<std::size_t>(c)]);
  result.y = batch_norm_constant(x, images, channels, spatial, weight, bias, result.mean, result.var, epsilon);
  return result;
}

Numbers batch_norm_constant(const Numbers& x, std::int64_t images, std::int64_t channels, std::int64_t spatial,
                            const Numbers& weight, const Numbers& bias, const Numbers& mean, const Numbers& var,
                            double epsilon) {
  Numbers y(x.size());
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const auto index = channel_index(channels, spatial, channel);
    const auto c = static_cast<std::size_t>(channel);
    for (std::int64_t i = 0; i < images * spatial; ++i)
      y[index(i)] = (x[index(i)] - mean[c]) / std::sqrt(var[c] + epsilon) * at(weight, c, 1) + at(bias, c, 0);
  }
  return y;
}

NormBackward batch_norm_backward(const Numbers& dy, const Numbers& x, std::int64_t images, std::int64_t channels,
                                 std::int64_t spatial, const Numbers& weight, const Numbers& mean, const Numbers& var,
                                 double epsilon, bool constant) {
  NormBackward result{Numbers(x.size()), Numbers(static_cast<std::size_t>(channels)),
                      Numbers(static_cast<std::size_t>(channels))};
  const std::int64_t count = images * spatial;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const auto index = channel_index(channels, spatial, channel);
    const auto c = static_cast<std::size_t>(channel);
    const double invstd = 1 / std::sqrt(var[c] + epsilon);
    for (std::int64_t i = 0; i < count; ++i) {
      result.dbias[c] += dy[index(i)];
      result.dweight[c] += dy[index(i)] * (x[index(i)] - mean[c]) * invstd;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const double normal = (x[index(i)] - mean[c]) * invstd;
      const double through = (result.dbias[c] + normal * result.dweight[c]) / static_cast<double>(count);
      result.dx[index(i)] = at(weight, c, 1) * invstd * (dy[index(i)] - (constant ? 0 : through));
    }
  }
  return result;
}

NormForward layer_norm(const Numbers& x, std::int64_t rows, std::int64_t n, const Numbers& weight, const Numbers& bias,
                       double epsilon) {
  NormForward result{Numbers(x.size()), Numbers(static_cast<std::size_t>(rows)),
                     Numbers(static_cast<std::size_t>(rows))};
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto index = row_index(n, row);
    double& mean = result.mean[static_cast<std::size_t>(row)];
    double& var = result.var[static_cast<std::size_t>(row)];
    moments(x, n, index, mean, var);
    for (std::int64_t i = 0; i < n; ++i)
      result.y[index(i)] =
          (x[index(i)] - mean) / std::sqrt(var + epsilon) * at(weight, static_cast<std::size_t>(i), 1) +
          at(bias, static_cast<std::size_t>(i), 0);
  }
  return result;
}

NormBackward layer_norm_backward(const Numbers& dy, const Numbers& x, std::int64_t rows, std::int64_t n,
                                 const Numbers& weight, double epsilon) {
  NormBackward result{Numbers(x.size()), Numbers(static_cast<std::size_t>(n)), Numbers(static_cast<std::size_t>(n))};
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto index = row_index(n, row);
    double mean, var, sum = 0, products = 0;
    moments(x, n, index, mean, var);
    const double rstd = 1 / std::sqrt(var + epsilon);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto column = static_cast<std::size_t>(i);
      const double normal = (x[index(i)] - mean) * rstd, g = dy[index(i)] * at(weight, column, 1);
      sum += g;
      products += g * normal;
      result.dweight[column] += dy[index(i)] * normal;
      result.dbias[column] += dy[index(i)];
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const double normal = (x[index(i)] - mean) * rstd;
      const double g = dy[index(i)] * at(weight, static_cast<std::size_t>(i), 1);
      result.dx[index(i)] = rstd * (g - (sum + normal * products) / static_cast<double>(n));
    }
  }
  return result;
}

}  // namespace crisol::reference
