// The state dict of an optimiser.
#include <cmath>
#include <map>

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/optim.h"
#include "optim/exact.h"
#include "tensor/impl.h"
#include "tensor/named_tensors.h"

namespace crisol::optim {

namespace {

std::string progress_name(std::size_t parameter) { return concat("progress.", parameter); }

// The saved step counts of all parameters.
std::vector<std::vector<float>> read_progress(const std::map<std::string, Tensor>& given, std::size_t parameters) {
  std::vector<std::vector<float>> progress;
  for (std::size_t i = 0; i < parameters; ++i) {
    progress.push_back(given.at(progress_name(i)).to_vector<float>());
    const float steps = progress.back()[0];
    require(steps >= 0 && steps == std::floor(steps), "load_state_dict", progress_name(i), " counts ", steps, " steps");
  }
  return progress;
}

}  // namespace

NamedTensors Optimizer::state_dict() const {
  const Device device = values_.device();
  NamedTensors all;
  for (std::size_t s = 0; s < state_.size(); ++s)
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      all.emplace_back(concat(state_names_[s], '.', i),
                       make_slice_of_arena(state_[s], first_[i], parameters_[i].shape()));
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    all.emplace_back(progress_name(i), progress_[progress_of_[i]].detach());
  all.emplace_back("lr", exact_tensor(lr_, device));
  all.emplace_back("momentum", exact_tensor(momentum_, device));
  return all;
}

void Optimizer::load_state_dict(const NamedTensors& state) {
  const NamedTensors own = state_dict();
  const std::map<std::string, Tensor> given = match_state("load_state_dict", own, state);
  const double lr = exact_value(given.at("lr")), momentum = exact_value(given.at("momentum"));
  check_momentum(momentum);
  // Parameters with equal step counts share one count again.
  std::vector<Tensor> progress;
  std::vector<std::size_t> progress_of;
  std::map<std::vector<float>, std::size_t> known;
  for (const std::vector<float>& values : read_progress(given, parameters_.size())) {
    const auto [at, is_new] = known.emplace(values, progress.size());
    if (is_new) progress.push_back(from_vector(values, values_.device()));
    progress_of.push_back(at->second);
  }
  ops::write_hyper(hyper_, lr, momentum);  // Throws for bad values before anything is written.
  lr_ = lr;
  momentum_ = momentum;
  for (std::size_t i = 0; i < state_.size() * parameters_.size(); ++i)
    ops::copy_into(own[i].second, given.at(own[i].first));
  progress_ = std::move(progress);
  progress_of_ = std::move(progress_of);
}

}  // namespace crisol::optim
