// Results of measurements and checks, as JSON and as text for people.
#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>

#include "crisol/onnx.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

using nlohmann::ordered_json;

/// A JSON list with one object for each element. Names in files are not always UTF-8.
template <class T, class Function>
std::string list_text(const std::vector<T>& parts, const Function& json) {
  auto list = ordered_json::array();
  for (const T& part : parts) list.push_back(json(part));
  return list.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const std::vector<OpTime>& rows) {
  return list_text(rows, [](const OpTime& row) -> ordered_json {
    return {{"op", row.op},
            {"nodes", row.nodes},
            {"total_ms", row.total_ms},
            {"kernel_ms", row.kernel_ms},
            {"launches", row.launches}};
  });
}

std::string to_json(const std::vector<SupportedOp>& ops) {
  return list_text(ops, [](const SupportedOp& op) -> ordered_json {
    return {{"name", op.name}, {"first", op.first}, {"last", op.last}};
  });
}

std::string to_json(const std::vector<CheckedSet>& sets) {
  return list_text(sets, [](const CheckedSet& set) -> ordered_json {
    return {{"folder", set.folder},
            {"state", name_of(set.state)},
            {"reason", set.reason},
            {"largest_difference", set.largest_difference}};
  });
}

std::ostream& operator<<(std::ostream& out, const std::vector<OpTime>& rows) {
  double total = 0;
  std::size_t width = 2;
  for (const OpTime& row : rows) {
    total += row.total_ms;
    width = std::max(width, file::printable(row.op).size());
  }
  const auto flags = out.flags();
  const auto precision = out.precision();
  const auto name = [&](const std::string& text) -> std::ostream& {
    return out << std::left << std::setw(static_cast<int>(width)) << text << std::right;
  };
  name("op") << std::setw(8) << "nodes" << std::setw(10) << "launches" << std::setw(12) << "kernels ms" << std::setw(12)
             << "total ms" << std::setw(9) << "share" << '\n'
             << std::fixed;
  for (const OpTime& row : rows)
    name(file::printable(row.op)) << std::setw(8) << row.nodes << std::setw(10) << row.launches << std::setprecision(3)
                                  << std::setw(12) << row.kernel_ms << std::setw(12) << row.total_ms
                                  << std::setprecision(1) << std::setw(8)
                                  << (total > 0 ? 100 * row.total_ms / total : 0) << "%\n";
  out.flags(flags);
  out.precision(precision);
  return out;
}

}  // namespace crisol::onnx
