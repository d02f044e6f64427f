// One op of ONNX as a model, for tests of ops.
#pragma once

#include <string>
#include <vector>

#include "crisol/onnx.h"
#include "doctest/doctest.h"
#include "support/onnx_writer.h"

namespace crisol::testing {

struct OnnxOp {
  std::string name;
  std::vector<onnx_file::Proto> attributes = {};
  std::int64_t version = 28;
  std::string domain = {};
  std::vector<std::string> outputs = {"y"};  ///< An output without a name is not asked for.
  std::int64_t domain_version = 1;           ///< The version of the domain, unless it is ONNX's own.
};

/// The outputs of an op that have names. An undefined input is left out.
std::vector<Tensor> run_op(const OnnxOp& op, const std::vector<Tensor>& inputs);

/// The text of the Error (invalid_argument) that loading or running an op throws.
doctest::String refusal_of_op(const OnnxOp& op, const std::vector<Tensor>& inputs);

/// An attribute that is a whole number.
inline onnx_file::Proto number(const char* name, std::int64_t value) { return onnx_file::attribute(name, value); }

/// Whether two results have one shape, and elements that differ by rounding only.
bool nearly(const Tensor& a, const Tensor& b);

}  // namespace crisol::testing
