// Functions as members of Tensor. The members for crisol/ops/pointwise.def are in elementwise.cpp.
#include "crisol/functions/arrange.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/compare.h"
#include "crisol/functions/index.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/softmax.h"
#include "crisol/functions/sort.h"
#include "crisol/functions/triangle.h"

namespace crisol {

#define REDUCTION(name) \
  Tensor Tensor::name(const Shape& axes, bool keepdim) const { return crisol::name(*this, axes, keepdim); }
REDUCTION(sum)
REDUCTION(mean)
REDUCTION(prod)
REDUCTION(max)
REDUCTION(min)
REDUCTION(any)
REDUCTION(all)
REDUCTION(argmax)
REDUCTION(argmin)
REDUCTION(logsumexp)
#undef REDUCTION

Tensor Tensor::var(const Shape& axes, bool keepdim, double correction) const {
  return crisol::var(*this, axes, keepdim, correction);
}
Tensor Tensor::stddev(const Shape& axes, bool keepdim, double correction) const {
  return crisol::stddev(*this, axes, keepdim, correction);
}
Tensor Tensor::norm(double p, const Shape& axes, bool keepdim) const { return crisol::norm(*this, p, axes, keepdim); }
ExtremeResult Tensor::max_with_indices(int axis, bool keepdim) const {
  return crisol::max_with_indices(*this, axis, keepdim);
}
ExtremeResult Tensor::min_with_indices(int axis, bool keepdim) const {
  return crisol::min_with_indices(*this, axis, keepdim);
}
Tensor Tensor::cumsum(int axis) const { return crisol::cumsum(*this, axis); }

Tensor Tensor::matmul(const Tensor& other) const { return crisol::matmul(*this, other); }
Tensor Tensor::softmax(int axis) const { return crisol::softmax(*this, axis); }
Tensor Tensor::log_softmax(int axis) const { return crisol::log_softmax(*this, axis); }
SortResult Tensor::sort(int axis, bool descending) const { return crisol::sort(*this, axis, descending); }
Tensor Tensor::argsort(int axis, bool descending) const { return crisol::argsort(*this, axis, descending); }
SortResult Tensor::topk(std::int64_t k, int axis, bool largest) const { return crisol::topk(*this, k, axis, largest); }
Tensor Tensor::gather(int axis, const Tensor& index) const { return crisol::gather(*this, axis, index); }
Tensor Tensor::index_select(int axis, const Tensor& index) const { return crisol::index_select(*this, axis, index); }
Tensor Tensor::tril(std::int64_t diagonal) const { return crisol::tril(*this, diagonal); }
Tensor Tensor::triu(std::int64_t diagonal) const { return crisol::triu(*this, diagonal); }
std::vector<Tensor> Tensor::split(std::int64_t size, int axis) const { return crisol::split(*this, size, axis); }
std::vector<Tensor> Tensor::chunk(std::int64_t chunks, int axis) const { return crisol::chunk(*this, chunks, axis); }
Tensor Tensor::flip(const Shape& axes) const { return crisol::flip(*this, axes); }
Tensor Tensor::roll(const Shape& shifts, const Shape& axes) const { return crisol::roll(*this, shifts, axes); }
Tensor Tensor::repeat(const Shape& counts) const { return crisol::repeat(*this, counts); }
Tensor Tensor::tile(const Shape& counts) const { return crisol::tile(*this, counts); }
Tensor Tensor::isclose(const Tensor& other, double rtol, double atol, bool equal_nan) const {
  return crisol::isclose(*this, other, rtol, atol, equal_nan);
}
bool Tensor::allclose(const Tensor& other, double rtol, double atol, bool equal_nan) const {
  return crisol::allclose(*this, other, rtol, atol, equal_nan);
}

}  // namespace crisol
