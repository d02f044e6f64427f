#include "onnx/problems.h"

#include "base/text.h"

namespace crisol::onnx {

void Problems::add(const std::string& what, const std::string& node) { nodes_[what].push_back(node); }

void Problems::add_from(const Error& error, const std::string& op, const std::string& node) {
  if (error.code() != ErrorCode::invalid_argument) throw;
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  add(op + ": " + (end == std::string::npos ? text : text.substr(end + 2)), node);
}

void Problems::refuse(const std::string& path) const {
  if (nodes_.empty()) return;
  constexpr std::size_t shown = 5;
  std::string text = concat(path, ": the model has what is not supported:");
  for (const auto& [what, nodes] : nodes_) {
    text += "\n  " + what + ": ";
    for (std::size_t i = 0; i < nodes.size() && i < shown; ++i) text += (i == 0 ? "" : ", ") + nodes[i];
    if (nodes.size() > shown) text += concat(" and ", nodes.size() - shown, " more");
  }
  fail(ErrorCode::invalid_argument, "onnx", text);
}

}  // namespace crisol::onnx
