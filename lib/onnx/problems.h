// The parts of a model that the library does not support. They are collected, so that one message can name all of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "crisol/error.h"

namespace crisol::onnx {

class Problems {
 public:
  /// Adds an unsupported part, and the node that has it.
  void add(const std::string& what, const std::string& node);
  /// Adds the text of an Error about an unsupported node. Rethrows the current exception if it is another kind of
  /// error.
  void add_from(const Error& error, const std::string& op, const std::string& node);
  /// How many were added, and the text of the last one.
  std::size_t added() const noexcept { return added_; }
  const std::string& last() const noexcept { return last_; }
  /// Throws Error (invalid_argument) with all problems. Does nothing if there are none.
  void refuse(const std::string& path) const;

 private:
  struct Nodes {
    std::vector<std::string> first;  ///< The names of the first few nodes.
    std::size_t count = 0;
  };
  std::map<std::string, Nodes> problems_;
  std::size_t added_ = 0;
  std::string last_;
  std::size_t more_ = 0;  ///< The number of problems that are not listed.
};

}  // namespace crisol::onnx
