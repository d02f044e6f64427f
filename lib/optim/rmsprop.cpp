#include "crisol/optim.h"

namespace crisol::optim {

namespace {

std::vector<std::string> state_of_rmsprop(const RMSpropOptions& options) {
  std::vector<std::string> names{"square_avg"};
  if (options.centered) names.emplace_back("grad_avg");
  if (options.momentum != 0) names.emplace_back("momentum_buffer");
  return names;
}

}  // namespace

RMSprop::RMSprop(std::vector<Tensor> parameters, const RMSpropOptions& options)
    : Optimizer(std::move(parameters), state_of_rmsprop(options), options.lr, options.momentum, 0),
      rule_{options.alpha, options.eps, options.weight_decay},
      centered_(options.centered),
      with_momentum_(options.momentum != 0) {}

void RMSprop::update(const Range& range) {
  ops::rmsprop_step(range.parameters, range.gradients, range.state[0], centered_ ? range.state[1] : Tensor(),
                    with_momentum_ ? range.state.back() : Tensor(), hyper(), rule_);
}

}  // namespace crisol::optim
