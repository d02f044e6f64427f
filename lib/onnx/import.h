// Makes a graph of the library's functions from a decoded ONNX model.
#pragma once

#include <string>
#include <vector>

#include "crisol/named_tensors.h"
#include "graph/graph.h"
#include "onnx/reader/model_file.h"

namespace crisol::onnx {

struct Imported {
  /// The tensors of a run come in this order: trained ones and others as the file has them.
  struct Weight {
    std::string name;
    Tensor tensor;
    bool is_trained;
  };
  /// An initializer that is also an input of the file. A run may give it another value.
  struct Default {
    int value;           ///< Its place in the graph's values: one of the weights or of the constants.
    graph::Value input;  ///< The input's name, and its type and sizes in the file.
  };
  graph::Graph graph;
  std::vector<Weight> weights;
  std::vector<Default> defaults;
};

/// Imports a model. Functions are inlined. Initializers of floating-point numbers become weights, even within bodies of
/// nodes. All other initializers become constants. A number alone and the statistics of BatchNormalization are not
/// trained.
///
/// Throws Error: io for a file that contradicts itself, invalid_argument with all ops, versions and nodes that the
/// library does not support.
Imported import_model(file::ModelFile& file, Device device);

}  // namespace crisol::onnx
