// Activations that ONNX Runtime puts into the nodes before them.
#pragma once

#include <string>
#include <vector>

#include "onnx/ops/table.h"

namespace crisol::onnx {

constexpr const char* microsoft_domain = "com.microsoft";
/// The ops on images whose channels lie in blocks.
constexpr const char* nchwc_domain = "com.microsoft.nchwc";

/// The activation of an op of ONNX. It has ONNX's defaults for the op's attributes.
class FusedActivation {
 public:
  /// An empty name is no activation.
  explicit FusedActivation(const std::string& name);

  /// Sets all attributes, in ONNX's order.
  void set(const std::vector<double>& numbers);
  /// Sets attribute i; nothing if the op has none.
  void set(std::size_t i, double number);
  Tensor operator()(const Tensor& x) const { return f_(x, numbers_); }

 private:
  std::string name_;
  std::vector<double> numbers_;
  Tensor (*f_)(const Tensor& x, const std::vector<double>& numbers);
};

/// The activation of a convolution.
FusedActivation activation_of_convolution(Call& call);

/// The newest op of ONNX itself with this node's attributes and inputs.
graph::Run build_as(const char* op, Call& call);

}  // namespace crisol::onnx
