// Labels of classes, and texts that are known before a run.
#pragma once

#include "onnx/ops/axes.h"
#include "onnx/ops/call.h"

namespace crisol::onnx {

/// The labels of a classifier. They are whole numbers, or positions of texts.
struct ClassLabels {
  Numbers numbers;
  graph::Texts texts;  ///< Null for whole numbers.

  /// The known facts about the output with the labels.
  graph::Value value() const;
};

/// Reads the labels from one of two attributes. Throws invalid_argument unless exactly one of them has labels.
ClassLabels class_labels(Call& call, const char* ints, const char* strings);

/// A node Cast from texts to numbers. Each text is converted once, at import.
graph::Run cast_texts(Call& call, const std::vector<std::string>& texts, DType dtype);

/// Whether elements of the same type are equal, where NaN equals NaN. The tensors broadcast.
Tensor is_same(const Tensor& a, const Tensor& b);

}  // namespace crisol::onnx
