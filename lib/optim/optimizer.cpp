// Code that all optimisers share: the arenas, and the part of them that a step updates.
#include <algorithm>
#include <map>
#include <set>

#include "autograd/node.h"
#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/optim.h"
#include "optim/arena.h"

namespace crisol::optim {

namespace {

void check_parameters(const std::vector<Tensor>& parameters) {
  require(!parameters.empty(), "optim", "there are no parameters");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& p = parameters[i];
    require(p.defined() && p.is_leaf() && p.requires_grad() && p.dtype() == DType::f32, "optim", "parameter ", i,
            " is not an f32 leaf that wants a gradient");
    require(p.device() == parameters[0].device(), "optim", "parameter ", i, " is on ", p.device(), ", the first on ",
            parameters[0].device());
    for (std::size_t k = 0; k < i; ++k)
      require(autograd::identity_of(parameters[k]) != autograd::identity_of(p), "optim", "parameters ", k, " and ", i,
              " are the same tensor");
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
      beta2_(beta2),
      has_momentum_(momentum != 0) {
  check_parameters(parameters_);
  const Device device = parameters_[0].device();
  std::int64_t size = 0;
  for (const Tensor& p : parameters_) {
    first_.push_back(size);
    size += (p.numel() + arena_alignment - 1) / arena_alignment * arena_alignment;
  }
  first_.push_back(size);
  hyper_ = ops::make_hyper(device);
  ops::write_hyper(hyper_, lr, momentum);  // Throws for bad values before any parameter moves.
  progress_.push_back(ops::make_progress(device));
  progress_of_.assign(parameters_.size(), 0);
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

void Optimizer::check_parameters_in_place() const {
  const Storage& arena = *values_.impl()->storage;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Storage& own = *parameters_[i].impl()->storage;
    const std::uint64_t place = arena.base + static_cast<std::uint64_t>(first_[i]) * sizeof(float);
    require(own.block == arena.block && own.base == place, "optim", "parameter ", i, " of shape ",
            parameters_[i].shape(), " has other memory since this optimiser was made (Module::to, another optimiser, ",
            "a tie or a value of another shape); make a new one");
  }
}

std::vector<bool> Optimizer::touched_parameters() const {
  std::vector<bool> touched;
  for (const Tensor& p : parameters_) touched.push_back(p.grad().defined());
  return touched;
}

// If only some of the parameters that share a step count advance, these parameters get a copy of the count.
void Optimizer::split_progress(const std::vector<bool>& touched) {
  std::map<std::size_t, std::size_t> copies;  // From a count that stays unchanged to its copy that advances.
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (!touched[i]) copies.emplace(progress_of_[i], 0);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto copy = copies.find(progress_of_[i]);
    if (!touched[i] || copy == copies.end()) continue;
    if (copy->second == 0) {
      progress_.push_back(ops::clone(progress_[copy->first]));
      copy->second = progress_.size() - 1;
    }
    progress_of_[i] = copy->second;
  }
}

Optimizer::Range Optimizer::range_of(std::size_t first, std::size_t last) const {
  const std::int64_t begin = first_[first], count = first_[last] - begin;
  const auto part = [&](const Tensor& arena) { return make_view(arena, {count}, {1}, begin); };
  Range range{part(values_), part(gradients_), {}, progress_[progress_of_[first]]};
  for (const Tensor& arena : state_) range.state.push_back(part(arena));
  return range;
}

void Optimizer::step() {
  check_parameters_in_place();
  const std::vector<bool> touched = touched_parameters();
  split_progress(touched);
  std::set<std::size_t> advancing;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (touched[i]) advancing.insert(progress_of_[i]);
  for (const std::size_t progress : advancing) ops::advance_step(progress_[progress], hyper_, beta2_);

  for (std::size_t first = 0, last = 0; first < parameters_.size(); first = last) {
    last = first + 1;
    while (last < parameters_.size() && touched[last] == touched[first] && progress_of_[last] == progress_of_[first])
      ++last;
    if (!touched[first]) continue;
    update(range_of(first, last));
    // The launch wrote through the arena. Code that saved a parameter must see that it changed.
    for (std::size_t i = first; i < last; ++i) parameters_[i].impl()->storage->written();
  }
}

void Optimizer::set_lr(double lr) {
  ops::write_hyper(hyper_, lr, momentum_);
  lr_ = lr;
}

void Optimizer::check_momentum(double momentum) const {
  require(momentum == 0 || has_momentum_, "optim", "momentum ", momentum,
          " for an optimiser that was made without one");
}

void Optimizer::set_momentum(double momentum) {
  check_momentum(momentum);
  ops::write_hyper(hyper_, lr_, momentum);
  momentum_ = momentum;
}

}  // namespace crisol::optim
