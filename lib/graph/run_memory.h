// The memory of a program's inputs and outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace crisol::runtime {
class Capturer;
}

namespace crisol::graph {

/// Memory for an output of a run, by its index. It may be undefined, and then the run chooses the memory.
using OutputMemory = std::function<Tensor(std::size_t output, const Shape& shape, DType dtype)>;

/// Copies that later runs do not write.
Data copies_of(Data data, Device device);

/// How often the elements of each tensor were written; 0 for values that are no tensor.
std::vector<std::uint64_t> versions_of(const Data& data, Device device);

/// Whether x is all elements of a block of the pool, in their order. Kernels may rely on how such memory begins.
bool is_whole(const Tensor& x);

/// The inputs and outputs that captured commands work with. Where it is possible, a run exchanges their memory: the
/// commands read the inputs where the caller has them, and write the outputs to new tensors. Others are copied.
class RunMemory {
 public:
  /// `versions` is what versions_of(inputs) was before the work. An input that was written since is copied.
  RunMemory(runtime::Capturer& commands, Device device, const Data& inputs, const std::vector<std::uint64_t>& versions,
            const Data& outputs);

  /// Lets the next replay read the inputs of a run, in place of `own`, the captured ones.
  void set_inputs(const Data& inputs, const Data& own) const;
  /// Whether each replay writes this output to memory of its own.
  bool takes_output(std::size_t output) const { return outputs_[output].has_value(); }
  /// Memory for the outputs of the next replay: what `memory` gives if kernels can use it, else new memory. Those that
  /// have to be copied from `own` are undefined.
  Data new_outputs(const Data& own, const OutputMemory& memory) const;

 private:
  using Parameters = std::vector<std::optional<std::size_t>>;

  runtime::Capturer& commands_;
  const Device device_;
  Parameters inputs_, outputs_;
  std::vector<bool> unused_;  ///< The inputs that neither commands nor outputs need.
};

}  // namespace crisol::graph
