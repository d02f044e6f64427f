// `crisol onnx check`
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/format.h"
#include "cli/onnx/work.h"
#include "crisol/error.h"

namespace crisol::cli::onnx_command {

int check_folders(const CheckFolders& options) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  bool all_passed = true;
  for (const std::string& folder : options.folders) {
    std::vector<onnx::CheckedSet> sets;
    try {
      sets = onnx::check(folder, options.tolerance);
    } catch (const Error& error) {
      sets = {{.folder = folder, .state = onnx::CheckState::refused, .reason = error.what()}};
    }
    for (const onnx::CheckedSet& set : sets) {
      all_passed = all_passed && set.state == onnx::CheckState::passed;
      if (!options.json)
        std::cout << set.folder << ": " << name_of(set.state)
                  << (set.reason.empty() ? format(", largest difference %.2g", set.largest_difference)
                                         : ": " + set.reason)
                  << '\n'
                  << std::flush;
    }
    if (options.json) {
      const auto shown = nlohmann::ordered_json::parse(to_json(sets));
      list.insert(list.end(), shown.begin(), shown.end());
    }
  }
  if (options.json) std::cout << list.dump(2) << '\n';
  return all_passed ? 0 : 1;
}

}  // namespace crisol::cli::onnx_command
