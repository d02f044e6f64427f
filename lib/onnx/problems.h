// The parts of a model that the library does not support. They are collected, so that one message names all of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "crisol/error.h"

namespace crisol::onnx {

class Problems {
 public:
  /// Adds a part that is not supported, and its node.
  void add(const std::string& what, const std::string& node);
  /// The same from an Error about an unsupported node. Rethrows the current exception if it is of another kind.
  void add_from(const Error& error, const std::string& op, const std::string& node);
  /// Throws Error (invalid_argument) with all problems; does nothing if there are none.
  void refuse(const std::string& path) const;

 private:
  struct Nodes {
    std::vector<std::string> first;  ///< The names of the first few.
    std::size_t count = 0;
  };
  std::map<std::string, Nodes> problems_;
  std::size_t more_ = 0;  ///< Problems that are not named any more.
};

}  // namespace crisol::onnx
