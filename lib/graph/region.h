// The part of a tensor that a view shows.
#pragma once

#include <optional>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::graph {

class Region {
 public:
  /// The part of `whole` that x, a view of it, shows. Empty unless `whole` is contiguous and the axes of x are those of
  /// `whole`, in their order. Axes of size 1 may be missing and added.
  static std::optional<Region> of(const Tensor& x, const Tensor& whole);

  /// The elements of the part, with the shape of x. A trace notes the ops.
  Tensor take(const Tensor& whole) const;
  /// `whole` with the elements of y, which has the shape of x, in this part. A trace notes the ops.
  Tensor replace(const Tensor& whole, const Tensor& y) const;

 private:
  /// The positions first, first + step, … along an axis of the whole tensor. All other axes are complete.
  struct Cut {
    int axis;
    std::int64_t first, step, count;
  };
  static Tensor positions(const Cut& cut, Device device);
  Tensor replace_from(std::size_t cut, const Tensor& whole, const Tensor& y) const;

  std::vector<Cut> cuts_;
  Shape shape_of_x_;
  Shape shape_;  ///< With an axis for each one of the whole tensor.
};

}  // namespace crisol::graph
