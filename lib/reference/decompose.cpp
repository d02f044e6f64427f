#include "reference/decompose.h"

#include <algorithm>
#include <cmath>

namespace crisol::reference {

std::vector<double> eigenvalues(std::vector<double> a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) a[i * n + j] = a[j * n + i];
  // Convergence is quadratic, so 20 sweeps are more than double needs.
  for (int sweep = 0; sweep < 20; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p * n + q] == 0) continue;
        const double angle = 0.5 * std::atan2(2 * a[p * n + q], a[q * n + q] - a[p * n + p]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::size_t k = 0; k < n; ++k) {
          const double at_p = a[k * n + p], at_q = a[k * n + q];
          a[k * n + p] = c * at_p - s * at_q;
          a[k * n + q] = s * at_p + c * at_q;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double at_p = a[p * n + k], at_q = a[q * n + k];
          a[p * n + k] = c * at_p - s * at_q;
          a[q * n + k] = s * at_p + c * at_q;
        }
      }
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = a[i * n + i];
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<double> singular_values(const std::vector<double>& x, std::size_t m, std::size_t n) {
  const std::size_t both = m + n;
  std::vector<double> a(both * both);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) a[(m + j) * both + i] = x[i * n + j];
  const std::vector<double> values = eigenvalues(a, both);
  return std::vector<double>(values.rbegin(), values.rbegin() + static_cast<std::ptrdiff_t>(std::min(m, n)));
}

}  // namespace crisol::reference
