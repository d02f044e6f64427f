#include "tensor/named_tensors.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace crisol {

Tensor whole_number(std::int64_t value, Device device) { return from_vector(std::vector{value}, Shape{}, device); }

namespace {

const Tensor* find(const NamedTensors& tensors, const std::string& name) {
  const auto at = std::find_if(tensors.begin(), tensors.end(), [&](const auto& pair) { return pair.first == name; });
  return at == tensors.end() ? nullptr : &at->second;
}

// Shortens the list, because a file may hold very many names, and long ones.
std::string names_of(const NamedTensors& tensors) {
  constexpr std::size_t most = 20, longest = 60;
  std::string names;
  for (std::size_t i = 0; i < std::min(tensors.size(), most); ++i)
    names += concat(i == 0 ? "'" : ", '", tensors[i].first.substr(0, longest), '\'');
  return tensors.size() > most ? names + ", …" : names;
}

}  // namespace

const Tensor& NamedTensors::operator[](const std::string& name) const {
  const Tensor* tensor = find(*this, name);
  require(tensor != nullptr, "NamedTensors", "there is no tensor '", name, "'; there are ", size(), empty() ? "" : ": ",
          names_of(*this));
  return *tensor;
}

bool NamedTensors::contains(const std::string& name) const { return find(*this, name) != nullptr; }

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
