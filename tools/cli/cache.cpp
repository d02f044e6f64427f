// `crisol cache`
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/bytes_text.h"
#include "cli/command.h"
#include "cli/format.h"
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

struct Group {
  std::string device;
  std::size_t programs = 0;
  std::uint64_t bytes = 0;
};

/// The programs by device and driver, which a title names after "PROGRAM for ". Damaged files come last.
std::vector<Group> groups_of(const std::vector<CacheEntry>& entries) {
  std::map<std::string, Group> groups;
  Group damaged{"damaged, never used", 0, 0};
  for (const CacheEntry& entry : entries) {
    const std::size_t at = entry.title.find(" for ");
    Group& group =
        entry.title.empty() ? damaged : groups[at == std::string::npos ? entry.title : entry.title.substr(at + 5)];
    ++group.programs;
    group.bytes += entry.bytes;
  }
  std::vector<Group> list;
  for (auto& [device, group] : groups) list.push_back({device, group.programs, group.bytes});
  if (damaged.programs > 0) list.push_back(damaged);
  return list;
}

void print_programs(const std::vector<CacheEntry>& entries) {
  for (const CacheEntry& entry : entries)
    std::cout << (entry.title.empty() ? "damaged, never used: " + entry.file : entry.title) << ": " << entry.bytes
              << " bytes\n";
}

void print_groups(const std::vector<Group>& groups) {
  for (const Group& group : groups)
    std::cout << format("%6zu programs %10s  ", group.programs, bytes_text(group.bytes).c_str()) << group.device
              << '\n';
}

int show(bool json, bool whole_list) {
  const std::vector<CacheEntry> entries = kernel_cache_entries();
  const std::vector<Group> groups = groups_of(entries);
  const std::string folder = kernel_cache_folder(), tuned_file = tuning_file(), fault = kernel_cache_fault();
  const std::vector<TuningEntry> tuned = tuning_entries();
  std::uint64_t bytes = 0;
  for (const Group& group : groups) bytes += group.bytes;
  if (json) {
    auto programs = nlohmann::ordered_json::array(), devices = nlohmann::ordered_json::array();
    for (const CacheEntry& entry : entries)
      programs.push_back({{"file", entry.file}, {"title", entry.title}, {"bytes", entry.bytes}});
    for (const Group& group : groups)
      devices.push_back({{"device", group.device}, {"programs", group.programs}, {"bytes", group.bytes}});
    std::cout
        << nlohmann::ordered_json{{"folder", folder},          {"used", fault.empty()}, {"bytes", bytes},
                                  {"devices", devices},        {"programs", programs},  {"tuning_file", tuned_file},
                                  {"tuned", tuned_list(tuned)}}
               .dump(2)
        << '\n';
    return 0;
  }
  if (whole_list)
    print_programs(entries);
  else
    print_groups(groups);
  std::cout << entries.size() << " programs, " << bytes << " bytes in "
            << (folder.empty() ? "no folder: set CRISOL_CACHE_DIR" : folder) << '\n';
  if (!fault.empty()) std::cout << fault << '\n';
  if (!tuned.empty()) std::cout << tuned.size() << " tuned problems in " << tuned_file << '\n';
  if (!whole_list && !entries.empty()) std::cout << "`crisol cache --list` lists the programs.\n";
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
      program.add_subcommand("cache", "Show or clear the compiled kernels on disk, and what `crisol tune` stored");
  command->require_subcommand(0, 1);
  const auto json = std::make_shared<bool>(false), tuning = std::make_shared<bool>(false),
             whole_list = std::make_shared<bool>(false);
  command->add_flag("--list", *whole_list, "List the programs one by one, instead of a line for each device");
  CLI::App* lister = command->add_subcommand("list", "The same as --list");
  CLI::App* cleaner = command->add_subcommand("clear", "Remove them all; they are compiled again when needed");
  for (CLI::App* one : {command, lister, cleaner}) {
    one->add_flag("--json", *json, "Print JSON");
    one->fallthrough();
  }
  cleaner->add_flag("--tuning", *tuning, "Remove also what `crisol tune` stored");
  return {command,
          [=] { return cleaner->parsed() ? clear(*json, *tuning) : show(*json, *whole_list || lister->parsed()); }};
}

}  // namespace crisol::cli
