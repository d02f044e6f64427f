#include "crisol/nn/module.h"

#include <algorithm>
#include <map>

#include "autograd/node.h"
#include "base/text.h"
#include "crisol/ops/copy.h"
#include "tensor/named_tensors.h"

namespace crisol::nn {

namespace {

template <class Visit>
void visit_modules(const Module& module, const std::string& prefix, const Visit& visit) {
  visit(module, prefix);
  for (const auto& [name, child] : module.named_children()) visit_modules(*child, prefix + name + '.', visit);
}

NamedTensors prefixed(const NamedTensors& own, const std::string& prefix) {
  NamedTensors all;
  for (const auto& [name, tensor] : own) all.emplace_back(prefix + name, tensor);
  return all;
}

void append(NamedTensors& all, NamedTensors more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Module::~Module() = default;

Tensor Module::forward(const Tensor&) {
  fail(ErrorCode::invalid_argument, "Module", "this module has no forward of one tensor");
}

NamedTensors Module::named_parameters() const {
  NamedTensors all;
  visit_modules(*this, "",
                [&](const Module& m, const std::string& prefix) { append(all, prefixed(m.parameters_, prefix)); });
  return all;
}

NamedTensors Module::named_buffers() const {
  NamedTensors all;
  visit_modules(*this, "",
                [&](const Module& m, const std::string& prefix) { append(all, prefixed(m.buffers_, prefix)); });
  return all;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> all;
  for (auto& [name, tensor] : named_parameters()) all.push_back(tensor);
  return all;
}

std::int64_t Module::parameter_count() const {
  std::int64_t count = 0;
  for (const Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

NamedTensors Module::state_dict() const {
  // PyTorch's order: the parameters and buffers of a module come before the ones of its children.
  NamedTensors all;
  visit_modules(*this, "", [&](const Module& m, const std::string& prefix) {
    append(all, prefixed(m.parameters_, prefix));
    append(all, prefixed(m.buffers_, prefix));
  });
  for (auto& [name, tensor] : all) tensor = tensor.detach();
  return all;
}

void Module::load_state_dict(const NamedTensors& state) {
  const NamedTensors own = state_dict();
  const std::map<std::string, Tensor> given = match_state("load_state_dict", own, state);
  for (const auto& [name, tensor] : own) ops::copy_into(tensor, given.at(name));
}

Module& Module::train(bool on) {
  training_ = on;
  for (const auto& [name, child] : children_) child->train(on);
  return *this;
}

Module& Module::to(Device device) {
  NamedTensors all = named_parameters();
  append(all, named_buffers());
  // All copies are made first, so that running out of memory leaves every tensor in its old place.
  std::vector<Tensor> copies;
  for (const auto& [name, tensor] : all) copies.push_back(tensor.detach().to(device));
  for (std::size_t i = 0; i < all.size(); ++i) {
    autograd::clear_gradient(all[i].second);
    replace_storage(all[i].second, copies[i]);
  }
  return *this;
}

void Module::zero_grad() const {
  for (const Tensor& parameter : parameters()) autograd::clear_gradient(parameter);
}

Tensor Module::register_parameter(const std::string& name, Tensor value) {
  if (!value.defined()) return value;
  check_name(name);
  value.requires_grad_();
  parameters_.emplace_back(name, value);
  return value;
}

Tensor Module::register_buffer(const std::string& name, Tensor value) {
  if (!value.defined()) return value;
  check_name(name);
  buffers_.emplace_back(name, value);
  return value;
}

void Module::register_child(const std::string& name, std::shared_ptr<Module> child) {
  require(child != nullptr, "Module", "child ", name, " is null");
  check_name(name);
  children_.emplace_back(name, std::move(child));
}

void Module::check_name(const std::string& name) const {
  require(!name.empty() && name.find('.') == std::string::npos, "Module", "'", name,
          "' is no name: it must not be empty or contain a dot");
  const auto same = [&](const auto& entry) { return entry.first == name; };
  require(std::none_of(parameters_.begin(), parameters_.end(), same) &&
              std::none_of(buffers_.begin(), buffers_.end(), same) &&
              std::none_of(children_.begin(), children_.end(), same),
          "Module", "the name ", name, " is taken already");
}

}  // namespace crisol::nn
