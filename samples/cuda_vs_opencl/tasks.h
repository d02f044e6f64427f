// The five tasks that every side computes, with their operands, and the interface of a side.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace twins {

using Floats = std::vector<float>;

/// y = relu(relu(x) scale + shift), one pass over memory.
struct ReluChain {
  Floats x;
  float scale, shift;
};

/// c (m, n) = a (m, k) b (k, n), row-major.
struct Sgemm {
  int m, n, k;
  Floats a, b;
};

/// y (outputs, height, width) of each image = relu(x * weight + bias), 3 × 3, padding 1, NCHW. `outputs` is a multiple
/// of 8.
struct Conv3x3 {
  int images, channels, outputs, height, width;
  Floats x, weight, bias;
};

/// The pointwise part of an LSTM step. `gates` (batch, 4 hidden) holds i, f, g, o before their functions:
/// c' = s(f) c + s(i) tanh(g), h = s(o) tanh(c'). The result holds h, then c'.
struct LstmGates {
  int batch, hidden;
  Floats gates, cell;
};

/// SimpleCNN on one image of 28 × 28: two convolutions with 32 and 64 channels, each with ReLU and 2 × 2 pooling, then
/// linear layers with 128 and 10 outputs. Result: ten logits.
struct SimpleCnn {
  Floats image, conv1_weight, conv1_bias, conv2_weight, conv2_bias, fc1_weight, fc1_bias, fc2_weight, fc2_bias;
};

/// The results of one side (CUDA or OpenCL), and the time of its fastest run. The time covers kernels on data in device
/// memory, until they finish.
struct Timed {
  Floats values;
  double ms = 0;
};

/// One implementation of all tasks.
class Side {
 public:
  virtual ~Side() = default;
  virtual std::string name() const = 0;
  virtual std::string device() const = 0;
  virtual std::optional<Timed> run(const ReluChain&) { return std::nullopt; }
  virtual std::optional<Timed> run(const Sgemm&) { return std::nullopt; }
  virtual std::optional<Timed> run(const Conv3x3&) { return std::nullopt; }
  virtual std::optional<Timed> run(const LstmGates&) { return std::nullopt; }
  virtual std::optional<Timed> run(const SimpleCnn&) { return std::nullopt; }
};

/// Each function throws std::runtime_error with the reason if this machine cannot run that side.
std::unique_ptr<Side> crisol_side();
/// `platform` and `device` are OpenCL's names.
std::unique_ptr<Side> opencl_side(const std::string& platform, const std::string& device);
std::unique_ptr<Side> cuda_side();
/// cuBLAS and cuDNN.
std::unique_ptr<Side> cuda_libraries_side();

}  // namespace twins
