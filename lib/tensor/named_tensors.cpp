#include "tensor/named_tensors.h"

#include <set>

#include "base/text.h"

namespace crisol {

Tensor whole_number(std::int64_t value, Device device) { return from_vector(std::vector{value}, Shape{}, device); }

std::map<std::string, Tensor> match_state(const char* op, const NamedTensors& own, const NamedTensors& given) {
  std::map<std::string, Tensor> found;
  std::string problems;
  for (const auto& [name, tensor] : given)
    if (!found.emplace(name, tensor).second) problems += "\n  twice: " + name;
  std::set<std::string> wanted;
  for (const auto& [name, tensor] : own) {
    wanted.insert(name);
    const auto at = found.find(name);
    if (at == found.end())
      problems += "\n  missing: " + name;
    else if (!at->second.defined())
      problems += "\n  undefined: " + name;
    else if (at->second.shape() != tensor.shape() || at->second.dtype() != tensor.dtype())
      problems += concat("\n  different: ", name, " is ", tensor.shape(), ' ', tensor.dtype(), ", given ",
                         at->second.shape(), ' ', at->second.dtype());
  }
  for (const auto& [name, tensor] : found)
    if (wanted.count(name) == 0) problems += "\n  unexpected: " + name;
  require(problems.empty(), op, "the state does not fit:", problems);
  return found;
}

}  // namespace crisol
