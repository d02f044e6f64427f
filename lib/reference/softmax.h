// Softmax along the middle axis of (outer, n, inner), and attention, in double.
#pragma once

#include <cstdint>
#include <vector>

namespace crisol::reference {

using Values = std::vector<double>;

Values softmax(const Values& x, std::int64_t outer, std::int64_t n, std::int64_t inner);
Values softmax_backward(const Values& dy, const Values& y, std::int64_t outer, std::int64_t n, std::int64_t inner);
Values log_softmax(const Values& x, std::int64_t outer, std::int64_t n, std::int64_t inner);
Values log_softmax_backward(const Values& dy, const Values& y, std::int64_t outer, std::int64_t n, std::int64_t inner);

struct AttentionSizes {
  std::int64_t heads, rows, keys, depth, columns;
};
/// softmax(scale · q kᵀ + bias) v for each head; q is (heads, rows, depth), k (heads, keys, depth), v (heads, keys,
/// columns) and the bias (heads, rows, keys). A row whose bias is -inf everywhere gives zeros.
Values attention(const Values& q, const Values& k, const Values& v, const Values& bias, const AttentionSizes& sizes,
                 double scale);

}  // namespace crisol::reference
