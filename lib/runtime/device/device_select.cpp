#include "runtime/device/device_select.h"

#include <algorithm>
#include <cctype>
#include <mutex>
#include <tuple>

#include "base/text.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

constexpr int no_index = -1;

int parse_index(std::string_view text) {
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  if (text.empty() || text.size() > 6 || !std::all_of(text.begin(), text.end(), is_digit)) return no_index;
  return std::stoi(std::string(text));
}

// Printed once in a process, because each later choice by the same text has the same result.
void log_ambiguous(const std::string& what, std::size_t count, const DeviceInfo& first) {
  static std::once_flag said;
  std::call_once(said, [&] {
    log(Topic::device, '\'', what, "' matches ", count, " devices; taking the first, ", first.name, " (write ", what,
        ":n for another)");
  });
}

constexpr const char* no_platform_help =
    "no OpenCL platform is installed. Install your vendor's driver (NVIDIA: the display driver; AMD: ROCm's OpenCL or "
    "Mesa's rusticl; Intel: intel-opencl-icd), or for the CPU: apt install pocl-opencl-icd. `clinfo -l` shows what the "
    "OpenCL loader finds.";

// How well a text names a device. Every platform's CPU device has the processor's maker in its vendor and its name.
// (PoCL's vendor is GenuineIntel or AuthenticAMD.) So a word of the platform or the vendor counts most, then a part of
// a word, and then the device's name.
enum class Match : std::uint8_t { word, part, name, none };

Match match_in(const std::string& text, const std::string& part) {
  const std::string all = lower(text);
  Match best = Match::none;
  for (std::size_t at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) {
    if (at == 0 || std::isalnum(static_cast<unsigned char>(all[at - 1])) == 0) return Match::word;
    best = Match::part;
  }
  return best;
}

struct Named {
  std::size_t position;
  Match match;
  DeviceType type;
  Match platform;  ///< Decides between devices of one type whose vendors match: the maker's own platform comes first.
};

Named named_by(const Candidate& candidate, std::size_t position, const std::string& part) {
  const DeviceInfo& info = *candidate.info;
  // PoCL's platform is called "Portable Computing Language". Only its vendor, "The pocl project", contains the name
  // pocl.
  const Match platform = std::min(match_in(info.platform, part), match_in(info.platform_vendor, part));
  Match match = std::min(platform, match_in(info.vendor, part));
  if (match == Match::none && match_in(info.name, part) != Match::none) match = Match::name;
  return {position, match, info.type, platform};
}

std::vector<std::size_t> find_matches(const std::vector<Candidate>& candidates, const std::string& what) {
  std::vector<std::size_t> found;
  if (const auto type = type_named(what)) {
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (candidates[i].info->type == *type) found.push_back(i);
    return found;
  }
  std::vector<Named> named;
  for (std::size_t i = 0; i < candidates.size(); ++i) named.push_back(named_by(candidates[i], i, what));
  std::erase_if(named, [](const Named& each) { return each.match == Match::none; });
  std::stable_sort(named.begin(), named.end(), [](const Named& a, const Named& b) {
    return std::tie(a.match, a.type, a.platform) < std::tie(b.match, b.type, b.platform);
  });
  for (const Named& each : named) found.push_back(each.position);
  return found;
}

}  // namespace

std::optional<DeviceType> type_named(std::string_view spec) {
  const std::string what = lower(spec);
  for (const DeviceType type : {DeviceType::gpu, DeviceType::accelerator, DeviceType::cpu})
    if (what == name_of(type)) return type;
  return {};
}

std::string list_devices(const std::vector<Candidate>& candidates) {
  std::string text = "Devices here (write the part before the name):";
  for (const Candidate& c : candidates)
    text += concat("\n  ", c.platform_index, ':', c.device_index, "  ", c.info->name, "  (", c.info->platform, ", ",
                   name_of(c.info->type), c.info->has_compiler ? ")" : ", no compiler: cannot be used)");
  return text;
}

std::size_t select_device(const std::vector<Candidate>& candidates, std::string_view spec, std::string_view origin) {
  const auto refuse = [&](const std::string& why) {
    fail(ErrorCode::device_not_found, "device", origin, " '", spec, "': ", why, ". ", list_devices(candidates),
         "\nOr write gpu, cpu or accelerator, or a part of a platform, vendor or device name, each with an optional "
         ":n.");
  };
  if (candidates.empty()) fail(ErrorCode::device_not_found, "device", origin, " '", spec, "': ", no_platform_help);

  const std::size_t colon = spec.rfind(':');
  const int ordinal = colon == std::string_view::npos ? no_index : parse_index(spec.substr(colon + 1));
  const std::string what = lower(ordinal == no_index ? spec : spec.substr(0, colon));
  if (what.empty()) refuse("it is empty");

  std::size_t chosen = candidates.size();
  if (const int platform = parse_index(what); platform != no_index && ordinal != no_index) {
    const auto at = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& c) {
      return c.platform_index == platform && c.device_index == ordinal;
    });
    if (at == candidates.end()) refuse("there is no such platform and device index");
    chosen = static_cast<std::size_t>(at - candidates.begin());
  } else {
    const std::vector<std::size_t> found = find_matches(candidates, what);
    if (found.empty()) refuse("no device matches");
    if (ordinal == no_index && found.size() > 1) log_ambiguous(what, found.size(), *candidates[found[0]].info);
    const std::size_t n = ordinal == no_index ? 0 : static_cast<std::size_t>(ordinal);
    if (n >= found.size()) refuse(concat("only ", found.size(), " match, counted from 0"));
    chosen = found[n];
  }
  if (!candidates[chosen].info->has_compiler)
    refuse(concat(candidates[chosen].info->name, " has no OpenCL compiler, which crisol needs at run time"));
  return chosen;
}

DefaultChoice select_default(const std::vector<Candidate>& candidates) {
  if (candidates.empty()) fail(ErrorCode::device_not_found, "device", no_platform_help);
  const auto better = [](const DeviceInfo& a, const DeviceInfo& b) {
    if (a.type != b.type) return a.type < b.type;
    if (a.type != DeviceType::gpu) return false;
    // An integrated GPU counts most of the host's memory as its own.
    if (a.unified_memory != b.unified_memory) return b.unified_memory;
    return a.global_memory > b.global_memory;
  };
  std::size_t best = candidates.size();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].info->has_compiler) continue;
    if (best == candidates.size() || better(*candidates[i].info, *candidates[best].info)) best = i;
  }
  if (best == candidates.size())
    fail(ErrorCode::device_not_found, "device", "no device has an OpenCL compiler. ", list_devices(candidates));
  switch (candidates[best].info->type) {
    case DeviceType::gpu:
      return {best, candidates[best].info->unified_memory ? "no GPU with memory of its own; the one with the most"
                                                          : "the GPU with the most memory of its own"};
    case DeviceType::accelerator: return {best, "no GPU; the first accelerator"};
    case DeviceType::cpu: break;
  }
  return {best, "no GPU or accelerator; the first CPU"};
}

}  // namespace crisol::runtime
