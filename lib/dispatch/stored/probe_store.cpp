#include "dispatch/stored/probe_store.h"

#include "base/hash.h"
#include "base/text.h"
#include "crisol/version.h"
#include "runtime/program/disk_cache.h"

namespace crisol::dispatch {

namespace {

std::string key_of(const DeviceInfo& info, std::string_view name, std::string_view kernel_source) {
  return concat("probe\n", name, '\n', info.platform, '\n', info.name, '\n', info.driver_version, '\n',
                info.device_version, '\n', version(), '\n', hash_of(kernel_source));
}

}  // namespace

std::optional<ProbeOutcome> load_probe(const DeviceInfo& info, std::string_view name, std::string_view kernel_source) {
  const runtime::DiskCache disk(runtime::DiskCache::default_folder());
  const std::optional<runtime::CachedProgram> stored = disk.load(key_of(info, name, kernel_source));
  if (!stored) return std::nullopt;
  return ProbeOutcome{std::string(stored->binary.begin(), stored->binary.end()),
                      stored->warmed.empty() ? std::string() : stored->warmed[0]};
}

void store_probe(const DeviceInfo& info, std::string_view name, std::string_view kernel_source,
                 const ProbeOutcome& outcome) {
  const runtime::DiskCache disk(runtime::DiskCache::default_folder());
  const std::string reason = outcome.reason.substr(0, outcome.reason.find('\n'));
  disk.store(key_of(info, name, kernel_source),
             {concat("probe of ", name, " for ", info.name, " (", info.platform, ", driver ", info.driver_version, ')'),
              {outcome.found.begin(), outcome.found.end()},
              {reason}});
}

}  // namespace crisol::dispatch
