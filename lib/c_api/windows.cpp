// Convolution and pooling for C. Each function is defined once, for lines, images and volumes.
#include "c_api/handles.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/pool.h"
#include "crisol/functions/vision.h"

using namespace crisol;
using namespace crisol::c_api;

namespace {

int extent_of(int number) { return number; }
IntPair extent_of(const int (&numbers)[2]) { return {numbers[0], numbers[1]}; }
IntTriple extent_of(const int (&numbers)[3]) { return {numbers[0], numbers[1], numbers[2]}; }

template <class Options, class Given>
Options conv_options(const Given* o) {
  if (o == nullptr) return {};
  if constexpr (requires { o->output_padding; })
    return {extent_of(o->stride), extent_of(o->padding), extent_of(o->output_padding), extent_of(o->dilation),
            o->groups};
  else
    return {extent_of(o->stride), extent_of(o->padding), extent_of(o->dilation), o->groups};
}

template <class Options, class Given>
Options pool_options(const char* op, const Given* options) {
  const Given& o = need(options, op, "options");
  Options all{extent_of(o.kernel), extent_of(o.stride), extent_of(o.padding)};
  all.ceil_mode = o.ceil_mode != 0;
  if constexpr (requires { all.dilation; })
    all.dilation = extent_of(o.dilation);
  else
    all.count_include_pad = o.count_include_pad != 0;
  return all;
}

}  // namespace

#define CONVOLUTION(function, Options)                                                                            \
  crisol_status crisol_##function(const crisol_tensor* x, const crisol_tensor* weight, const crisol_tensor* bias, \
                                  const crisol_##function##_options* options, crisol_tensor** result) {           \
    return give_from(x, result, #function, [&](const Tensor& t) {                                                 \
      return function(t, tensor_of(weight, #function, "weight"), optional_tensor(bias),                           \
                      conv_options<Options>(options));                                                            \
    });                                                                                                           \
  }
CONVOLUTION(conv1d, Conv1dOptions)
CONVOLUTION(conv2d, Conv2dOptions)
CONVOLUTION(conv3d, Conv3dOptions)
CONVOLUTION(conv_transpose1d, ConvTranspose1dOptions)
CONVOLUTION(conv_transpose2d, ConvTranspose2dOptions)
CONVOLUTION(conv_transpose3d, ConvTranspose3dOptions)
#undef CONVOLUTION

crisol_status crisol_deform_conv2d(const crisol_tensor* x, const crisol_tensor* offset, const crisol_tensor* weight,
                                   const crisol_tensor* bias, const crisol_tensor* mask,
                                   const crisol_conv2d_options* options, crisol_tensor** result) {
  constexpr const char* op = "deform_conv2d";
  return give_from(x, result, op, [&](const Tensor& t) {
    return deform_conv2d(t, tensor_of(offset, op, "offset"), tensor_of(weight, op, "weight"), optional_tensor(bias),
                         optional_tensor(mask), conv_options<Conv2dOptions>(options));
  });
}

#define POOLING(function, Given, Options)                                                                      \
  crisol_status crisol_##function(const crisol_tensor* x, const Given* options, crisol_tensor** result) {      \
    return give_from(x, result, #function,                                                                     \
                     [&](const Tensor& t) { return function(t, pool_options<Options>(#function, options)); }); \
  }
POOLING(max_pool2d, crisol_pool2d_options, MaxPool2dOptions)
POOLING(max_pool3d, crisol_pool3d_options, MaxPool3dOptions)
POOLING(avg_pool2d, crisol_pool2d_options, AvgPool2dOptions)
POOLING(avg_pool3d, crisol_pool3d_options, AvgPool3dOptions)
#undef POOLING

#define POOLING_WITH_INDICES(function, Given, Options)                                                           \
  crisol_status crisol_##function(const crisol_tensor* x, const Given* options, crisol_tensor** values,          \
                                  crisol_tensor** indices) {                                                     \
    return guarded([&] {                                                                                         \
      const ExtremeResult y = function(tensor_of(x, #function, "x"), pool_options<Options>(#function, options)); \
      give_both(values, y.values, indices, y.indices);                                                           \
    });                                                                                                          \
  }
POOLING_WITH_INDICES(max_pool2d_with_indices, crisol_pool2d_options, MaxPool2dOptions)
POOLING_WITH_INDICES(max_pool3d_with_indices, crisol_pool3d_options, MaxPool3dOptions)
#undef POOLING_WITH_INDICES

crisol_status crisol_adaptive_avg_pool2d(const crisol_tensor* x, int height, int width, crisol_tensor** result) {
  return give_from(x, result, "adaptive_avg_pool2d", [&](const Tensor& t) {
    return adaptive_avg_pool2d(t, {height, width});
  });
}

crisol_status crisol_adaptive_avg_pool3d(const crisol_tensor* x, int depth, int height, int width,
                                         crisol_tensor** result) {
  return give_from(x, result, "adaptive_avg_pool3d", [&](const Tensor& t) {
    return adaptive_avg_pool3d(t, {depth, height, width});
  });
}
