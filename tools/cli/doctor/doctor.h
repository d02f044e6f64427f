// The parts of `crisol doctor`. Each gives JSON, from which the text for people is made as well.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace crisol::cli::doctor {

using Json = nlohmann::ordered_json;

/// A fault, and what to do about it.
struct Problem {
  std::string what, remedy;
};

using Problems = std::vector<Problem>;

/// How the library and the command were built.
Json build_facts();

/// Operating system, processor and memory.
Json system_facts();

/// The variables that are set and change what OpenCL or crisol does.
Json environment_facts();

/// The OpenCL loader, the implementations that are registered for it, and the devices. If `spec` is not empty, only the
/// device that it names. Each implementation and each device is examined in a process of its own. A device runs some
/// ops of `crisol selftest`, or all of them.
Json opencl_facts(const std::string& spec, bool all_ops, Problems& problems);

/// The files and folders that the library keeps: where they are, and who may write there.
Json folder_facts(Problems& problems);

/// The parts of opencl_facts().
Json loader_facts(Problems& problems);
Json device_facts(const std::string& spec, bool all_ops, Problems& problems);

/// A variable of the environment, or an empty text if it is not set.
std::string variable(const char* name);

/// Puts "~" for the user's home and "USER" for the user's name into every text of the report.
void hide_private_parts(Json& report);

/// The report as text.
std::string text_of(const Json& report);

}  // namespace crisol::cli::doctor
