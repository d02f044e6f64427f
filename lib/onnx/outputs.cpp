// The outputs of a model, by name.
#include <algorithm>

#include "base/text.h"
#include "crisol/onnx.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

Tensor Outputs::operator[](const std::string& name) const {
  const std::vector<Tensor> tensors = sequence(name);
  if (tensors.size() != 1)
    fail(ErrorCode::invalid_argument, "onnx", "output ", file::in_quotes(name), " has ", tensors.size(),
         " tensors: it is a sequence or optional, take it by sequence()");
  return tensors.front();
}

std::vector<Tensor> Outputs::sequence(const std::string& name) const {
  if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
    std::string names;
    for (const std::string& known : names_) names += concat(names.empty() ? "" : ", ", file::in_quotes(known));
    fail(ErrorCode::invalid_argument, "onnx", "there is no output ", file::in_quotes(name), "; there are: ", names);
  }
  std::vector<Tensor> tensors;
  for (const auto& [known, tensor] : tensors_)
    if (known == name) tensors.push_back(tensor);
  return tensors;
}

}  // namespace crisol::onnx
