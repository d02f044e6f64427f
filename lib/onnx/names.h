// The names of a model's tensors in a module.
#pragma once

#include <string>
#include <vector>

namespace crisol::onnx {

/// Names for a tree of modules, in which dots separate modules. A name like "conv1.weight" stays. In some names each
/// dot becomes '_': if a part is empty, if the name is longer than 500 characters, or if the name is also the module of
/// another name. If the new name is already taken, it gets a number.
std::vector<std::string> module_names(const std::vector<std::string>& names);

}  // namespace crisol::onnx
