// Normalisations in double.
#pragma once

#include <cstdint>
#include <vector>

namespace crisol::reference {

/// An absent weight or bias is an empty vector.
struct NormForward {
  std::vector<double> y, mean, var;  ///< var is biased.
};
struct NormBackward {
  std::vector<double> dx, dweight, dbias;
};

/// Normalises (images, channels, spatial) with the statistics of the batch.
NormForward batch_norm(const std::vector<double>& x, std::int64_t images, std::int64_t channels, std::int64_t spatial,
                       const std::vector<double>& weight, const std::vector<double>& bias, double epsilon);
/// Normalises with given statistics.
std::vector<double> batch_norm_constant(const std::vector<double>& x, std::int64_t images, std::int64_t channels,
                                        std::int64_t spatial, const std::vector<double>& weight,
                                        const std::vector<double>& bias, const std::vector<double>& mean,
                                        const std::vector<double>& var, double epsilon);
/// `constant` means that mean and var do not depend on x.
NormBackward batch_norm_backward(const std::vector<double>& dy, const std::vector<double>& x, std::int64_t images,
                                 std::int64_t channels, std::int64_t spatial, const std::vector<double>& weight,
                                 const std::vector<double>& mean, const std::vector<double>& var, double epsilon,
                                 bool constant);

NormForward layer_norm(const std::vector<double>& x, std::int64_t rows, std::int64_t n,
                       const std::vector<double>& weight, const std::vector<double>& bias, double epsilon);
NormBackward layer_norm_backward(const std::vector<double>& dy, const std::vector<double>& x, std::int64_t rows,
                                 std::int64_t n, const std::vector<double>& weight, double epsilon);

}  // namespace crisol::reference
