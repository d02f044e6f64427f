#include "cli/tune/share.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/system.h"
#include "base/text.h"
#include "crisol/tuning.h"
#include "crisol/version.h"

namespace crisol::cli::tune {

namespace {

using nlohmann::ordered_json;

ordered_json tuned_on(const DeviceInfo& info) {
  auto list = ordered_json::array();
  for (const TuningEntry& entry : tuning_entries())
    if (entry.device == tuning_device(info) && entry.nanoseconds > 0)
      list.push_back({{"problem", entry.problem},
                      {"variant", entry.variant},
                      {"nanoseconds", entry.nanoseconds},
                      {"usual", entry.usual},
                      {"usual_nanoseconds", entry.usual_nanoseconds}});
  return list;
}

}  // namespace

std::size_t share(Device device, const std::string& path) {
  const DeviceInfo& info = device.info();
  const ordered_json tuned = tuned_on(info);
  require(!tuned.empty(), "tune", "nothing is stored for ", info.name,
          ": run crisol tune with problems, or a program with CRISOL_TUNE=first");
  ordered_json file = ordered_json::parse(to_json(info));
  file["offline"] = {{"targets", ordered_json::array()},
                     {"sources", {concat("`crisol tune --share` of crisol ", version(), " on the device")}},
                     {"tuned", tuned}};
  std::ofstream out(system::path_of(path), std::ios::binary);
  // The name of a driver may have any bytes. Bytes that are no UTF-8 are replaced.
  if (!(out << file.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n' << std::flush))
    fail(ErrorCode::io, "tune", "cannot write to ", path);
  return tuned.size();
}

}  // namespace crisol::cli::tune
