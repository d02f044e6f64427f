#include "onnx/problems.h"

#include "base/text.h"

namespace crisol::onnx {

namespace {

// A malicious file may have any number of nodes and problems.
constexpr std::size_t max_nodes = 5, max_problems = 1000;

}  // namespace

void Problems::add(const std::string& what, const std::string& node) {
  ++added_;
  last_ = what;
  if (problems_.size() >= max_problems && problems_.count(what) == 0) {
    ++more_;
    return;
  }
  Nodes& nodes = problems_[what];
  ++nodes.count;
  if (nodes.first.size() < max_nodes) nodes.first.push_back(node);
}

void Problems::add_from(const Error& error, const std::string& op, const std::string& node) {
  if (error.code() != ErrorCode::invalid_argument) throw;
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  add(op + ": " + (end == std::string::npos ? text : text.substr(end + 2)), node);
}

void Problems::refuse(const std::string& path) const {
  if (problems_.empty()) return;
  std::string text = concat(path, ": the model has what is not supported:");
  for (const auto& [what, nodes] : problems_) {
    text += "\n  " + what + ": ";
    for (std::size_t i = 0; i < nodes.first.size(); ++i) text += (i == 0 ? "" : ", ") + nodes.first[i];
    if (nodes.count > max_nodes) text += concat(" and ", nodes.count - max_nodes, " more");
  }
  if (more_ > 0) text += concat("\n  and ", more_, " more problems");
  fail(ErrorCode::invalid_argument, "onnx", text);
}

}  // namespace crisol::onnx
