// `crisol doctor`
#include "cli/doctor/doctor.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/format.h"

namespace crisol::cli {

namespace {

using doctor::Json;

struct DoctorOptions {
  bool json = false, full = false;
};

int examine(const DoctorOptions& options, const std::string& device) {
  doctor::Problems problems;
  Json report{{"format", "crisol doctor"}, {"version", 1}, {"date", today()}};
  report["crisol"] = doctor::build_facts();
  report["system"] = doctor::system_facts();
  report["environment"] = doctor::environment_facts();
  report["folders"] = doctor::folder_facts(problems);
  report["opencl"] = doctor::opencl_facts(device, options.full, problems);
  report["problems"] = Json::array();
  for (const doctor::Problem& problem : problems)
    report["problems"].push_back({{"problem", problem.what}, {"remedy", problem.remedy}});
  doctor::hide_private_parts(report);
  if (options.json)  // The name of a driver may have any bytes. Bytes that are no UTF-8 are replaced.
    std::cout << report.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  else
    std::cout << doctor::text_of(report);
  return problems.empty() ? 0 : 1;
}

}  // namespace

Command add_doctor(CLI::App& program) {
  const auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = program.add_subcommand(
      "doctor", "Look for what is wrong with devices, drivers and folders, and print what a bug report needs");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--full", options->full, "Compare every op with its reference, as `crisol selftest` does");
  command->footer(
      "Looks at all devices, or at the one of --device. The report names neither the user nor the user's home.\n"
      "Exit status: 0 nothing is wrong, 1 something is, and the report ends with what to do, 2 wrong arguments.");
  command->fallthrough();
  return {command, [options, &program] { return examine(*options, program["--device"]->as<std::string>()); }, true};
}

}  // namespace crisol::cli
