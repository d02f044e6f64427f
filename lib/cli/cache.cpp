// `crisol cache`
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "crisol/kernel_cache.h"
#include "crisol/tuning.h"

namespace crisol::cli {

namespace {

nlohmann::ordered_json tuned_list(const std::vector<TuningEntry>& tuned) {
  auto list = nlohmann::ordered_json::array();
  for (const TuningEntry& entry : tuned)
    list.push_back({{"problem", entry.problem},
                    {"variant", entry.variant},
                    {"nanoseconds", entry.nanoseconds},
                    {"usual", entry.usual},
                    {"usual_nanoseconds", entry.usual_nanoseconds},
                    {"device", entry.device}});
  return list;
}

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
  const std::string folder = kernel_cache_folder(), tuned_file = tuning_file();
  const std::vector<TuningEntry> tuned = tuning_entries();
  if (json) {
    std::cout << nlohmann::ordered_json{{"folder", folder},
                                        {"bytes", bytes},
                                        {"programs", list},
                                        {"tuning_file", tuned_file},
                                        {"tuned", tuned_list(tuned)}}
                     .dump(2)
              << '\n';
    return 0;
  }
  std::cout << entries.size() << " programs, " << bytes << " bytes in "
            << (folder.empty() ? "no folder: set CRISOL_CACHE_DIR" : folder) << '\n';
  if (!tuned.empty()) std::cout << tuned.size() << " tuned problems in " << tuned_file << '\n';
  return 0;
}

int clear(bool json, bool tuning) {
  const std::int64_t removed = clear_kernel_cache();
  const std::string folder = kernel_cache_folder(), tuned_file = tuning_file();
  nlohmann::ordered_json cleared{{"folder", folder}, {"removed", removed}};
  if (!json) std::cout << "removed " << removed << " files from " << folder << '\n';
  if (tuning) {
    const std::int64_t tuned = clear_tuning();
    cleared.update({{"tuning_file", tuned_file}, {"tuned", tuned}});
    if (!json) std::cout << "removed " << tuned << " tuned problems from " << tuned_file << '\n';
  }
  if (json) std::cout << cleared.dump(2) << '\n';
  return 0;
}

}  // namespace

Command add_cache(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("cache", "List or clear the compiled kernels on disk, and what `crisol tune` stored");
  command->require_subcommand(0, 1);
  const auto json = std::make_shared<bool>(false), tuning = std::make_shared<bool>(false);
  CLI::App* lister = command->add_subcommand("list", "List the programs: name, device, bytes (the default)");
  CLI::App* cleaner = command->add_subcommand("clear", "Remove them all; they are compiled again when needed");
  for (CLI::App* one : {command, lister, cleaner}) one->add_flag("--json", *json, "Print JSON");
  cleaner->add_flag("--tuning", *tuning, "Remove also what `crisol tune` stored");
  return {command, [cleaner, json, tuning] { return cleaner->parsed() ? clear(*json, *tuning) : list(*json); }};
}

}  // namespace crisol::cli
