#include "autograd/node.h"
#include "base/text.h"

namespace crisol {

Tensor custom_function(const std::string& name, const std::vector<Tensor>& inputs, const ForwardFunction& forward,
                       const BackwardFunction& backward) {
  require(forward != nullptr && backward != nullptr, name.c_str(), "both functions must be given");
  std::vector<Tensor> plain;
  for (const Tensor& input : inputs) plain.push_back(input.defined() ? input.detach() : input);
  Tensor y;
  {
    const NoGrad no_grad;
    y = forward(plain);
  }
  require(y.defined(), name.c_str(), "the function gave an undefined tensor");
  if (!autograd::recording(inputs)) return y;

  const std::vector<autograd::Saved> saved(plain.begin(), plain.end());
  return autograd::record("custom_function", y, inputs,
                          [name, backward, saved, result = autograd::Saved(y)](const Tensor& dy, autograd::Needs) {
                            std::vector<Tensor> from;
                            for (const autograd::Saved& input : saved) from.push_back(input.get());
                            autograd::Gradients gradients = backward(dy, from, result.get());
                            require(gradients.size() == from.size(), name.c_str(), "the gradient function gave ",
                                    gradients.size(), " gradients for ", from.size(), " inputs");
                            for (std::size_t i = 0; i < from.size(); ++i)
                              if (gradients[i].defined() && from[i].defined())
                                require(gradients[i].shape() == from[i].shape(), name.c_str(),
                                        "the gradient function gave shape ", gradients[i].shape(), " for input ", i,
                                        " of shape ", from[i].shape());
                            return gradients;
                          });
}

}  // namespace crisol
