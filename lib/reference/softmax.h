// Softmax along the middle axis of (outer, n, inner), and attention, in double.
#pragma once

#include <cstdint>
#include <vector>

namespace crisol::reference {

using Numbers = std::vector<double>;

Numbers softmax(const Numbers& x, std::int64_t outer, std::int64_t n, std::int64_t inner);
Numbers softmax_backward(const Numbers& dy, const Numbers& y, std::int64_t outer, std::int64_t n, std::int64_t inner);
Numbers log_softmax(const Numbers& x, std::int64_t outer, std::int64_t n, std::int64_t inner);
Numbers log_softmax_backward(const Numbers& dy, const Numbers& y, std::int64_t outer, std::int64_t n,
                             std::int64_t inner);

struct AttentionSizes {
  std::int64_t heads, rows, keys, depth, columns;
};
/// softmax(scale · q kᵀ + bias) v for each head, where q is (heads, rows, depth), k (heads, keys, depth), v (heads,
/// keys, columns) and the bias (heads, rows, keys). A row whose bias is -inf everywhere gives zeros.
Numbers attention(const Numbers& q, const Numbers& k, const Numbers& v, const Numbers& bias,
                  const AttentionSizes& sizes, double scale);

}  // namespace crisol::reference
