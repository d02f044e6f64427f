// What all optimisers share: the arenas, and which part of them a step updates.
#include <algorithm>
#include <cmath>
#include <map>

#include "autograd/node.h"
#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/optim.h"

namespace crisol::optim {

namespace {

// Every parameter begins at a multiple of this, for aligned vectors; what lies between stays zero.
constexpr std::int64_t alignment = 64;

void check_parameters(const std::vector<Tensor>& parameters) {
  require(!parameters.empty(), "optim", "there are no parameters");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& p = parameters[i];
    require(p.defined() && p.is_leaf() && p.requires_grad() && p.dtype() == DType::f32, "optim", "parameter ", i,
            " is not an f32 leaf that wants a gradient");
    require(p.device() == parameters[0].device(), "optim", "parameter ", i, " is on ", p.device(), ", the first on ",
            parameters[0].device());
    for (std::size_t k = 0; k < i; ++k)
      require(parameters[k].impl() != p.impl(), "optim", "parameters ", k, " and ", i, " are the same tensor");
  }
}

}  // namespace

Optimizer::~Optimizer() = default;

Optimizer::Optimizer(std::vector<Tensor> parameters, std::vector<std::string> state_names, double lr, double momentum,
                     double beta2)
    : parameters_(std::move(parameters)),
      state_names_(std::move(state_names)),
      lr_(lr),
      momentum_(momentum),
      beta2_(beta2) {
  check_parameters(parameters_);
  const Device device = parameters_[0].device();
  std::int64_t size = 0;
  for (const Tensor& p : parameters_) {
    first_.push_back(size);
    size += (p.numel() + alignment - 1) / alignment * alignment;
  }
  first_.push_back(size);
  hyper_ = ops::make_hyper(device);
  ops::write_hyper(hyper_, lr, momentum);  // Refuses bad values before any parameter moves.
  progress_ = ops::make_progress(device);
  values_ = zeros({size}, DType::f32, device);
  gradients_ = zeros({size}, DType::f32, device);
  for (std::size_t i = 0; i < state_names_.size(); ++i) state_.push_back(zeros({size}, DType::f32, device));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Shape& shape = parameters_[i].shape();
    autograd::move_into_arena(parameters_[i], make_slice_of_arena(values_, first_[i], shape),
                              make_slice_of_arena(gradients_, first_[i], shape));
  }
}

void Optimizer::zero_grad() {
  for (const Tensor& p : parameters_) autograd::clear_gradient(p);
}

Optimizer::Range Optimizer::range_of(std::int64_t first, std::int64_t count) const {
  const auto part = [&](const Tensor& arena) { return make_view(arena, {count}, {1}, first); };
  Range range{part(values_), part(gradients_), {}};
  for (const Tensor& arena : state_) range.state.push_back(part(arena));
  return range;
}

void Optimizer::step() {
  const auto touched = [&](std::size_t i) { return parameters_[i].grad().defined(); };
  bool advanced = false;
  for (std::size_t i = 0; i < parameters_.size();) {
    if (!touched(i)) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < parameters_.size() && touched(end)) ++end;
    if (!advanced) ops::advance_step(progress_, hyper_, beta2_);
    advanced = true;
    update(range_of(first_[i], first_[end] - first_[i]));
    // The launch wrote through the arena; whoever saved a parameter must see that it changed.
    for (; i < end; ++i) parameters_[i].impl()->storage->version.fetch_add(1, std::memory_order_relaxed);
  }
}

void Optimizer::set_lr(double lr) {
  ops::write_hyper(hyper_, lr, momentum_);
  lr_ = lr;
}

void Optimizer::set_momentum(double momentum) {
  require(momentum == 0 || momentum_ != 0, "optim", "momentum ", momentum,
          " for an optimiser that was made without one");
  ops::write_hyper(hyper_, lr_, momentum);
  momentum_ = momentum;
}

NamedTensors Optimizer::state_dict() const {
  const Device device = progress_.device();
  NamedTensors all;
  for (std::size_t s = 0; s < state_.size(); ++s)
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      all.emplace_back(concat(state_names_[s], '.', i),
                       make_slice_of_arena(state_[s], first_[i], parameters_[i].shape()));
  all.emplace_back("progress", progress_);
  all.emplace_back("lr", full({}, lr_, DType::f32, device));
  all.emplace_back("momentum", full({}, momentum_, DType::f32, device));
  return all;
}

void Optimizer::load_state_dict(const NamedTensors& state) {
  const NamedTensors own = state_dict();
  require(state.size() == own.size(), "load_state_dict", "the optimiser's state has ", own.size(), " entries, given ",
          state.size());
  std::map<std::string, Tensor> given(state.begin(), state.end());
  for (const auto& [name, tensor] : own) {
    const auto found = given.find(name);
    require(found != given.end(), "load_state_dict", "missing: ", name);
    require(found->second.shape() == tensor.shape() && found->second.dtype() == tensor.dtype(), "load_state_dict", name,
            " is ", tensor.shape(), ' ', tensor.dtype(), ", given ", found->second.shape(), ' ', found->second.dtype());
  }
  // f32 in the file: take the double that it came from where it is the one in use.
  const auto scalar = [&](const char* name, double now) {
    const float value = given.at(name).item();
    return value == static_cast<float>(now) ? now : static_cast<double>(value);
  };
  const double lr = scalar("lr", lr_), momentum = scalar("momentum", momentum_);
  ops::write_hyper(hyper_, lr, momentum);  // Refuses before anything is written.
  lr_ = lr;
  momentum_ = momentum;
  for (const auto& [name, tensor] : own) ops::copy_into(tensor, given.at(name));
}

}  // namespace crisol::optim
