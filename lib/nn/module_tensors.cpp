// The parameters and buffers of a module: lists, state dicts, moves to a device.
#include <algorithm>
#include <map>
#include <set>

#include "autograd/node.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "nn/module_state.h"

namespace crisol::nn {

void Module::add_entries(const std::string& prefix, bool parameters, bool buffers, std::vector<Entry>& all) const {
  // PyTorch's order: the parameters and buffers of a module come before those of its children.
  if (parameters)
    for (const auto& [name, tensor] : state_->parameters) all.push_back({tensor, {prefix + name}});
  if (buffers)
    for (const auto& [name, buffer] : state_->buffers)
      all.push_back({static_cast<const Tensor&>(buffer), {prefix + name}});
  for (const auto& [name, child] : state_->children) child->add_entries(prefix + name + '.', parameters, buffers, all);
}

std::vector<Module::Entry> Module::entries(bool parameters, bool buffers) const {
  std::vector<Entry> all, unique;
  add_entries("", parameters, buffers, all);
  std::map<const void*, std::size_t> known;
  for (Entry& entry : all) {
    const auto [at, is_new] = known.emplace(autograd::identity_of(entry.tensor), unique.size());
    if (is_new)
      unique.push_back(std::move(entry));
    else
      unique[at->second].names.push_back(std::move(entry.names[0]));
  }
  return unique;
}

NamedTensors Module::named_parameters() const {
  NamedTensors all;
  for (const Entry& entry : entries(true, false)) all.emplace_back(entry.names[0], entry.tensor);
  return all;
}

NamedTensors Module::named_buffers() const {
  NamedTensors all;
  for (const Entry& entry : entries(false, true)) all.emplace_back(entry.names[0], entry.tensor);
  return all;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> all;
  for (const Entry& entry : entries(true, false)) all.push_back(entry.tensor);
  return all;
}

std::int64_t Module::parameter_count() const {
  std::int64_t count = 0;
  for (const Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

namespace {

// The list's entry with this name, or null.
template <class Value>
const Value* find(const std::vector<std::pair<std::string, Value>>& list, const std::string& name) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == name; });
  return at == list.end() ? nullptr : &at->second;
}

// Splits a name into the name of the module and the last part.
std::pair<std::string, std::string> split_name(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

}  // namespace

Parameter Module::parameter(const std::string& name) const {
  const auto [path, last] = split_name(name);
  const Parameter* found = find((path.empty() ? *this : module(path)).state_->parameters, last);
  require(found != nullptr, "parameter", "there is no parameter '", name, "'");
  return *found;
}

Buffer Module::buffer(const std::string& name) const {
  const auto [path, last] = split_name(name);
  const Buffer* found = find((path.empty() ? *this : module(path)).state_->buffers, last);
  require(found != nullptr, "buffer", "there is no buffer '", name, "'");
  return *found;
}

NamedTensors Module::state_dict() const {
  NamedTensors all;
  for (const Entry& entry : entries(true, true)) all.emplace_back(entry.names[0], entry.tensor.detach());
  return all;
}

StateDifference Module::load_state_dict(const NamedTensors& state, const LoadStateOptions& options) {
  const std::vector<Entry> own = entries(true, true);
  std::map<std::string, Tensor> given;
  std::string problems;
  for (const auto& [name, tensor] : state)
    if (!given.emplace(name, tensor).second) problems += "\n  twice: " + name;
  StateDifference difference;
  std::vector<std::pair<Tensor, Tensor>> copies;
  std::set<std::string> known;
  for (const Entry& entry : own) {
    const std::size_t before = copies.size();
    bool is_given = false;
    for (const std::string& name : entry.names) {
      known.insert(name);
      const auto at = given.find(name);
      if (at == given.end()) continue;
      is_given = true;
      if (!at->second.defined())
        problems += "\n  undefined: " + name;
      else if (at->second.shape() != entry.tensor.shape())
        problems += concat("\n  different: ", name, " is ", entry.tensor.shape(), ' ', entry.tensor.dtype(), ", given ",
                           at->second.shape(), ' ', at->second.dtype());
      else if (copies.size() == before)
        copies.emplace_back(entry.tensor, at->second);
    }
    if (!is_given) difference.missing.push_back(entry.names[0]);
  }
  for (const auto& [name, tensor] : given)
    if (known.count(name) == 0) difference.unexpected.push_back(name);
  if (options.strict) {
    for (const std::string& name : difference.missing) problems += "\n  missing: " + name;
    for (const std::string& name : difference.unexpected) problems += "\n  unexpected: " + name;
  }
  require(problems.empty(), "load_state_dict", "the state does not fit:", problems);
  for (const auto& [tensor, value] : copies) ops::copy_into(tensor, value);
  return difference;
}

namespace {

/// Puts copies in the place of tensors and their gradients: copies on another device or of another dtype.
template <class To>
void replace(const std::vector<Tensor>& tensors, To to) {
  struct Copy {
    Tensor tensor, value, gradient;
  };
  // All copies are made first. So if memory runs out, every tensor is still in its old place.
  std::vector<Copy> copies;
  for (const Tensor& tensor : tensors) {
    const Tensor gradient = tensor.grad();
    copies.push_back({tensor, tensor.detach().to(to), gradient.defined() ? gradient.detach().to(to) : gradient});
  }
  for (const Copy& copy : copies) {
    if (autograd::Slot* slot = autograd::slot_of(copy.tensor)) {
      slot->gradient = copy.gradient;
      slot->gradient_buffer = Tensor();
    }
    autograd::replace_leaf(copy.tensor, copy.value);
  }
}

}  // namespace

Module& Module::to(Device device) {
  std::vector<Tensor> others;
  for (const Entry& entry : entries(true, true))
    if (entry.tensor.device() != device) others.push_back(entry.tensor);
  replace(others, device);
  return *this;
}

Module& Module::to(DType dtype) {
  require(is_floating(dtype), "to", "the dtype of a module must be ", TypesThat{is_floating}, ", it is ", dtype);
  std::vector<Tensor> others;
  for (const Entry& entry : entries(true, true))
    if (is_floating(entry.tensor.dtype()) && entry.tensor.dtype() != dtype) others.push_back(entry.tensor);
  replace(others, dtype);
  return *this;
}

void Module::zero_grad() const { zero_grad(true); }

void Module::zero_grad(bool set_to_none) const {
  for (const Tensor& parameter : parameters())
    set_to_none ? autograd::clear_gradient(parameter) : autograd::zero_gradient(parameter);
}

}  // namespace crisol::nn
