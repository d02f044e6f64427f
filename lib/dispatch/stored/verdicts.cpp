#include "dispatch/stored/verdicts.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>

#include "base/checked_lines.h"
#include "base/hash.h"
#include "base/locked_file.h"
#include "base/text.h"
#include "crisol/kernel_cache.h"
#include "crisol/tuning.h"
#include "runtime/program/kernel_source.h"
#include "runtime/program/trusted_files.h"
#include "runtime/verbose.h"

namespace crisol {

namespace {

/// The drivers on which all tests passed, each with the type of the tested device. A driver may also have devices of
/// untested types: rusticl and PoCL drive GPUs too. Oclgrind is a simulator that reports itself as a GPU.
struct Driver {
  std::string_view platform, version;
  DeviceType type = DeviceType::cpu;
};
constexpr Driver verified_drivers[] = {
    {"Portable Computing Language", "3.1"},
    {"Portable Computing Language", "6.0"},
    {"Intel(R) OpenCL", "2026.22.10.0.01"},
    {"rusticl", "22.3.6"},
    {"rusticl", "25.0.7"},
    {"Oclgrind", "Oclgrind 21.10", DeviceType::gpu},
};

/// "3.1" is the version of "3.1+debian", but not of "3.10" or "3.1.1".
bool is_of_version(std::string_view driver, std::string_view version) {
  if (driver.substr(0, version.size()) != version) return false;
  const std::string_view next = driver.substr(version.size(), 1);
  return next.empty() || (next[0] != '.' && (next[0] < '0' || next[0] > '9'));
}

constexpr std::string_view verdicts_format = "crisol verification 1";

using Name = std::pair<std::string, std::string>;  // Op and variant.
using Outcomes = std::map<Name, Verification>;
using AllOutcomes = std::map<std::string, Outcomes>;  // By device.

/// The key of a device's outcomes: its key in the tuning file, and a hash of the text of all kernels.
std::string key_of(const DeviceInfo& info) {
  static const std::string kernels = [] {
    Hash hash;
    for (const auto& [name, text] : runtime::embedded_kernels()) hash.add(runtime::expanded_source({}, name));
    return hex_of(hash.value());
  }();
  return concat(tuning_device(info), " | kernels ", kernels);
}

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

std::string text_of(const AllOutcomes& all) {
  std::string lines;
  for (const auto& [device, outcomes] : all)
    for (const auto& [name, v] : outcomes)
      lines +=
          concat(device, '\t', v.op, '\t', v.variant, '\t', v.agrees ? "agrees" : "disagrees", '\t', v.detail, '\n');
  return with_checksum(verdicts_format, lines);
}

/// Returns nothing and writes a line to stderr if the text is damaged.
AllOutcomes parse(const std::string& path, std::string_view text) {
  CheckedLines checked = without_checksum(verdicts_format, text);
  AllOutcomes all;
  for (std::string_view rest = checked.lines; !rest.empty();) {
    std::array<std::string_view, 5> fields;
    const bool whole = split_fields(cut_until(rest, '\n'), fields);
    if (!whole || (fields[3] != "agrees" && fields[3] != "disagrees")) {
      checked.fault = "has a line that is no outcome";
      break;
    }
    const Verification v{std::string(fields[1]), std::string(fields[2]), fields[3] == "agrees", std::string(fields[4])};
    all[std::string(fields[0])][{v.op, v.variant}] = v;
  }
  if (checked.fault == nullptr) return all;
  runtime::log_line(concat("verification: ", path, ' ', checked.fault, "; variants are verified again"));
  return {};
}

struct Known {
  std::mutex mutex;
  std::map<int, Outcomes> of_process;  // By Device::index().
  std::map<int, Outcomes> stored;      // The content of the file when this process first needed it.
};

Known& known() {
  static Known& all = *new Known;  // Never destroyed, because callers may outlive static objects.
  return all;
}

const Outcomes& stored_of(Known& all, Device device) {
  const auto [at, is_new] = all.stored.try_emplace(device.index());
  if (!is_new) return at->second;
  if (const std::string path = verification_file(); !path.empty())
    at->second = parse(path, runtime::read_trusted(path))[key_of(device.info())];
  return at->second;
}

void store(const std::string& path, const DeviceInfo& info, const Verification& outcome) {
  runtime::require_trusted("verification", path);
  LockedFile file("verification", path);
  AllOutcomes all = parse(path, file.read());
  all[key_of(info)][{outcome.op, outcome.variant}] = outcome;
  file.replace(text_of(all));
}

}  // namespace

bool is_verified_driver(const DeviceInfo& info) {
  return std::any_of(std::begin(verified_drivers), std::end(verified_drivers), [&](const Driver& driver) {
    return info.platform == driver.platform && info.type == driver.type &&
           is_of_version(info.driver_version, driver.version);
  });
}

std::vector<Verification> verifications(Device device) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  Outcomes outcomes = all.of_process[device.index()];
  const Outcomes& stored = stored_of(all, device);
  outcomes.insert(stored.begin(), stored.end());
  std::vector<Verification> list;
  for (const auto& [name, outcome] : outcomes) list.push_back(outcome);
  return list;
}

std::string verification_file() {
  const std::string folder = kernel_cache_folder();
  return folder.empty() ? folder : folder + "/verified.txt";
}

namespace dispatch {

std::optional<Verification> find_verification(Device device, const std::string& op, const std::string& variant,
                                              bool fresh) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  const Outcomes& own = all.of_process[device.index()];
  if (const auto found = own.find({op, variant}); found != own.end()) return found->second;
  if (fresh) return std::nullopt;
  const Outcomes& stored = stored_of(all, device);
  const auto found = stored.find({op, variant});
  return found == stored.end() ? std::nullopt : std::optional(found->second);
}

void note_verification(Device device, const Verification& outcome, bool lasting) {
  Known& all = known();
  Verification kept = outcome;
  kept.detail = one_line(kept.detail);
  const std::lock_guard lock(all.mutex);
  all.of_process[device.index()][{kept.op, kept.variant}] = kept;
  const std::string path = verification_file();
  if (!lasting || path.empty()) return;
  try {
    store(path, device.info(), kept);
  } catch (const Error& error) {
    runtime::log(runtime::Topic::build, "verification: nothing is stored: ", error.what());
  }
}

void forget_verifications() {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  all.of_process.clear();
  all.stored.clear();
}

}  // namespace dispatch

}  // namespace crisol
