#include "crisol/ops/quantized.h"
#include "autograd/autocast.h"
#include "autograd/call.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "crisol/quantized_weight.h"

namespace crisol {

Tensor linear(const Tensor& x, const QuantizedWeight& weight, const Tensor& bias) {
  if (const autograd::Autocasts casts("linear"); casts) return linear(casts(x), weight, casts(bias));
  // The kernels that read codes compute in f32.
  if (x.defined() && x.dtype() == DType::f64) return linear(x, weight.dequantize().to(DType::f64), bias);
  return autograd::call("quantized_linear", {x, bias}, ops::quantized_linear(x, weight, bias), autograd::unnoted, [&] {
    return [weight, shape = x.shape()](const Tensor& dy, autograd::Needs needs) {
      autograd::Gradients gradients(2);
      const Tensor rows = dy.reshape({-1, weight.rows()});
      if (needs[0]) gradients[0] = matmul(rows, weight.dequantize().to(dy.dtype())).reshape(shape);
      if (needs[1]) gradients[1] = sum(rows, {0});
      return gradients;
    };
  });
}

}  // namespace crisol
