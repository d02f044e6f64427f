// Softmax along the middle axis of (outer, n, inner), in double.
#pragma once

#include <cstdint>
#include <vector>

namespace crisol::reference {

using Values = std::vector<double>;

Values softmax(const Values& x, std::int64_t outer, std::int64_t n, std::int64_t inner);
Values softmax_backward(const Values& dy, const Values& y, std::int64_t outer, std::int64_t n, std::int64_t inner);
Values log_softmax(const Values& x, std::int64_t outer, std::int64_t n, std::int64_t inner);
Values log_softmax_backward(const Values& dy, const Values& y, std::int64_t outer, std::int64_t n, std::int64_t inner);

}  // namespace crisol::reference
