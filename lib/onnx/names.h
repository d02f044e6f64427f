// Names of a model's tensors in a module.
#pragma once

#include <string>
#include <vector>

namespace crisol::onnx {

/// Names for a module tree, in which dots separate modules: "conv1.weight" stays. A name with an empty part, a name of
/// more than 500 characters, and a name that is also the module of another one get '_' for their dots. A name that is
/// taken then gets a number.
std::vector<std::string> module_names(const std::vector<std::string>& names);

}  // namespace crisol::onnx
