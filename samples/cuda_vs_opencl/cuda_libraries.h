// cuBLAS and cuDNN: their handles, descriptors and checked calls.
#pragma once

#include <cublas_v2.h>
#include <cudnn.h>

#include "cuda.h"

namespace twins {

inline void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
}
inline void check(cudnnStatus_t status, const char* call) {
  if (status != CUDNN_STATUS_SUCCESS) throw std::runtime_error(std::string(call) + ": " + cudnnGetErrorString(status));
}

class CudaLibraries {
 public:
  CudaLibraries() {
    check(cublasCreate(&blas_), "cublasCreate");
    check(cudnnCreate(&dnn_), "cudnnCreate");
  }
  ~CudaLibraries() {
    cudnnDestroy(dnn_);
    cublasDestroy(blas_);
  }
  CudaLibraries(const CudaLibraries&) = delete;
  CudaLibraries& operator=(const CudaLibraries&) = delete;

  cublasHandle_t blas() const { return blas_; }
  cudnnHandle_t dnn() const { return dnn_; }

 private:
  cublasHandle_t blas_ = nullptr;
  cudnnHandle_t dnn_ = nullptr;
};

/// The shape of an NCHW tensor of floats.
class TensorShape {
 public:
  TensorShape(int n, int c, int h, int w) {
    check(cudnnCreateTensorDescriptor(&shape_), "cudnnCreateTensorDescriptor");
    check(cudnnSetTensor4dDescriptor(shape_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w),
          "cudnnSetTensor4dDescriptor");
  }
  ~TensorShape() { cudnnDestroyTensorDescriptor(shape_); }
  TensorShape(const TensorShape&) = delete;
  TensorShape& operator=(const TensorShape&) = delete;
  operator cudnnTensorDescriptor_t() const { return shape_; }

 private:
  cudnnTensorDescriptor_t shape_ = nullptr;
};

/// The activation max(x, 0).
class ReluActivation {
 public:
  ReluActivation() {
    check(cudnnCreateActivationDescriptor(&relu_), "cudnnCreateActivationDescriptor");
    check(cudnnSetActivationDescriptor(relu_, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0),
          "cudnnSetActivationDescriptor");
  }
  ~ReluActivation() { cudnnDestroyActivationDescriptor(relu_); }
  ReluActivation(const ReluActivation&) = delete;
  ReluActivation& operator=(const ReluActivation&) = delete;
  operator cudnnActivationDescriptor_t() const { return relu_; }

 private:
  cudnnActivationDescriptor_t relu_ = nullptr;
};

/// Computes relu(x * weight + bias), 3 × 3, padding 1, with the algorithm that cuDNN proposes.
class ConvBiasRelu {
 public:
  ConvBiasRelu(const CudaLibraries& libraries, int images, int channels, int outputs, int height, int width);
  ~ConvBiasRelu();
  ConvBiasRelu(const ConvBiasRelu&) = delete;
  ConvBiasRelu& operator=(const ConvBiasRelu&) = delete;

  void run(const DeviceFloats& x, const DeviceFloats& weight, const DeviceFloats& bias, const DeviceFloats& y) const;

 private:
  const CudaLibraries& libraries_;
  TensorShape x_, bias_, y_;
  ReluActivation relu_;
  cudnnFilterDescriptor_t filter_ = nullptr;
  cudnnConvolutionDescriptor_t conv_ = nullptr;
  cudnnConvolutionFwdAlgo_t algorithm_{};
  std::unique_ptr<DeviceFloats> workspace_;
  std::size_t workspace_bytes_ = 0;
};

Timed run_libraries(const CudaLibraries& libraries, const Sgemm& task);
Timed run_libraries(const CudaLibraries& libraries, const Conv3x3& task);
Timed run_libraries(const CudaLibraries& libraries, const SimpleCnn& task);

}  // namespace twins
