// Programs. A program is a graph for inputs of fixed shapes, after the passes, as a list of commands that a device can
// queue again.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "crisol/capture.h"
#include "graph/graph.h"
#include "graph/input_numbers.h"
#include "graph/run_memory.h"

namespace crisol {
struct Storage;
namespace runtime {
class Block;
}
}  // namespace crisol

namespace crisol::graph {

/// For each pass, its name and the number of nodes that it removed or joined. The steps of passes.h are there too. The
/// number of fold_constants is the nodes that were computed when the program was made. The number of pack_weights is
/// the operands that kernels read from packed copies. The number of capture is the nodes whose commands are queued
/// again.
using PassChanges = std::vector<std::pair<std::string, std::size_t>>;

/// A graph for inputs like these, after the passes. Inputs on the host must have these numbers in each run. Nothing if
/// a size or a branch depends on the values of other inputs. `changes` gets fold_constants and the passes.
std::optional<Graph> optimise(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device,
                              PassChanges* changes = nullptr);

class Program {
 public:
  /// When a new program runs.
  enum class Runs {
    at_once,      ///< Always, so that it has outputs.
    for_new_code  ///< Only if it has kernels that have not run before. Some drivers compile at the first run.
  };

  /// Makes a program, and computes the outputs too if it runs. Throws Error if a node fails. Inputs on the host must
  /// have these numbers in each run.
  Program(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device,
          Runs runs = Runs::at_once);

  /// Whether the program was made for inputs of these dtypes and shapes, and for these numbers of inputs on the host.
  bool fits_inputs(const Data& inputs) const;
  /// Whether the program was made for these values of the weights, and its states are where they were.
  bool fits_weights(const std::vector<Tensor>& weights) const;
  /// Whether the program can run. It cannot if a size or a branch depends on values of inputs that are not on the host.
  bool can_run() const noexcept { return captured_ || graph_; }
  /// Runs the program, and returns the outputs, in the given memory where it is possible. Several threads may call it.
  Data run(const Data& inputs, const OutputMemory& memory = {});
  /// The outputs of the first run. Nothing is copied where later runs write other memory.
  Data outputs() const;
  /// How many operands the commands read from packed copies.
  std::size_t packed() const noexcept { return packed_; }
  /// How many commands ran code that had not run before.
  std::size_t new_code() const noexcept { return new_code_; }

 private:
  /// Captures a run of the graph. Without the step "capture", the graph keeps its constants.
  void capture_run(Graph& graph, Runs runs);

  /// A weight's memory, version and moves at the time when the program was made.
  struct Weight {
    std::shared_ptr<const Storage> storage;
    std::uint64_t version, moves;
  };
  static Weight weight_of(const Tensor& x);

  Device device_;
  std::vector<Weight> weights_;
  std::vector<Tensor> states_;  ///< Of the graph.
  std::vector<Weight> places_;  ///< Of the states. Their versions do not count.
  /// Memory that the commands read, for weights whose values stay in a file.
  std::vector<std::shared_ptr<runtime::Block>> borrowed_;
  std::size_t packed_ = 0, new_code_ = 0;
  std::mutex mutex_;
  Data inputs_;   ///< Tensors that the commands read, and the numbers of inputs on the host.
  Data outputs_;  ///< Tensors that the commands write.
  std::optional<CapturedGraph> captured_;
  std::optional<RunMemory> memory_;  ///< Of captured_.
  std::optional<Graph> graph_;       ///< The graph after the passes, instead of captured_.
};

/// The programs of one graph for the last few shapes of its inputs.
class Programs {
 public:
  /// The outputs, computed by the program for inputs like these. The program is made if there is none yet. If sizes or
  /// branches depend on values of inputs, a program is made for the numbers of its small inputs too, but only for the
  /// first few different numbers. Nothing if there is no program for inputs of these shapes. If this happens for
  /// several shapes in a row, the graph counts as without programs for all shapes. Also nothing while gradients are
  /// wanted, or while the thread traces or captures, because all three must see the nodes.
  /// `memory` is for outputs of a program that was made before.
  std::optional<Data> run(const Graph& graph, const std::vector<Tensor>& inputs, const std::vector<Tensor>& weights,
                          Device device, const OutputMemory& memory = {});
  /// Compiles the kernels of the program for inputs like these, and keeps no program. The program runs only if it has
  /// kernels that have not run before. Returns how many. Does nothing for a graph with states, and where run() makes
  /// no program. Throws Error if a node fails.
  std::size_t prepare(const Graph& graph, const std::vector<Tensor>& inputs, const std::vector<Tensor>& weights,
                      Device device);
  /// How many programs were made so far.
  std::size_t made() const noexcept { return made_; }
  /// The graph that run() would run, after the passes. Its weights are constants. Nothing if run() would give nothing.
  /// `changes` gets all steps.
  std::optional<Graph> graph_of(const Graph& graph, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& weights, Device device, PassChanges* changes = nullptr);

 private:
  /// The dtypes and shapes of inputs.
  using Layouts = std::vector<std::pair<DType, Shape>>;

  /// The inputs in the form that programs take.
  Data known(const std::vector<Tensor>& inputs);
  /// Makes a program. If it depends on numbers of inputs, they are read. Null if no program is possible.
  std::shared_ptr<Program> make(const Graph& graph, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& weights, Device device);
  std::shared_ptr<Program> find(const Data& inputs, const std::vector<Tensor>& weights);
  /// Whether it is known that inputs like these have no program.
  bool is_refused(const Layouts& layouts) const;
  void refuse(Layouts layouts);

  std::mutex mutex_;
  std::vector<std::shared_ptr<Program>> programs_;  ///< The program that was used last is the first.
  std::vector<Layouts> refused_;                    ///< The last inputs that had no program.
  std::atomic<std::size_t> made_ = 0;
  bool has_programs_ = true;
  InputNumbers numbers_;
  bool by_numbers_ = false;  ///< Whether programs depend on the numbers of small inputs.
};

}  // namespace crisol::graph
