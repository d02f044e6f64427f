// How the library's functions compute the ops that traces note.
#pragma once

#include <map>
#include <vector>

#include "graph/graph.h"

namespace crisol::graph {

/// Gives each node of a traced graph its run.
void add_runs(Graph& graph);

using MakeRun = Run (*)(const Node& node);
using Runs = std::map<Op, MakeRun>;

/// The ops that move, join, pick, pad and reduce elements.
const Runs& runs_of_arrangements();
/// Layers of networks.
const Runs& runs_of_layers();

/// The tensors of all inputs; undefined ones for inputs that are left out.
std::vector<Tensor> tensors_of(const Data& in, Device device);

/// A run of a function of one tensor.
template <class F>
Run run_of_one(F f) {
  return [f](const Data& in, Device device) { return Data{f(in[0].tensor(device))}; };
}
/// A run of a function of all inputs.
template <class F>
Run run_of_all(F f) {
  return [f](const Data& in, Device device) { return Data{f(tensors_of(in, device))}; };
}

/// A run of `compute`, which takes the data, the device, and an epilogue or null.
template <class F>
Run with_epilogue(F compute) {
  Run run([compute](const Data& in, Device device) { return Data{compute(in, device, nullptr)}; });
  run.with_epilogue = [compute](const Data& in, Device device, const Epilogue& epilogue) {
    return compute(in, device, &epilogue);
  };
  return run;
}

}  // namespace crisol::graph
