// The ops that models may use.
#include <map>

#include "base/text.h"
#include "crisol/onnx.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

std::vector<SupportedOp> supported_ops() {
  std::map<std::string, SupportedOp> by_name;
  const auto add = [&](const std::string& name, std::int64_t first, std::int64_t last) {
    SupportedOp& op = by_name.try_emplace(name, SupportedOp{name, first, last}).first->second;
    op.first = std::min(op.first, first);
    op.last = std::max(op.last, last);
  };
  add("Constant", 1, newest_version);  // The importer itself handles Constant.
  for (const Row& row : all_rows())
    add(*row.domain == '\0' ? row.name : concat(row.domain, '.', row.name), row.first, row.last);
  std::vector<SupportedOp> ops;
  for (auto& [name, op] : by_name) ops.push_back(std::move(op));
  return ops;
}

}  // namespace crisol::onnx
