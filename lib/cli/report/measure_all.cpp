// Each device in a process of its own, which sends a line of JSON before each part and at the end.
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/apart.h"
#include "cli/report/measure.h"

namespace crisol::cli::report {

namespace {

struct Child {
  Device device;
  std::string part;    ///< That was under way at the last line; empty: all were done.
  bool spoke = false;  ///< The device is there.
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
    // A driver that crashes when the process ends, after everything, has done what was asked of it.
    if (!child.part.empty()) child.device.failures.push_back({child.part, child.ending.fault});
    reports.push_back(std::move(child.device));
  }
  if (reports.empty()) crisol::Device();  // Throws, with how to install one.
  return reports;
}

}  // namespace crisol::cli::report
