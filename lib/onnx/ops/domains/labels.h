// Labels of classes, and texts that are known before a run.
#pragma once

#include "onnx/ops/axes.h"
#include "onnx/ops/call.h"

namespace crisol::onnx {

/// The labels of a classifier: whole numbers, or the positions of texts.
struct ClassLabels {
  Numbers numbers;
  graph::Texts texts;  ///< Null for whole numbers.

  /// What is known about the output of labels.
  graph::Value value() const;
};

/// Reads the labels from one of two attributes. Throws invalid_argument if not exactly one has labels.
ClassLabels class_labels(Call& call, const char* ints, const char* strings);

/// A node Cast from texts to numbers: each text is read once.
graph::Run cast_texts(Call& call, const std::vector<std::string>& texts, DType dtype);

/// Where an element of x equals one of `keys`: a bool for each key, along a new last axis. NaN equals NaN.
Tensor matches(const Tensor& x, const Tensor& keys);

}  // namespace crisol::onnx
