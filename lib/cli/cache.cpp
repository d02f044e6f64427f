// `crisol cache`
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "crisol/kernel_cache.h"

namespace crisol::cli {

namespace {

int list(bool json) {
  const std::vector<CacheEntry> entries = kernel_cache_entries();
  std::uint64_t bytes = 0;
  auto list = nlohmann::ordered_json::array();
  for (const CacheEntry& entry : entries) {
    bytes += entry.bytes;
    list.push_back({{"file", entry.file}, {"title", entry.title}, {"bytes", entry.bytes}});
    if (!json)
      std::cout << (entry.title.empty() ? "damaged, never used: " + entry.file : entry.title) << ": " << entry.bytes
                << " bytes\n";
  }
  const std::string folder = kernel_cache_folder();
  if (json)
    std::cout << nlohmann::ordered_json{{"folder", folder}, {"bytes", bytes}, {"programs", list}}.dump(2) << '\n';
  else
    std::cout << entries.size() << " programs, " << bytes << " bytes in "
              << (folder.empty() ? "no folder: set CRISOL_CACHE_DIR" : folder) << '\n';
  return 0;
}

int clear(bool json) {
  const std::int64_t removed = clear_kernel_cache();
  const std::string folder = kernel_cache_folder();
  if (json)
    std::cout << nlohmann::ordered_json{{"folder", folder}, {"removed", removed}}.dump(2) << '\n';
  else
    std::cout << "removed " << removed << " files from " << folder << '\n';
  return 0;
}

}  // namespace

Command add_cache(CLI::App& program) {
  CLI::App* command = program.add_subcommand("cache", "List or clear the compiled kernels on disk");
  command->require_subcommand(0, 1);
  const auto json = std::make_shared<bool>(false);
  CLI::App* lister = command->add_subcommand("list", "List the programs: name, device, bytes (the default)");
  CLI::App* cleaner = command->add_subcommand("clear", "Remove them all; they are compiled again when needed");
  for (CLI::App* one : {command, lister, cleaner}) one->add_flag("--json", *json, "Print JSON");
  return {command, [cleaner, json] { return cleaner->parsed() ? clear(*json) : list(*json); }};
}

}  // namespace crisol::cli
