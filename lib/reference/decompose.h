// Host references of decompositions, in double.
#pragma once

#include <cstddef>
#include <vector>

namespace crisol::reference {

/// The eigenvalues of a symmetric matrix (n, n) from small to large, by cyclic two-sided Jacobi rotations. Only the
/// lower triangle is read.
std::vector<double> eigenvalues(std::vector<double> a, std::size_t n);

/// The singular values of a matrix (m, n) from large to small. They are the largest eigenvalues of ((0, x), (x^T, 0)).
std::vector<double> singular_values(const std::vector<double>& x, std::size_t m, std::size_t n);

}  // namespace crisol::reference
