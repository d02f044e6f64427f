// Convolution and pooling of volumes for C.
#include "c_api/handles.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/pool.h"

using namespace crisol;
using namespace crisol::c_api;

namespace {

IntTriple triple_of(const int (&numbers)[3]) { return {numbers[0], numbers[1], numbers[2]}; }

}  // namespace

crisol_status crisol_conv3d(const crisol_tensor* x, const crisol_tensor* weight, const crisol_tensor* bias,
                            const crisol_conv3d_options* options, crisol_tensor** result) {
  return give_from(x, result, "conv3d", [&](const Tensor& t) {
    Conv3dOptions all;
    if (options != nullptr)
      all = {triple_of(options->stride), triple_of(options->padding), triple_of(options->dilation), options->groups};
    return conv3d(t, tensor_of(weight, "conv3d", "weight"), optional_tensor(bias), all);
  });
}

crisol_status crisol_conv_transpose3d(const crisol_tensor* x, const crisol_tensor* weight, const crisol_tensor* bias,
                                      const crisol_conv_transpose3d_options* options, crisol_tensor** result) {
  return give_from(x, result, "conv_transpose3d", [&](const Tensor& t) {
    ConvTranspose3dOptions all;
    if (options != nullptr)
      all = {triple_of(options->stride), triple_of(options->padding), triple_of(options->output_padding),
             triple_of(options->dilation), options->groups};
    return conv_transpose3d(t, tensor_of(weight, "conv_transpose3d", "weight"), optional_tensor(bias), all);
  });
}

namespace {

MaxPool3dOptions max_pool_options(const crisol_pool3d_options* options) {
  const crisol_pool3d_options& o = need(options, "max_pool3d", "options");
  return {triple_of(o.kernel), triple_of(o.stride), triple_of(o.padding), triple_of(o.dilation), o.ceil_mode != 0};
}

}  // namespace

crisol_status crisol_max_pool3d(const crisol_tensor* x, const crisol_pool3d_options* options, crisol_tensor** result) {
  return give_from(x, result, "max_pool3d", [&](const Tensor& t) { return max_pool3d(t, max_pool_options(options)); });
}

crisol_status crisol_max_pool3d_with_indices(const crisol_tensor* x, const crisol_pool3d_options* options,
                                             crisol_tensor** values, crisol_tensor** indices) {
  return guarded([&] {
    const ExtremeResult y =
        max_pool3d_with_indices(tensor_of(x, "max_pool3d_with_indices", "x"), max_pool_options(options));
    give_both(values, y.values, indices, y.indices);
  });
}

crisol_status crisol_avg_pool3d(const crisol_tensor* x, const crisol_pool3d_options* options, crisol_tensor** result) {
  return give_from(x, result, "avg_pool3d", [&](const Tensor& t) {
    const crisol_pool3d_options& o = need(options, "avg_pool3d", "options");
    return avg_pool3d(t, {triple_of(o.kernel), triple_of(o.stride), triple_of(o.padding), o.ceil_mode != 0,
                          o.count_include_pad != 0});
  });
}

crisol_status crisol_adaptive_avg_pool3d(const crisol_tensor* x, int depth, int height, int width,
                                         crisol_tensor** result) {
  return give_from(x, result, "adaptive_avg_pool3d", [&](const Tensor& t) {
    return adaptive_avg_pool3d(t, {depth, height, width});
  });
}
