// Makes a graph of the library's functions from a decoded ONNX model.
#pragma once

#include <string>
#include <vector>

#include "crisol/named_tensors.h"
#include "graph/graph.h"
#include "onnx/reader/model_file.h"

namespace crisol::onnx {

struct Imported {
  /// A weight. In a run, tensors come in this order: trained and other weights as they are in the file.
  struct Weight {
    std::string name;
    Tensor tensor;
    bool is_trained;
  };
  /// An initializer that is also an input in the file. A run may give it another value.
  struct Default {
    int value;           ///< Its position in the graph's values. It is a weight or a constant.
    graph::Value input;  ///< The input's name, type and sizes in the file.
  };
  graph::Graph graph;
  std::vector<Weight> weights;
  std::vector<Default> defaults;
};

/// Imports a model. Functions are inlined. Initializers of floating-point numbers become weights, also in the bodies of
/// nodes. All other initializers become constants. Weights are trained, except for single numbers and the statistics of
/// BatchNormalization.
///
/// Throws Error: io for a file that contradicts itself, and invalid_argument with all ops, versions and nodes that the
/// library does not support.
Imported import_model(file::ModelFile& file, Device device);

}  // namespace crisol::onnx
