// Small models for tests of passes over graphs.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/program.h"
#include "onnx/import.h"
#include "onnx/models.h"

/// A file with one input "x" of any shape and one output "y", for a version of ONNX's operator set.
class ModelFile {
 public:
  ModelFile(const std::vector<Proto>& nodes, const std::vector<Proto>& initializers, std::int64_t version = 17) {
    write_file(path(), of::model(of::graph({.nodes = nodes,
                                            .initializers = initializers,
                                            .inputs = {value("x", Proto().message(1, Proto().integer(1, of::f32)))},
                                            .outputs = {value("y", Proto().message(1, Proto().integer(1, of::f32)))}}),
                                 version)
                           .bytes());
  }
  std::string path() const { return folder_.path() + "/net.onnx"; }
  onnx::Model load() const { return onnx::load(path()); }

  /// How many nodes each pass removed or joined, for inputs like x.
  std::map<std::string, std::size_t> changes(const Tensor& x) const {
    onnx::file::ModelFile file(path());
    const onnx::Imported imported = onnx::import_model(file, Device());
    std::vector<Tensor> weights;
    for (const auto& w : imported.weights) weights.push_back(w.tensor);
    graph::PassChanges list;
    REQUIRE(graph::optimise(imported.graph, {x}, weights, Device(), &list));
    return {list.begin(), list.end()};
  }

 private:
  TemporaryFolder folder_;
};

/// Checks a program against the walk over the nodes, which runs while gradients are wanted.
inline void check_program(onnx::Model& model, const Tensor& x) {
  const Tensor walked = model(x).detach();
  const NoGrad no_grad;
  CHECK(model(x).allclose(walked, 1e-4, 1e-4));
  CHECK(model(x).allclose(walked, 1e-4, 1e-4));
}
