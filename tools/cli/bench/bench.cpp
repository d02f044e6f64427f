#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/bench/report.h"
#include "cli/bench/suites.h"
#include "cli/command.h"
#include "cli/null_device.h"
#include "crisol/error.h"

namespace crisol::cli {

namespace {

using namespace bench;

struct Options {
  std::vector<std::string> words;
  std::string suite, device_file, onnx_file;
  std::unique_ptr<NullDevice> device;
  Effort effort;
  bool json = false, list = false, serve = false, no_peak = false;
};

std::optional<DeviceSpeed> speed_of_device(const Options& options) {
  return options.no_peak || options.device != nullptr ? std::nullopt : std::optional(measured_speed());
}

int run_all(const std::vector<Request>& requests, const Options& options) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const std::optional<DeviceSpeed> speed = speed_of_device(options);
  if (!options.json) {
    print_device(std::cout, speed);
    print_heading(std::cout);
  }
  for (const Request& request : requests) {
    const Result result = run(request, options.effort);
    if (options.json)
      list.push_back(to_json(result, speed));
    else
      print_row(std::cout, result, speed);
  }
  if (options.json) std::cout << (options.suite.empty() ? list[0] : list).dump(2) << '\n';
  return 0;
}

// The line "peak" measures the device's peak once more.
nlohmann::ordered_json answer(const std::string& line, const Options& options) {
  nlohmann::ordered_json json;
  try {
    if (line == "peak") {
      const DeviceSpeed speed = measure_speed_again();
      json = {{"peak_gflops", speed.gflops},
              {"peak_gbps", speed.gbps()},
              {"launch_us", speed.launch_us},
              {"wait_us", speed.wait_us}};
    } else {
      const Request request = parse_line(line);
      const std::optional<DeviceSpeed> speed = speed_of_device(options);
      json = to_json(run(request, options.effort), speed);
    }
  } catch (const std::runtime_error& error) {
    json = {{"case", line}, {"error", error.what()}};
  }
  return json;
}

// Prints one line of JSON for each line of input. Programs that compare results keep this process running, so that it
// stays warm.
int serve(const Options& options) {
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(line, options).dump() << std::endl;
  return 0;
}

int save_onnx(const Request& request, const std::string& path) {
  const Work work = request.what->prepare(request.values);
  if (!work.save_onnx) throw UsageError("--save-onnx is for a network: crisol bench net net=resnet18 --save-onnx FILE");
  work.save_onnx(path);
  return 0;
}

int run_command(Options& options) {
  if (!options.device_file.empty()) {
    options.device = std::make_unique<NullDevice>(options.device_file);
    options.device->answer_probes();
  }
  if (options.serve) return serve(options);
  std::vector<Request> requests;
  if (!options.suite.empty()) {
    for (const std::string& line : suite(options.suite)) requests.push_back(parse_line(line));
  } else if (options.list || (options.words.empty() && !options.json)) {
    std::cout << describe_cases() << "\nsuites: " << suite_names()
              << "\n\nExamples: crisol bench softmax rows=64 cols=1000; crisol bench --suite nets\n";
    return 0;
  } else {
    requests.push_back(parse(options.words));
  }
  if (options.list) {
    for (const Request& request : requests) std::cout << request.line << '\n';
    return 0;
  }
  if (!options.onnx_file.empty()) {
    if (requests.size() != 1) throw UsageError("--save-onnx takes one case");
    return save_onnx(requests.front(), options.onnx_file);
  }
  return run_all(requests, options);
}

}  // namespace

Command add_bench(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand(
      "bench", "Time an op, a network, a launch or a copy; share of the peak that short kernels reach on the device");
  command->add_option("case", options->words, "CASE key=value ...; without one, the cases are listed");
  command->add_option("--suite", options->suite, "Run a list of cases: " + suite_names())
      ->expected(0, 1)
      ->default_str("all");
  CLI::Option* list =
      command->add_flag("--list", options->list, "List cases and keys, as text; with --suite the suite's cases");
  command->add_flag("--json", options->json, "Print JSON: an object for a case, an array for a suite")->excludes(list);
  command->add_option("--repeat", options->effort.repeat, "Samples (otherwise as many as fit into --seconds)")
      ->check(CLI::PositiveNumber);
  command->add_option("--seconds", options->effort.seconds, "Time for the samples of a case, 1 by default")
      ->check(CLI::PositiveNumber);
  command->add_flag("--no-peak", options->no_peak, "Do not measure the device's peak");
  command->add_option("--for", options->device_file,
                      "A device that is not there: runs no kernel, so that only the host's work is timed");
  command->add_option("--save-onnx", options->onnx_file, "Write the network of the case net as an ONNX file, instead");
  command->add_flag("--serve", options->serve, "Read cases from standard input, answer each with a line of JSON");
  command->footer([] { return describe_cases(); });
  command->fallthrough();
  command->parse_complete_callback(pin_threads);  // The threads must be pinned before the first search for devices.
  return {command, [options] {
            try {
              return run_command(*options);
            } catch (const UsageError& error) {
              std::cerr << "crisol bench: " << error.what() << '\n';
              return 2;
            }
          }};
}

}  // namespace crisol::cli
