#include "cuda_libraries.h"

namespace twins {

namespace {

/// Max pooling over 2 × 2 pixels.
class MaxPool {
 public:
  MaxPool(const CudaLibraries& libraries, int planes, int side)
      : libraries_(libraries), x_(1, planes, side, side), y_(1, planes, side / 2, side / 2) {
    check(cudnnCreatePoolingDescriptor(&pool_), "cudnnCreatePoolingDescriptor");
    check(cudnnSetPooling2dDescriptor(pool_, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2),
          "cudnnSetPooling2dDescriptor");
  }
  ~MaxPool() { cudnnDestroyPoolingDescriptor(pool_); }
  MaxPool(const MaxPool&) = delete;
  MaxPool& operator=(const MaxPool&) = delete;

  void run(const DeviceFloats& x, const DeviceFloats& y) const {
    const float one = 1, zero = 0;
    check(cudnnPoolingForward(libraries_.dnn(), pool_, &one, x_, x.get(), &zero, y_, y.get()), "cudnnPoolingForward");
  }

 private:
  const CudaLibraries& libraries_;
  TensorShape x_, y_;
  cudnnPoolingDescriptor_t pool_ = nullptr;
};

/// Computes y = weight x + bias for one row.
void linear(const CudaLibraries& libraries, const DeviceFloats& x, const DeviceFloats& weight, const DeviceFloats& bias,
            const DeviceFloats& y, int inputs, int outputs) {
  const float one = 1;
  check(cudaMemcpyAsync(y.get(), bias.get(), outputs * sizeof(float), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
  check(cublasSgemv(libraries.blas(), CUBLAS_OP_T, inputs, outputs, &one, weight.get(), inputs, x.get(), 1, &one,
                    y.get(), 1),
        "cublasSgemv");
}

}  // namespace

Timed run_libraries(const CudaLibraries& libraries, const SimpleCnn& task) {
  const DeviceFloats image(task.image), conv1_weight(task.conv1_weight), conv1_bias(task.conv1_bias);
  const DeviceFloats conv2_weight(task.conv2_weight), conv2_bias(task.conv2_bias);
  const DeviceFloats fc1_weight(task.fc1_weight), fc1_bias(task.fc1_bias);
  const DeviceFloats fc2_weight(task.fc2_weight), fc2_bias(task.fc2_bias);
  const DeviceFloats planes1(32 * 28 * 28), pooled1(32 * 14 * 14), planes2(64 * 14 * 14), pooled2(64 * 7 * 7);
  const DeviceFloats hidden(128), logits(10);
  const ConvBiasRelu conv1(libraries, 1, 1, 32, 28, 28), conv2(libraries, 1, 32, 64, 14, 14);
  const MaxPool pool1(libraries, 32, 28), pool2(libraries, 64, 14);
  const TensorShape hidden_shape(1, 128, 1, 1);
  const ReluActivation relu;
  const float one = 1, zero = 0;
  const double ms = cuda_time([&] {
    conv1.run(image, conv1_weight, conv1_bias, planes1);
    pool1.run(planes1, pooled1);
    conv2.run(pooled1, conv2_weight, conv2_bias, planes2);
    pool2.run(planes2, pooled2);
    linear(libraries, pooled2, fc1_weight, fc1_bias, hidden, 64 * 7 * 7, 128);
    check(cudnnActivationForward(libraries.dnn(), relu, &one, hidden_shape, hidden.get(), &zero, hidden_shape,
                                 hidden.get()),
          "cudnnActivationForward");
    linear(libraries, hidden, fc2_weight, fc2_bias, logits, 128, 10);
  });
  return {logits.download(), ms};
}

}  // namespace twins
