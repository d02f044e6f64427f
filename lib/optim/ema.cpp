#include "crisol/optim/ema.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "autograd/node.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/optimizer.h"
#include "ops/optim/optimizer_launch.h"
#include "optim/arena_layout.h"
#include "optim/flat_parts.h"
#include "tensor/named_tensors.h"

namespace crisol::optim {

struct EMA::Impl {
  std::vector<Tensor> parameters;
  ArenaLayout layout;
  Tensor averages;  ///< Flat.
  Tensor hyper;     ///< A hyper tensor whose rate is 1 - decay.
  Tensor progress;  ///< Counts the updates.
  Tensor kept;      ///< Between apply() and restore(): the parameters' original values. Otherwise undefined.

  /// A part of the parameters in a flat tensor with this layout.
  Tensor part_of(const Tensor& flat, const FlatPart& part) const {
    return make_view(flat, part.elements.shape(), part.elements.strides(), layout.parameter(part.first).begin);
  }
  /// Copies a flat tensor to the parameters.
  void write_parameters(const Tensor& flat) const {
    for (const FlatPart& part : flat_values(parameters)) {
      ops::copy_into(part.elements, part_of(flat, part));
      for (std::size_t i = part.first; i < part.last; ++i) parameters[i].impl()->storage->written();
    }
  }
};

namespace {

/// The parameters, each once.
std::vector<Tensor> checked_parameters(std::vector<Tensor> parameters) {
  require(!parameters.empty(), "EMA", "there are no parameters");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& p = parameters[i];
    require(p.defined() && is_floating(p.dtype()) && p.is_contiguous(), "EMA", "parameter ", i, " is not a tensor of ",
            TypesThat{is_floating}, ", or not contiguous");
    require(p.device() == parameters[0].device(), "EMA", "parameter ", i, " is on ", p.device(), ", the first on ",
            parameters[0].device());
  }
  std::set<const void*> seen;
  const auto is_known = [&](const Tensor& p) { return !seen.insert(&autograd::ensure_slot(p)).second; };
  parameters.erase(std::remove_if(parameters.begin(), parameters.end(), is_known), parameters.end());
  return parameters;
}

std::vector<std::int64_t> sizes_of(const std::vector<Tensor>& parameters) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(parameters.size());
  for (const Tensor& p : parameters) sizes.push_back(p.numel());
  return sizes;
}

}  // namespace

EMA::EMA(std::vector<Tensor> parameters, const EMAOptions& options) {
  require(options.decay >= 0 && options.decay <= 1, "EMA", "decay ", options.decay, " is not in [0, 1]");
  std::vector<Tensor> kept = checked_parameters(std::move(parameters));
  const Device device = kept[0].device();
  const ArenaLayout layout({sizes_of(kept)});
  const DType type = arena_type(kept);
  const Tensor averages = zeros({layout.size()}, type, device), hyper = ops::make_hyper(device, type);
  ops::write_hyper(hyper, 1 - options.decay, 0);
  impl_ = std::make_unique<Impl>(Impl{std::move(kept), layout, averages, hyper, ops::make_progress(device, type), {}});
  for (const FlatPart& part : flat_values(impl_->parameters))
    ops::copy_into(impl_->part_of(averages, part), part.elements);
}

EMA::~EMA() = default;

void EMA::update() {
  Impl& s = *impl_;
  require(!s.kept.defined(), "EMA", "update: the parameters hold the averages; restore() first");
  const std::vector<FlatPart> parts = flat_values(s.parameters);
  ops::advance_step(s.progress, s.hyper);
  for (const FlatPart& part : parts) {
    const bool is_wide = s.averages.dtype() == DType::f64;  // The parameters may have two types then.
    const Tensor values = is_wide ? ops::cast(part.elements, DType::f64) : part.elements;
    ops::average_step(s.part_of(s.averages, part), values, s.hyper, s.progress);
  }
}

void EMA::apply() {
  Impl& s = *impl_;
  require(!s.kept.defined(), "EMA", "apply: the parameters hold the averages already");
  const Tensor kept = zeros({s.layout.size()}, s.averages.dtype(), s.averages.device());
  for (const FlatPart& part : flat_values(s.parameters)) ops::copy_into(s.part_of(kept, part), part.elements);
  s.write_parameters(s.averages);
  s.kept = kept;
}

void EMA::restore() {
  Impl& s = *impl_;
  require(s.kept.defined(), "EMA", "restore: apply() was not called before");
  s.write_parameters(s.kept);
  s.kept = Tensor();
}

std::vector<Tensor> EMA::averages() const {
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < impl_->parameters.size(); ++i)
    all.push_back(make_slice_of_arena(impl_->averages, impl_->layout.parameter(i).begin, impl_->parameters[i].shape()));
  return all;
}

NamedTensors EMA::state_dict() const {
  NamedTensors state;
  const std::vector<Tensor> all = averages();
  for (std::size_t i = 0; i < all.size(); ++i) state.emplace_back(concat("average.", i), all[i]);
  state.emplace_back("progress", impl_->progress.detach());
  return state;
}

void EMA::load_state_dict(const NamedTensors& state) {
  require(!impl_->kept.defined(), "EMA", "load_state_dict: the parameters hold the averages; restore() first");
  const NamedTensors own = state_dict();
  const std::map<std::string, Tensor> given = match_state("load_state_dict", own, state);
  const double updates = given.at("progress").narrow(0, 0, 1).item<double>();
  require(updates >= 0 && updates == std::floor(updates), "load_state_dict", "progress counts ", updates, " updates");
  for (const auto& [name, tensor] : own) ops::copy_into(tensor, given.at(name));
}

}  // namespace crisol::optim
