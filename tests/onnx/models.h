// Small ONNX models for tests, and their results.
#pragma once

#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/files.h"
#include "support/onnx_writer.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using namespace crisol::testing;
namespace of = crisol::testing::onnx_file;
using of::attribute;
using of::node;
using of::Proto;
using of::Sizes;
using of::value;

/// An initializer with the values of a tensor.
inline Proto weight(const std::string& name, const Tensor& t) {
  return of::raw_tensor<float>(name, of::f32, Sizes(t.shape().begin(), t.shape().end()), t.to_vector<float>());
}
inline Proto numbers(const std::string& name, const std::vector<std::int64_t>& values) {
  return of::raw_tensor<std::int64_t>(name, of::i64, {static_cast<std::int64_t>(values.size())}, values);
}
/// A single number.
inline Proto stored_number(const std::string& name, std::int64_t value) {
  return of::raw_tensor<std::int64_t>(name, of::i64, {}, {value});
}

inline onnx::Model loaded(const Proto& file) {
  const TemporaryFolder folder;
  write_file(folder.path() + "/net.onnx", file.bytes());
  return onnx::load(folder.path() + "/net.onnx");
}

inline doctest::String refused(const Proto& file, ErrorCode code = ErrorCode::invalid_argument) {
  return refusal(code, [&] { loaded(file); });
}

/// A graph with one node from "x" (and initializers) to "y".
inline Proto one_node(const Proto& node, const std::vector<Proto>& initializers = {}, std::int64_t opset = 17) {
  return of::model(of::graph({.nodes = {node},
                              .initializers = initializers,
                              .inputs = {value("x", Proto().message(1, Proto().integer(1, of::f32)))},
                              .outputs = {value("y", of::f32, {})}}),
                   opset);
}

inline Tensor result(const Proto& file, const Tensor& x) { return loaded(file)({{"x", x}})["y"]; }

inline bool same(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && a.allclose(b, 1e-5, 1e-6); }
