// The state dict of an optimiser.
#include <cmath>
#include <map>

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "optim/exact.h"
#include "optim/optimizer_impl.h"
#include "tensor/impl.h"
#include "tensor/named_tensors.h"

namespace crisol::optim {

namespace {

std::string progress_name(std::size_t parameter) { return concat("progress.", parameter); }

std::string master_name(std::size_t parameter) { return concat("master.", parameter); }

std::vector<double> values_of(const Tensor& x) {
  if (x.dtype() == DType::f64) return x.to_vector<double>();
  const std::vector<float> values = x.to_vector<float>();
  return {values.begin(), values.end()};
}

// The saved step counts of all parameters.
std::vector<std::vector<double>> read_progress(const std::map<std::string, Tensor>& given, std::size_t parameters) {
  std::vector<std::vector<double>> progress;
  for (std::size_t i = 0; i < parameters; ++i) {
    progress.push_back(values_of(given.at(progress_name(i))));
    const double steps = progress.back()[0];
    require(steps >= 0 && steps == std::floor(steps), "load_state_dict", progress_name(i), " counts ", steps, " steps");
  }
  return progress;
}

/// The state, with momenta of the type that the optimiser's have. Before momenta were bf16, they were saved as f32.
NamedTensors with_own_momenta(const NamedTensors& own, const NamedTensors& state) {
  const std::string begin = concat(momentum_state, '.');
  NamedTensors all;
  for (const auto& [name, tensor] : state) {
    const bool is_momentum = tensor.defined() && name.compare(0, begin.size(), begin) == 0 && own.contains(name);
    const bool is_older = is_momentum && computes_in_f32(tensor.dtype()) && own[name].dtype() == DType::bf16;
    all.emplace_back(name, is_older ? ops::cast(tensor, DType::bf16) : tensor);
  }
  return all;
}

}  // namespace

NamedTensors Optimizer::state_dict() const {
  const OptimizerImpl& s = *impl_;
  const Device device = device_of(*this);
  NamedTensors all;
  for (const GroupMemory& group : s.groups)
    for (const auto& [name, state] : group.states)
      for (std::size_t i = group.first; i < group.last; ++i)
        all.emplace_back(concat(name, '.', i),
                         make_slice_of_arena(state, s.elements(group, i, i).begin, s.parameters[i].shape()));
  for (std::size_t i = 0; i < s.parameters.size(); ++i)
    all.emplace_back(progress_name(i), s.progress[s.progress_of[i]].detach());
  for (const GroupMemory& group : s.groups)
    for (std::size_t i = group.first; i < group.last; ++i)
      if (s.has_master(group, i)) all.emplace_back(master_name(i), s.master_of(group, i));
  for (std::size_t g = 0; g < s.groups.size(); ++g) {
    const ParamGroup& settings = s.settings[g];
    all.emplace_back(name_in_group("lr", g), exact_tensor(settings.lr.value_or(0), device));
    all.emplace_back(name_in_group("momentum", g), exact_tensor((settings.*s.momentum_member()).value_or(0), device));
  }
  return all;
}

void Optimizer::load_state_dict(const NamedTensors& state) {
  OptimizerImpl& s = *impl_;
  const NamedTensors own = state_dict();
  const std::map<std::string, Tensor> given = match_state("load_state_dict", own, with_own_momenta(own, state));
  std::vector<ParamGroup> settings;
  for (std::size_t g = 0; g < s.groups.size(); ++g) {
    ParamGroup saved;
    saved.lr = exact_value(given.at(name_in_group("lr", g)));
    const double momentum = exact_value(given.at(name_in_group("momentum", g)));
    // An optimiser without momentum saves 0 as momentum.
    if ((s.settings[g].*s.momentum_member()).has_value() || momentum != 0) saved.*s.momentum_member() = momentum;
    settings.push_back(s.changed(g, saved));
  }
  // Parameters of a group with equal step counts share one count again.
  std::vector<Tensor> progress;
  std::vector<std::size_t> progress_of;
  const std::vector<std::vector<double>> counts = read_progress(given, s.parameters.size());
  for (const GroupMemory& group : s.groups) {
    std::map<std::vector<double>, std::size_t> known;
    for (std::size_t i = group.first; i < group.last; ++i) {
      const auto [at, is_new] = known.emplace(counts[i], progress.size());
      if (is_new) progress.push_back(from_vector(counts[i], group.hyper.dtype(), device_of(*this)));
      progress_of.push_back(at->second);
    }
  }
  for (std::size_t g = 0; g < s.groups.size(); ++g) s.store(g, settings[g]);
  std::size_t entry = 0;  // The entries begin with the states of the parameters.
  for (const GroupMemory& group : s.groups)
    for (std::size_t i = 0; i < group.states.size() * (group.last - group.first); ++i, ++entry)
      ops::copy_into(own[entry].second, given.at(own[entry].first));
  for (const GroupMemory& group : s.groups)
    for (std::size_t i = group.first; i < group.last; ++i)
      if (s.has_master(group, i)) s.set_master(group, i, given.at(master_name(i)));
  s.progress = std::move(progress);
  s.progress_of = std::move(progress_of);
}

}  // namespace crisol::optim
