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
  graph::Graph graph;
  std::vector<Weight> weights;
};

/// Imports a model. Functions are inlined. Initializers of floating-point numbers become weights, and all others
/// constants. A number alone and the statistics of BatchNormalization are not trained.
///
/// Throws Error: io for a file that contradicts itself, invalid_argument with all ops, versions and nodes that the
/// library does not support.
Imported import_model(file::ModelFile& file, Device device);

}  // namespace crisol::onnx
