#include "cuda_libraries.h"

namespace twins {

ConvBiasRelu::ConvBiasRelu(const CudaLibraries& libraries, int images, int channels, int outputs, int height, int width)
    : libraries_(libraries),
      x_(images, channels, height, width),
      bias_(1, outputs, 1, 1),
      y_(images, outputs, height, width) {
  check(cudnnCreateFilterDescriptor(&filter_), "cudnnCreateFilterDescriptor");
  check(cudnnSetFilter4dDescriptor(filter_, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, outputs, channels, 3, 3),
        "cudnnSetFilter4dDescriptor");
  check(cudnnCreateConvolutionDescriptor(&conv_), "cudnnCreateConvolutionDescriptor");
  check(cudnnSetConvolution2dDescriptor(conv_, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
        "cudnnSetConvolution2dDescriptor");
  // Computes in plain fp32, as all other sides do. Without this call, tf32 may be used.
  check(cudnnSetConvolutionMathType(conv_, CUDNN_FMA_MATH), "cudnnSetConvolutionMathType");
  int found = 0;
  cudnnConvolutionFwdAlgoPerf_t best;
  check(cudnnFindConvolutionForwardAlgorithm(libraries_.dnn(), x_, filter_, conv_, y_, 1, &found, &best),
        "cudnnFindConvolutionForwardAlgorithm");
  check(best.status, "cudnnFindConvolutionForwardAlgorithm");
  algorithm_ = best.algo;
  workspace_bytes_ = best.memory;
  if (workspace_bytes_ > 0) workspace_ = std::make_unique<DeviceFloats>((workspace_bytes_ + 3) / 4);
}

ConvBiasRelu::~ConvBiasRelu() {
  cudnnDestroyConvolutionDescriptor(conv_);
  cudnnDestroyFilterDescriptor(filter_);
}

void ConvBiasRelu::run(const DeviceFloats& x, const DeviceFloats& weight, const DeviceFloats& bias,
                       const DeviceFloats& y) const {
  const float one = 1, zero = 0;
  check(cudnnConvolutionBiasActivationForward(libraries_.dnn(), &one, x_, x.get(), filter_, weight.get(), conv_,
                                              algorithm_, workspace_ ? workspace_->get() : nullptr, workspace_bytes_,
                                              &zero, y_, y.get(), bias_, bias.get(), relu_, y_, y.get()),
        "cudnnConvolutionBiasActivationForward");
}

Timed run_libraries(const CudaLibraries& libraries, const Conv3x3& task) {
  const DeviceFloats x(task.x), weight(task.weight), bias(task.bias);
  const DeviceFloats y(static_cast<std::size_t>(task.images) * task.outputs * task.height * task.width);
  const ConvBiasRelu conv(libraries, task.images, task.channels, task.outputs, task.height, task.width);
  const double ms = cuda_time([&] { conv.run(x, weight, bias, y); });
  return {y.download(), ms};
}

}  // namespace twins
