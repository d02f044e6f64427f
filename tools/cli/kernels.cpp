// `crisol kernels`: shows the programs and launches of the library on a device that is not in this machine.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "cli/bench/case.h"
#include "cli/bench/suites.h"
#include "cli/command.h"
#include "cli/null_device.h"
#include "crisol/device.h"
#include "crisol/error.h"
#include "crisol/version.h"

namespace crisol::cli {

namespace {

using nlohmann::ordered_json;

struct KernelOptions {
  std::string device_file, folder;
  std::vector<std::string> words;
  std::unique_ptr<NullDevice> device;
};

std::vector<bench::Request> requests_of(const KernelOptions& options) {
  if (!options.words.empty()) return {bench::parse(options.words)};
  std::vector<bench::Request> requests;
  for (const std::string& line : bench::suite("kernels")) requests.push_back(bench::parse_line(line));
  return requests;
}

// Runs three times: a packed weight is made at its second use and used at its third. Making and using the packed weight
// both belong to the result.
void run(const bench::Request& request) {
  const bench::Work work = request.what->prepare(request.values);
  for (int i = 0; i < 3; ++i) {
    if (work.renew) work.renew();
    work.run();
  }
  synchronize();
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) fail(ErrorCode::io, "kernels", "cannot write ", path.string());
}

// Moves the source of each program to its own file. The file's name has the first kernel's name and a hash of the
// contents.
void write_dump(const KernelOptions& options, ordered_json record, const ordered_json& parts) {
  const std::filesystem::path folder = options.folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (ordered_json& program : record["programs"]) {
    const auto source = program["source"].get<std::string>(), flags = program["options"].get<std::string>();
    const ordered_json& kernels = program["kernels"];
    const std::string stem = kernels.empty() ? "unused" : kernels[0]["name"].get<std::string>();
    const std::string file = concat(stem, '-', std::setbase(16), hash_of(source, hash_of(flags)), ".cl");
    write_text(folder / file, source);
    ordered_json entry{{"file", file}};
    program.erase("source");
    entry.update(program);
    program = std::move(entry);
  }
  std::ifstream device_file(options.device_file);
  const ordered_json index{{"crisol", version()},
                           {"device", ordered_json::parse(device_file)},
                           {"parts", parts},
                           {"programs", std::move(record["programs"])}};
  write_text(folder / "index.json", index.dump(1) + '\n');
}

int dump_kernels(const KernelOptions& options) {
  const std::vector<bench::Request> requests = requests_of(options);
  ordered_json parts = ordered_json::array();
  bool failed = false;
  options.device->answer_probes();
  for (const bench::Request& request : requests) {
    options.device->begin_part(parts.size());
    parts.push_back(request.line);
    try {
      run(request);
    } catch (const Error& error) {
      std::cerr << "crisol kernels: " << request.line << ": " << error.what() << '\n';
      failed = true;
    }
  }
  auto record = ordered_json::parse(options.device->record());
  const std::size_t programs = record["programs"].size();
  write_dump(options, std::move(record), parts);
  std::cout << programs << " programs of " << parts.size() << " cases for " << Device().name() << " in "
            << options.folder << '\n';
  return failed ? 1 : 0;
}

}  // namespace

Command add_kernels(CLI::App& program) {
  const auto options = std::make_shared<KernelOptions>();
  CLI::App* command = program.add_subcommand(
      "kernels", "Write every program that the library would build for a device that is not there, and its launches");
  command->add_option("--for", options->device_file, "The device: a file as `crisol info --json` prints it")
      ->required();
  command->add_option("--dump", options->folder, "Folder for the programs and index.json")->required();
  command->add_option("case", options->words, "CASE key=value ... as `crisol bench` takes it, instead of the suite");
  command->fallthrough();
  return {command, [options] {
            try {
              options->device = std::make_unique<NullDevice>(options->device_file);
              return dump_kernels(*options);
            } catch (const bench::UsageError& error) {
              std::cerr << "crisol kernels: " << error.what() << '\n';
              return 2;
            }
          }};
}

}  // namespace crisol::cli
