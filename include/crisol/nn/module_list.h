// Lists and dictionaries of modules.
#pragma once

#include "crisol/nn/module.h"

namespace crisol::nn {

/// Modules by number, named "0", "1", … as in PyTorch. A list has no forward().
///
///     nn::ModuleList blocks;
///     for (int i = 0; i < 4; ++i) blocks.append(Block(64));
///     register_module("blocks", blocks);
///     for (nn::Module* block : blocks) x = (*block)(x);
class CRISOL_API ModuleList : public Module {
 public:
  template <class... Layers, class = std::enable_if_t<detail::are_layers<ModuleList, Layers...>>>
  explicit ModuleList(const Layers&... layers) {
    (append(layers), ...);
  }

  /// Adds a module at the end; returns *this.
  template <class Layer>
  ModuleList& append(const Layer& layer) {
    register_module(std::to_string(size()), layer);
    return *this;
  }

  /// Number of modules.
  std::size_t size() const noexcept { return named_children().size(); }
  /// Module i. Throws invalid_argument if there is none.
  Module& operator[](std::size_t i) const { return module(std::to_string(i)); }
  /// Module i as a layer of a class. Throws invalid_argument if it is of another class.
  template <class Layer>
  Layer& at(std::size_t i) const {
    return module<Layer>(std::to_string(i));
  }

  /// Goes through pointers to the modules.
  class Iterator {
   public:
    explicit Iterator(const std::pair<std::string, std::shared_ptr<Module>>* at) noexcept : at_(at) {}
    /// The module.
    Module* operator*() const noexcept { return at_->second.get(); }
    /// Moves to the next module.
    Iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const noexcept { return at_ != other.at_; }

   private:
    const std::pair<std::string, std::shared_ptr<Module>>* at_;
  };
  /// The first module.
  Iterator begin() const noexcept { return Iterator(named_children().data()); }
  /// The position after the last module.
  Iterator end() const noexcept { return Iterator(named_children().data() + size()); }
};

/// Modules by name. A dictionary has no forward().
///
///     nn::ModuleDict heads;
///     heads.insert("digit", nn::Linear(64, 10)).insert("slant", nn::Linear(64, 1));
///     Tensor slant = heads["slant"](x);
class CRISOL_API ModuleDict : public Module {
 public:
  /// Adds a module under a name; returns *this. Throws invalid_argument for a name that is taken, empty or has a dot.
  template <class Layer>
  ModuleDict& insert(const std::string& name, const Layer& layer) {
    register_module(name, layer);
    return *this;
  }

  /// Number of modules.
  std::size_t size() const noexcept { return named_children().size(); }
  /// Whether there is a module of this name.
  bool contains(const std::string& name) const noexcept {
    for (const auto& entry : named_children())
      if (entry.first == name) return true;
    return false;
  }
  /// The module of this name. Throws invalid_argument if there is none.
  Module& operator[](const std::string& name) const { return module(name); }
  /// The module of this name as a layer of a class. Throws invalid_argument if it is of another class.
  template <class Layer>
  Layer& at(const std::string& name) const {
    return module<Layer>(name);
  }
};

}  // namespace crisol::nn
