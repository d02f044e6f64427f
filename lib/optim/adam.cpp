#include "crisol/optim.h"

namespace crisol::optim {

Adam::Adam(std::vector<Tensor> parameters, const AdamOptions& options) : Adam(std::move(parameters), options, false) {}

Adam::Adam(std::vector<Tensor> parameters, const AdamOptions& options, bool decoupled)
    : Optimizer(std::move(parameters), {"exp_avg", "exp_avg_sq"}, options.lr, options.beta1, options.beta2),
      rule_{options.beta2, options.eps, options.weight_decay, decoupled} {}

void Adam::update(const Range& range) {
  ops::adam_step(range.parameters, range.gradients, range.state[0], range.state[1], Tensor(), hyper(), range.progress,
                 rule_);
}

AdamW::AdamW(std::vector<Tensor> parameters, const AdamWOptions& options)
    : Adam(std::move(parameters), options, true) {}

}  // namespace crisol::optim
