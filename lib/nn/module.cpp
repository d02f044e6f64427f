// The registry of a module: names, children, modes.
#include "crisol/nn/module.h"

#include <algorithm>

#include "base/text.h"
#include "nn/module_state.h"

namespace crisol::nn {

Module::Module() : state_(std::make_shared<State>()) {}

Module::~Module() = default;

Tensor Module::forward(const Tensor&) {
  fail(ErrorCode::invalid_argument, "Module", "this module has no forward of one tensor");
}

const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& Module::named_children() const noexcept {
  return state_->children;
}

void Module::add_modules(const std::string& path, std::vector<std::pair<std::string, Module*>>& all) {
  for (const auto& [seen, module] : all)
    if (module->state_ == state_) return;
  all.emplace_back(path, this);
  for (const auto& [name, child] : state_->children) child->add_modules(path.empty() ? name : path + '.' + name, all);
}

std::vector<std::pair<std::string, Module*>> Module::named_modules() {
  std::vector<std::pair<std::string, Module*>> all;
  add_modules("", all);
  return all;
}

std::vector<Module*> Module::modules() {
  std::vector<Module*> all;
  for (const auto& [name, module] : named_modules()) all.push_back(module);
  return all;
}

Module& Module::apply(const std::function<void(Module&)>& f) {
  for (const auto& [name, child] : state_->children) child->apply(f);
  f(*this);
  return *this;
}

Module& Module::module(const std::string& name) const {
  const Module* at = this;
  Module* found = nullptr;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    std::string names;
    found = nullptr;
    for (const auto& [its_name, child] : at->state_->children) {
      if (its_name == part) found = child.get();
      names.append(names.empty() ? "" : ", ").append(its_name);
    }
    require(found != nullptr, "module", "there is no module '", name,
            "': ", begin == 0 ? at->type_name() : concat('\'', name.substr(0, begin - 1), '\''),
            names.empty() ? " has no children" : " has the children " + names);
    at = found;
    begin = end + 1;
  }
  return *found;
}

Module& Module::train(bool on) {
  state_->training = on;
  for (const auto& [name, child] : state_->children) child->train(on);
  return *this;
}

bool Module::training() const noexcept { return state_->training; }

void Module::set_training(bool on) noexcept { state_->training = on; }

void Module::register_parameter(const std::string& name, Parameter& parameter) {
  check_name(name);
  if (parameter.defined())
    state_->parameters.emplace_back(name, parameter);
  else
    parameter.absent_name_ = name;
}

void Module::register_buffer(const std::string& name, Buffer& buffer) {
  check_name(name);
  if (buffer.defined())
    state_->buffers.emplace_back(name, buffer);
  else
    buffer.absent_name_ = name;
}

namespace {

/// Copies the kept entries into a new list, because an assignment of parameters would tie them.
template <class List>
bool remove_entry(List& list, const std::string& name) {
  List kept;
  for (const auto& entry : list)
    if (entry.first != name) kept.push_back(entry);
  list.swap(kept);
  return list.size() < kept.size();
}

}  // namespace

void Module::forget(const std::string& name) {
  auto& children = state_->children;
  const auto child = std::find_if(children.begin(), children.end(), [&](const auto& c) { return c.first == name; });
  if (child != children.end()) state_->copy_child.erase(state_->copy_child.begin() + (child - children.begin()));
  require(remove_entry(children, name) || remove_entry(state_->parameters, name) || remove_entry(state_->buffers, name),
          "Module", "there is no parameter, buffer or child '", name, "'");
}

void Module::check_class(const std::string& name, const Module& child, const std::type_info& type) {
  require(typeid(child) == type, "Module", name, ": the ", child.type_name(),
          " is given as an object of its base class, whose copy would lose a part of it");
}

void Module::check_child(const std::string& name, const Module* child) const {
  require(child != nullptr, "Module", "child ", name, " is null");
  require(!child->reaches(*this), "Module", "child ", name, " contains the module that it is given to");
}

bool Module::reaches(const Module& other) const {
  const auto& children = state_->children;
  return state_ == other.state_ ||
         std::any_of(children.begin(), children.end(), [&](const auto& c) { return c.second->reaches(other); });
}

void Module::register_child(const std::string& name, std::shared_ptr<Module> child, detail::CopyModule copy) {
  check_child(name, child.get());
  check_name(name);
  state_->children.emplace_back(name, std::move(child));
  state_->copy_child.push_back(copy);
}

void Module::replace_child(const std::string& name, const Module* member, std::shared_ptr<Module> layer,
                           detail::CopyModule copy) {
  auto& children = state_->children;
  const auto at = std::find_if(children.begin(), children.end(), [&](const auto& c) { return c.first == name; });
  require(at != children.end(), "replace_module", "there is no child '", name, "'");
  check_child(name, layer.get());
  if (member != nullptr) {
    require(at->second->state_ == member->state_ && typeid(*at->second) == typeid(*layer), "replace_module",
            "the member is not what was registered as ", name);
    require(at->second.get() != member, "replace_module", "the member of the class must be given, not module(\"", name,
            "\")");
    require(state_.use_count() == 1, "replace_module", "this module has ", state_.use_count() - 1,
            " other handles, whose members would keep the old ", name,
            "; replace it before the module is copied or registered");
  }
  at->second = std::move(layer);
  state_->copy_child[static_cast<std::size_t>(at - children.begin())] = copy;
}

void Module::check_name(const std::string& name) const {
  require(!name.empty() && name.find('.') == std::string::npos, "Module", "'", name,
          "' is no name: it must not be empty or contain a dot");
  const auto same = [&](const auto& entry) { return entry.first == name; };
  const State& s = *state_;
  require(std::none_of(s.parameters.begin(), s.parameters.end(), same) &&
              std::none_of(s.buffers.begin(), s.buffers.end(), same) &&
              std::none_of(s.children.begin(), s.children.end(), same),
          "Module", "the name ", name, " is taken already");
}

}  // namespace crisol::nn
