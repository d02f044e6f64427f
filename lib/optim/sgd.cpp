#include "base/text.h"
#include "crisol/optim.h"

namespace crisol::optim {

namespace {

std::vector<std::string> state_of_sgd(const SGDOptions& options) {
  require(!options.nesterov || (options.momentum > 0 && options.dampening == 0), "SGD",
          "nesterov needs momentum and no dampening, got momentum ", options.momentum, ", dampening ",
          options.dampening);
  if (options.momentum == 0) return {};
  return {"momentum_buffer"};
}

}  // namespace

SGD::SGD(std::vector<Tensor> parameters, const SGDOptions& options)
    : Optimizer(std::move(parameters), state_of_sgd(options), options.lr, options.momentum, 0),
      rule_{options.dampening, options.weight_decay, options.nesterov} {}

void SGD::update(const Range& range) {
  ops::sgd_step(range.parameters, range.gradients, range.state.empty() ? Tensor() : range.state[0], hyper(),
                range.progress, rule_);
}

}  // namespace crisol::optim
