#include "null_driver/record.h"

#include <nlohmann/json.hpp>

namespace crisol::null_driver {

void Record::begin_part(std::size_t part) {
  const std::lock_guard lock(mutex_);
  part_ = part;
}

std::size_t Record::add_program(const std::string& source, const std::string& options) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = numbers_.try_emplace({source, options}, programs_.size());
  if (is_new) programs_.push_back({source, options, {}});
  return at->second;
}

void Record::add_launch(std::size_t program, const std::string& kernel, Launch launch) {
  const std::lock_guard lock(mutex_);
  launch.part = part_;
  ++programs_.at(program).kernels[kernel][launch];
}

std::string Record::to_json() const {
  using nlohmann::ordered_json;
  const std::lock_guard lock(mutex_);
  ordered_json programs = ordered_json::array();
  for (const BuiltProgram& program : programs_) {
    ordered_json kernels = ordered_json::array();
    for (const auto& [name, launches] : program.kernels) {
      ordered_json list = ordered_json::array();
      for (const auto& [launch, times] : launches)
        list.push_back({{"global", launch.global},
                        {"local", launch.local},
                        {"local_argument_bytes", launch.local_argument_bytes},
                        {"part", launch.part},
                        {"times", times}});
      kernels.push_back({{"name", name}, {"launches", list}});
    }
    programs.push_back({{"source", program.source}, {"options", program.options}, {"kernels", kernels}});
  }
  return ordered_json{{"programs", programs}}.dump();
}

}  // namespace crisol::null_driver
