// `crisol report`
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>

#include "base/system.h"
#include "base/text.h"
#include "cli/bench/measure.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/report/measure.h"
#include "cli/report/show.h"
#include "crisol/version.h"

namespace crisol::cli {

namespace {

struct ReportOptions {
  std::string name, html;
  std::vector<std::string> merge;
  bool json = false, quick = false, cards = false;
};

report::Machine measure_machine(bool one_device, const ReportOptions& options) {
  const report::Progress progress = [](const report::Device& device, const std::string& part) {
    std::cerr << device.name << " (" << device.platform << "): " << part << '\n';
  };
  report::Machine machine{options.name, today(), version(), options.quick, {}};
  if (one_device)
    machine.devices.push_back(report::measure(Device(), options.quick, progress));
  else
    machine.devices = report::measure_all(options.quick, progress);
  return machine;
}

std::vector<report::Machine> read_all(const std::vector<std::string>& files) {
  std::vector<report::Machine> machines;
  for (const std::string& file : files)
    for (report::Machine& machine : report::read_file(file)) machines.push_back(std::move(machine));
  return machines;
}

bool anything_measured(const std::vector<report::Machine>& machines) {
  for (const report::Machine& machine : machines)
    for (const report::Device& device : machine.devices)
      if (!device.figures.empty()) return true;
  return false;
}

int run_report(const ReportOptions& options, bool one_device) {
  std::ofstream page;
  if (!options.html.empty()) {  // Opened now, so that a bad path fails before the minute of measuring.
    page.open(system::path_of(options.html), std::ios::binary);
    if (!page) fail(ErrorCode::io, "report", "cannot write to ", options.html);
  }
  std::vector<report::Machine> machines;
  if (!options.merge.empty()) {
    machines = read_all(options.merge);
  } else {
    machines.push_back(measure_machine(one_device, options));
  }
  if (page.is_open() && !(page << report::page_of(machines) << std::flush))
    fail(ErrorCode::io, "report", "cannot write to ", options.html);
  if (options.json)
    std::cout << report::to_json(machines) << '\n';
  else
    report::print(std::cout, machines, options.cards);
  return anything_measured(machines) ? 0 : 1;
}

}  // namespace

Command add_report(CLI::App& program) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = program.add_subcommand(
      "report",
      "Measure every device, or the one of --device: memory, arithmetic, transfers, launches, compiling, networks");
  command->add_flag("--json", options->json, "Print JSON, as --merge reads it");
  command->add_option("--html", options->html, "Write a page with roofline and bars to this file, too");
  command->add_option("--merge", options->merge, "Show the reports of these files together; measures nothing");
  command->add_flag("--cards", options->cards, "Print the specifications of all known cards, not only of the nearest");
  command->add_option("--name", options->name, "What this machine is called beside others");
  command->add_flag("--quick", options->quick, "Few samples of small workloads: says little, takes seconds");
  command->fallthrough();
  command->parse_complete_callback(bench::pin_threads);
  return {command, [options, &program] { return run_report(*options, program["--device"]->count() > 0); }};
}

}  // namespace crisol::cli
