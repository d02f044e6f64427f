// The numbers of small inputs. In some graphs they determine sizes and branches.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graph/graph.h"

namespace crisol {
struct Storage;
}

namespace crisol::graph {

class InputNumbers {
 public:
  /// The inputs, as data for a run. Inputs that may be shapes or conditions are copied to the host. This waits for the
  /// device if such an input differs from the last call.
  Data read(const std::vector<Tensor>& inputs);
  /// Whether a program may be made for these numbers. Only the first few different inputs get one. New numbers are
  /// remembered.
  bool admit(const Data& inputs);

 private:
  /// An input of the last call.
  struct Known {
    std::shared_ptr<const Storage> storage;
    std::uint64_t version = 0;
    std::int64_t offset = 0;
    Datum numbers;
  };
  std::vector<Known> last_;
  std::vector<std::vector<std::int64_t>> admitted_;
};

/// Whether any input has its numbers on the host.
bool has_numbers(const Data& inputs);

/// Whether both have the same dtype and shape, and equal numbers if they are on the host.
bool are_alike(const Datum& a, const Datum& b);

}  // namespace crisol::graph
