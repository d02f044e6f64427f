// `crisol devices`
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/terminal.h"
#include "crisol/device.h"
#include "crisol/error.h"

namespace crisol::cli {

namespace {

// The default device, or the error text if there is no default device.
struct Choice {
  int index = -1;
  std::string reason;
};

Choice default_choice() {
  try {
    return {Device().index(), default_device_reason()};
  } catch (const Error& error) {
    return {-1, error.what()};
  }
}

void print_table(const std::vector<Device>& all, const Choice& choice) {
  for (const Device device : all) {
    const DeviceInfo& info = device.info();
    std::cout << (device.index() == choice.index ? "* " + bold(info.name) : "  " + info.name) << '\n'
              << "      " << info.platform << ", " << name_of(info.type) << ", " << info.device_version << ", driver "
              << info.driver_version << '\n'
              << "      " << info.compute_units << " compute units, float vectors of " << info.native_float_width
              << " lanes, " << std::fixed << std::setprecision(1) << static_cast<double>(info.global_memory) / (1 << 30)
              << " GiB memory, " << info.local_memory / 1024 << " KiB local" << (info.fp16 ? ", fp16" : "")
              << (info.fp64 ? ", fp64" : "") << (info.has_compiler ? "" : ", no compiler: cannot be used") << '\n';
  }
  if (choice.index >= 0) std::cout << "\n* is the default: " << choice.reason << '\n';
}

void print_json(const std::vector<Device>& all, const Choice& choice) {
  nlohmann::ordered_json json;
  json["default"] = choice.index >= 0 ? nlohmann::ordered_json(choice.index) : nlohmann::ordered_json();
  json["reason"] = choice.reason;
  json["devices"] = nlohmann::ordered_json::array();
  for (const Device device : all) json["devices"].push_back(nlohmann::ordered_json::parse(to_json(device.info())));
  std::cout << json.dump(2) << '\n';
}

int list_devices(bool json) {
  const std::vector<Device> all = devices();
  const Choice choice = default_choice();
  if (json)
    print_json(all, choice);
  else
    print_table(all, choice);
  if (choice.index < 0) std::cerr << "crisol: " << choice.reason << '\n';
  return choice.index < 0 ? 1 : 0;
}

}  // namespace

Command add_devices(CLI::App& program) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command =
      program.add_subcommand("devices", "List the OpenCL devices, mark the default and say why it is the default");
  command->add_flag("--json", *json, "Print JSON");
  command->fallthrough();
  return {command, [json] { return list_devices(*json); }};
}

}  // namespace crisol::cli
