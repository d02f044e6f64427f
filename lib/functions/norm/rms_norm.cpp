#include "autograd/autocast.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/reduce.h"

namespace crisol {

Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, std::optional<double> epsilon) {
  constexpr const char* op = "rms_norm";
  if (const autograd::Autocasts casts(op); casts) return rms_norm(casts(x), normalized_shape, casts(weight), epsilon);
  require(x.defined(), op, "the input is undefined");
  require(is_floating(x.dtype()), op, "the input must be ", TypesThat{is_floating}, ", it is ", x.dtype());
  const int first = x.dim() - normalized_shape.rank();
  bool fits = first >= 0 && normalized_shape.rank() > 0;
  for (int i = 0; fits && i < normalized_shape.rank(); ++i) fits = x.size(first + i) == normalized_shape[i];
  require(fits, op, "the last axes of shape ", x.shape(), " are not ", normalized_shape);
  require(!weight.defined() || weight.shape() == normalized_shape, op, "the weight must have shape ", normalized_shape,
          ", it has ", weight.defined() ? weight.shape() : Shape());
  Shape axes;
  for (int i = first; i < x.dim(); ++i) axes.push_back(i);
  const Tensor wide = x.to(promote_types(x.dtype(), DType::f32));  // Squares of f16 overflow.
  const double small = epsilon.value_or(epsilon_of(x.dtype()));
  const Tensor y = (wide * rsqrt(mean(square(wide), axes, true) + small)).to(x.dtype());
  return weight.defined() ? y * weight : y;
}

}  // namespace crisol
