// Splitting along an axis: the results are views.
#include "base/text.h"
#include "crisol/ops/cat.h"
#include "crisol/ops/view.h"
#include "tensor/impl.h"

namespace crisol::ops {

std::vector<std::int64_t> split_sizes(const Tensor& x, std::int64_t size, int axis) {
  const std::int64_t whole = x.shape()[normalized_axis("split", axis, x.dim())];
  require(size > 0, "split", "the pieces' size is ", size, ", it must be positive; shape ", x.shape(), ", axis ", axis);
  std::vector<std::int64_t> sizes;
  for (std::int64_t start = 0; start < whole; start += size) sizes.push_back(std::min(size, whole - start));
  if (sizes.empty()) sizes.push_back(0);
  return sizes;
}

std::vector<std::int64_t> chunk_sizes(const Tensor& x, std::int64_t chunks, int axis) {
  const std::int64_t whole = x.shape()[normalized_axis("chunk", axis, x.dim())];
  require(chunks > 0, "chunk", "the number of chunks is ", chunks, ", it must be positive; shape ", x.shape(),
          ", axis ", axis);
  if (whole == 0) return std::vector<std::int64_t>(static_cast<std::size_t>(chunks), 0);
  return split_sizes(x, (whole + chunks - 1) / chunks, axis);
}

std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes, int axis) {
  const int at = normalized_axis("split", axis, x.dim());
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) {
    require(size >= 0, "split", "a piece has size ", size, "; shape ", x.shape(), ", axis ", axis);
    sum += size;
  }
  require(sum == x.size(at), "split", "the ", sizes.size(), " sizes add up to ", sum, ", axis ", axis, " of shape ",
          x.shape(), " has ", x.size(at));
  std::vector<Tensor> pieces;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    pieces.push_back(narrow(x, at, start, size));
    start += size;
  }
  return pieces;
}

std::vector<Tensor> split(const Tensor& x, std::int64_t size, int axis) {
  return split(x, split_sizes(x, size, axis), axis);
}

std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, int axis) {
  return split(x, chunk_sizes(x, chunks, axis), axis);
}

}  // namespace crisol::ops
