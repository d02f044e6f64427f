// Activations that ONNX Runtime moves into the nodes before them.
#pragma once

#include <string>
#include <vector>

#include "onnx/ops/table.h"

namespace crisol::onnx {

constexpr const char* microsoft_domain = "com.microsoft";
/// The domain of ops on images with channels in blocks.
constexpr const char* nchwc_domain = "com.microsoft.nchwc";

/// The activation with the name of an ONNX op. Its attributes have ONNX's defaults.
class FusedActivation {
 public:
  /// An empty name means no activation.
  explicit FusedActivation(const std::string& name);

  /// Sets all attributes, in ONNX's order.
  void set(const std::vector<double>& numbers);
  /// Sets attribute i. Does nothing if the op does not have it.
  void set(std::size_t i, double number);
  Tensor operator()(const Tensor& x) const { return f_(x, numbers_); }

 private:
  std::string name_;
  std::vector<double> numbers_;
  Tensor (*f_)(const Tensor& x, const std::vector<double>& numbers);
};

/// The activation of a convolution.
FusedActivation activation_of_convolution(Call& call);

/// Builds the node as the newest version of ONNX's own op, with the node's attributes and inputs.
graph::Run build_as(const char* op, Call& call);

}  // namespace crisol::onnx
