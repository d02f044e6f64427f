// `crisol selftest`
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/selftest/check.h"
#include "cli/terminal.h"
#include "crisol/device.h"
#include "crisol/version.h"

namespace crisol::cli {

namespace {

using selftest::Check;
using selftest::Op;
using selftest::Outcome;

struct SelftestOptions {
  std::vector<std::string> only;
  bool json = false;
};

/// The ops whose name contains one of these texts. All ops if there are no texts.
std::vector<Op> chosen(const std::vector<std::string>& only) {
  std::vector<Op> ops;
  for (Op& op : selftest::all_ops()) {
    bool wanted = only.empty();
    for (const std::string& part : only) wanted = wanted || op.name.find(part) != std::string::npos;
    if (wanted) ops.push_back(std::move(op));
  }
  return ops;
}

std::string measured(const Outcome& outcome) {
  if (std::string_view(outcome.measure) != "equal")
    return format("%.3g of %.3g %s", outcome.error, outcome.bound, outcome.measure);
  return outcome.error == 0 ? "equal" : format("%.0f wrong", outcome.error);
}

void print_line(const Outcome& outcome) {
  std::cout << format("%-24s %5d  %-22s ", outcome.op.c_str(), outcome.cases, measured(outcome).c_str())
            << (outcome.failure.empty() ? "ok" : bold("FAILED") + "  " + outcome.failure) << std::endl;
}

nlohmann::ordered_json json_of(const Outcome& outcome) {
  // JSON has no infinity, so the error becomes null.
  const nlohmann::ordered_json error = std::isfinite(outcome.error) ? nlohmann::ordered_json(outcome.error) : nullptr;
  return {{"op", outcome.op},           {"cases", outcome.cases},           {"error", error},
          {"bound", outcome.bound},     {"measure", outcome.measure},       {"variants", outcome.variants},
          {"failure", outcome.failure}, {"passed", outcome.failure.empty()}};
}

struct Totals {
  std::size_t ops = 0, failed = 0;
  double seconds = 0;
};

void print_verdict(const DeviceInfo& info, const Totals& totals) {
  std::cout << "\ncrisol " << version() << " on " << info.name << "\n  " << info.platform << ", " << info.device_version
            << ", driver " << info.driver_version << ", " << name_of(info.type) << ", " << info.compute_units
            << " compute units\n"
            << bold(totals.failed == 0 ? "passed" : "FAILED") << ": " << totals.ops - totals.failed << " of "
            << totals.ops << " ops agree with the references, in " << std::round(totals.seconds) << " s\n";
}

int run(const SelftestOptions& options) {
  const std::vector<Op> ops = chosen(options.only);
  if (ops.empty()) {
    std::cerr << "crisol: no op's name contains";
    for (const std::string& part : options.only) std::cerr << " '" << part << '\'';
    std::cerr << '\n';
    return 2;
  }
  const DeviceInfo& info = Device().info();
  const auto start = std::chrono::steady_clock::now();
  Totals totals{ops.size()};
  auto list = nlohmann::ordered_json::array();
  if (!options.json) std::cout << "op                       cases  worst error\n";
  for (const Op& op : ops) {
    const Outcome outcome = selftest::outcome_of(op);
    totals.failed += !outcome.failure.empty();
    if (options.json)
      list.push_back(json_of(outcome));
    else
      print_line(outcome);
  }
  totals.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json)
    std::cout << nlohmann::ordered_json{{"version", version()},
                                        {"device", nlohmann::ordered_json::parse(to_json(info))},
                                        {"ops", list},
                                        {"failed", totals.failed},
                                        {"passed", totals.failed == 0},
                                        {"seconds", totals.seconds}}
                     .dump(2)
              << '\n';
  else
    print_verdict(info, totals);
  return totals.failed == 0 ? 0 : 1;
}

}  // namespace

Command add_selftest(CLI::App& program) {
  const auto options = std::make_shared<SelftestOptions>();
  CLI::App* command = program.add_subcommand(
      "selftest", "Compare every op with a reference on the host: what a bug report wants to know");
  command->add_option("--only", options->only, "Ops whose name has one of these parts, by commas")->delimiter(',');
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Errors are in units of the last place (ulp), or in rounding errors of the largest term (eps), and bounded as\n"
      "docs/tolerances.md says. Compiling takes most of the time: a minute or two at first, then seconds.\n"
      "Exit status: 0 all agree, 1 one does not, 2 wrong arguments.");
  command->fallthrough();
  return {command, [options] { return run(*options); }};
}

}  // namespace crisol::cli
