// Scattering into given tensors.
#include "crisol/ops/index.h"
#include "ops/result.h"

namespace crisol::ops {

void index_add_into(const Tensor& y, const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  deliver("index_add", {&y}, {&x, &index, &src}, [&] { return std::array{index_add(x, axis, index, src)}; });
}

void index_copy_into(const Tensor& y, const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  deliver("index_copy", {&y}, {&x, &index, &src}, [&] { return std::array{index_copy(x, axis, index, src)}; });
}

void scatter_add_into(const Tensor& y, const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  deliver("scatter_add", {&y}, {&x, &index, &src}, [&] { return std::array{scatter_add(x, axis, index, src)}; });
}

void scatter_into(const Tensor& y, const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  deliver("scatter", {&y}, {&x, &index, &src}, [&] { return std::array{scatter(x, axis, index, src)}; });
}

void index_reduce_into(const Tensor& y, const Tensor& x, int axis, const Tensor& index, const Tensor& src,
                       ScatterReduction reduction) {
  deliver("index_reduce", {&y}, {&x, &index, &src},
          [&] { return std::array{index_reduce(x, axis, index, src, reduction)}; });
}

void scatter_reduce_into(const Tensor& y, const Tensor& x, int axis, const Tensor& index, const Tensor& src,
                         ScatterReduction reduction) {
  deliver("scatter_reduce", {&y}, {&x, &index, &src},
          [&] { return std::array{scatter_reduce(x, axis, index, src, reduction)}; });
}

}  // namespace crisol::ops
