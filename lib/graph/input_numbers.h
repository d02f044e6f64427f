// The numbers of small inputs, which decide about sizes and branches of some graphs.
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
  /// The inputs. Inputs that may be shapes or conditions are brought to the host. Waits for the device if such an input
  /// is another one than in the last call.
  Data read(const std::vector<Tensor>& inputs);
  /// Whether a program is made for these numbers. It is made for the first few different inputs. Notes new ones.
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

/// Whether any input is on the host.
bool has_numbers(const Data& inputs);

/// Whether both have such dtypes and shapes, and equal numbers on the host.
bool are_alike(const Datum& a, const Datum& b);

}  // namespace crisol::graph
