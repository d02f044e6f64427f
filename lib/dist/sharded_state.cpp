// Turns the state of a divided optimiser into the state of an undivided one, and back.
#include <algorithm>

#include "dist/collectives.h"
#include "dist/sharded_optimizer_impl.h"

namespace crisol::dist {

namespace {

constexpr const char* progress = "progress";
constexpr const char* master = "master";  // The f32 values of parameters of two bytes.

/// "exp_avg.12" is the state exp_avg of parameter 12. The names of settings have no number, or end in the number of a
/// group.
std::string numbered(const std::string& name, std::size_t number) { return concat(name, '.', number); }

/// The names of the states of an optimiser, in order. Parameter 0 has all of them.
std::vector<std::string> state_names(const NamedTensors& state) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : state) {
    if (name == numbered(progress, 0)) return names;
    if (name.size() > 2 && name.compare(name.size() - 2, 2, ".0") == 0)
      names.push_back(name.substr(0, name.size() - 2));
  }
  return names;
}

bool has_masters(const NamedTensors& state) {
  return std::any_of(state.begin(), state.end(), [](const auto& entry) { return entry.first == numbered(master, 0); });
}

/// The settings, which come after the last step count, and after the last f32 value if there are some.
NamedTensors settings_of(const NamedTensors& state, std::size_t parameters) {
  const std::string last = numbered(has_masters(state) ? master : progress, parameters - 1);
  const auto found = std::find_if(state.begin(), state.end(), [&](const auto& entry) { return entry.first == last; });
  return NamedTensors(NamedTensors::Pairs(found + 1, state.end()));
}

// The step counts of all parameters. One rank gives each count, and the other ranks give zeros.
Tensor step_counts(const ShardedOptimizerImpl& s, const NamedTensors& own) {
  const Tensor first = own[numbered(progress, 0)];
  Tensor counts = zeros({static_cast<std::int64_t>(s.parameters.size()), first.numel()}, first.dtype());
  for (std::size_t k = 0; k < s.pieces.size(); ++k) {
    const std::size_t i = s.pieces[k].parameter;
    if (s.owner_of(i) == s.session.rank())
      counts.select(0, static_cast<std::int64_t>(i)).copy_from(own[numbered(progress, k)]);
  }
  all_reduce(counts);
  return counts;
}

// The states `name` of all parameters, from the states of the ranks' pieces.
void add_whole(NamedTensors& all, const ShardedOptimizerImpl& s, const NamedTensors& own, const std::string& name) {
  const DType type = own[numbered(name, 0)].dtype();
  std::vector<Tensor> whole;
  for (const auto& [parameter, tensor] : s.parameters) whole.push_back(zeros(tensor.shape(), type, tensor.device()));
  for (std::size_t b = 0; b < s.buckets.size(); ++b) {
    const Tensor elements = s.gather(b, type, [&](std::size_t piece) { return own[numbered(name, piece)]; });
    s.spread(s.buckets[b], elements, [&](std::size_t i) { return whole[i]; });
  }
  for (std::size_t i = 0; i < whole.size(); ++i) all.emplace_back(numbered(name, i), whole[i]);
}

}  // namespace

NamedTensors ShardedOptimizer::state_dict() const {
  const ShardedOptimizerImpl& s = *impl_;
  const NoGrad no_grad;
  const NamedTensors own = s.optimizer->state_dict();
  NamedTensors all;
  for (const std::string& name : state_names(own)) add_whole(all, s, own, name);
  const Tensor counts = step_counts(s, own);
  for (std::size_t i = 0; i < s.parameters.size(); ++i)
    all.emplace_back(numbered(progress, i), counts.select(0, static_cast<std::int64_t>(i)).clone());
  if (has_masters(own)) add_whole(all, s, own, master);
  for (const auto& setting : settings_of(own, s.pieces.size())) all.push_back(setting);
  return all;
}

void ShardedOptimizer::load_state_dict(const NamedTensors& state) {
  ShardedOptimizerImpl& s = *impl_;
  const NamedTensors own = s.optimizer->state_dict();
  std::vector<std::string> names = state_names(own);
  if (has_masters(own)) names.emplace_back(master);
  const NamedTensors settings = settings_of(own, s.pieces.size());
  const std::size_t entries = (names.size() + 1) * s.parameters.size() + settings.size();
  require(state.size() == entries, sharded_optimizer, "load_state_dict: the state has ", state.size(),
          " entries, the state of ", s.parameters.size(), " parameters has ", entries);
  NamedTensors parts;
  for (const std::string& name : names)
    for (std::size_t k = 0; k < s.pieces.size(); ++k) {
      const Piece& piece = s.pieces[k];
      const Tensor& whole = state[numbered(name, piece.parameter)];
      const Shape& shape = s.parameters[piece.parameter].second.shape();
      require(whole.shape() == shape, sharded_optimizer, "load_state_dict: ", numbered(name, piece.parameter),
              " has shape ", whole.shape(), ", the parameter ", s.parameters[piece.parameter].first, " has ", shape);
      parts.emplace_back(numbered(name, k),
                         whole.reshape({-1}).narrow(0, piece.within.begin, piece.within.count()).contiguous());
    }
  for (std::size_t k = 0; k < s.pieces.size(); ++k)
    parts.emplace_back(numbered(progress, k), state[numbered(progress, s.pieces[k].parameter)]);
  for (const auto& [name, value] : settings) parts.emplace_back(name, state[name]);
  const NoGrad no_grad;
  s.read_changed();
  s.optimizer->load_state_dict(parts);
}

}  // namespace crisol::dist
