// Measures each device in a separate process. The process sends a line of JSON before each part and at the end.
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/apart.h"
#include "cli/report/measure.h"

namespace crisol::cli::report {

namespace {

struct Child {
  Device device;
  std::string part;    ///< The part that was running at the last line; empty after the last part.
  bool spoke = false;  ///< True if the device exists.
  Ending ending;
};

void measure_into(const Send& send, std::size_t index, bool quick) {
  const std::vector<crisol::Device> all = devices();
  if (index >= all.size()) return;
  const auto tell = [&](const Device& so_far, const std::string& part) {
    send(nlohmann::json{{"part", part}, {"device", to_json(so_far)}}.dump());
  };
  tell(measure(all[index], quick, tell), "");
}

Child run_child(std::size_t index, bool quick, const Progress& progress) {
  Child child;
  const auto receive = [&](const std::string& text) {
    const auto line = nlohmann::json::parse(text);
    child.device = device_from_json(line.at("device").get<std::string>());
    child.part = line.at("part").get<std::string>();
    child.spoke = true;
    if (!child.part.empty()) progress(child.device, child.part);
  };
  child.ending = run_apart([&](const Send& send) { measure_into(send, index, quick); }, receive);
  return child;
}

}  // namespace

std::vector<Device> measure_all(bool quick, const Progress& progress) {
  std::vector<Device> reports;
  for (;;) {
    Child child = run_child(reports.size(), quick, progress);
    if (!child.spoke && child.ending.finished) break;  // No such device.
    if (!child.spoke) fail(ErrorCode::device_failure, "report", "looking for devices: ", child.ending.fault);
    // If the driver crashes at the exit of the process, all parts are already done, so this is no failure.
    if (!child.part.empty()) child.device.failures.push_back({child.part, child.ending.fault});
    reports.push_back(std::move(child.device));
  }
  if (reports.empty()) crisol::Device();  // Throws an error that says how to install a driver.
  return reports;
}

}  // namespace crisol::cli::report
