// Reports as JSON files.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/system.h"
#include "base/text.h"
#include "cli/report/report.h"

namespace crisol::cli::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format_name = "crisol report";
constexpr int version = 1;

Json json_of(const Device& device, const Workload& workload) {
  Json json{{"title", workload.title}, {"case", workload.line},   {"flops", workload.flops},
            {"bytes", workload.bytes}, {"items", workload.items}, {"item", workload.item}};
  if (workload.median_ms > 0) {
    json["median_ms"] = workload.median_ms;
    json["per_second"] = workload.per_second();
  } else {
    json["left_out"] = workload.left_out;
  }
  if (const double estimate = device.estimate_ms(workload); estimate > 0) json["roofline_ms"] = estimate;
  return json;
}

Json json_of(const Device& device) {
  Json json{{"name", device.name},
            {"platform", device.platform},
            {"driver", device.driver},
            {"type", device.type},
            {"memory_bytes", device.memory}};
  json["figures"] = Json::object();
  for (const Figure& figure : figures())
    if (device.figures.count(figure.key) != 0) json["figures"][figure.key] = device.figure(figure.key);
  json["workloads"] = Json::array();
  for (const Workload& workload : device.workloads) json["workloads"].push_back(json_of(device, workload));
  json["failures"] = Json::array();
  for (const Failure& failure : device.failures)
    json["failures"].push_back({{"part", failure.part}, {"error", failure.error}});
  json["tuned"] = Json::array();
  for (const TunedProblem& one : device.tuned)
    json["tuned"].push_back({{"problem", one.problem},
                             {"variant", one.variant},
                             {"ms", one.ms},
                             {"usual", one.usual},
                             {"usual_ms", one.usual_ms}});
  return json;
}

Json json_of(const Machine& machine) {
  Json json{{"name", machine.name}, {"date", machine.date}, {"crisol", machine.crisol}, {"quick", machine.quick}};
  json["devices"] = Json::array();
  for (const Device& device : machine.devices) json["devices"].push_back(json_of(device));
  return json;
}

/// Reads a number. All numbers of a report are finite and not negative.
double number(const Json& json, const char* key) {
  const double value = json.at(key).get<double>();
  if (!std::isfinite(value) || value < 0) throw std::runtime_error(concat(key, " is ", value));
  return value;
}

Workload workload_of(const Json& json) {
  Workload workload;
  workload.title = json.at("title").get<std::string>();
  workload.line = json.at("case").get<std::string>();
  workload.flops = number(json, "flops");
  workload.bytes = number(json, "bytes");
  workload.items = number(json, "items");
  workload.item = json.at("item").get<std::string>();
  if (json.contains("median_ms")) workload.median_ms = number(json, "median_ms");
  if (workload.median_ms == 0) workload.left_out = json.at("left_out").get<std::string>();
  return workload;
}

Device device_of(const Json& json) {
  Device device;
  device.name = json.at("name").get<std::string>();
  device.platform = json.at("platform").get<std::string>();
  device.driver = json.at("driver").get<std::string>();
  device.type = json.at("type").get<std::string>();
  device.memory = json.at("memory_bytes").get<std::uint64_t>();
  for (const Figure& figure : figures())
    if (json.at("figures").contains(figure.key)) device.figures[figure.key] = number(json.at("figures"), figure.key);
  for (const Json& workload : json.at("workloads")) device.workloads.push_back(workload_of(workload));
  for (const Json& failure : json.at("failures"))
    device.failures.push_back({failure.at("part").get<std::string>(), failure.at("error").get<std::string>()});
  // Reports of crisol 0.2 do not have it.
  for (const Json& one : json.value("tuned", Json::array()))
    device.tuned.push_back({one.at("problem").get<std::string>(), one.at("variant").get<std::string>(),
                            one.at("usual").get<std::string>(), number(one, "ms"), number(one, "usual_ms")});
  return device;
}

Machine machine_of(const Json& json, const std::string& path) {
  Machine machine;
  machine.name = json.at("name").get<std::string>();
  if (machine.name.empty()) machine.name = system::text_of(system::path_of(path).stem());
  machine.date = json.at("date").get<std::string>();
  machine.crisol = json.at("crisol").get<std::string>();
  machine.quick = json.at("quick").get<bool>();
  for (const Json& device : json.at("devices")) machine.devices.push_back(device_of(device));
  return machine;
}

std::string text_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path name = system::path_of(path);
  std::ifstream in(name, std::ios::binary);
  if (!in || std::filesystem::is_directory(name, error)) fail(ErrorCode::io, "report", "cannot read ", path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::string to_json(const std::vector<Machine>& machines) {
  Json json{{"format", format_name}, {"version", version}};
  json["machines"] = Json::array();
  for (const Machine& machine : machines) json["machines"].push_back(json_of(machine));
  // A driver may choose any name for itself. Bytes that are not UTF-8 are replaced.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string to_json(const Device& device) {
  return json_of(device).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Device device_from_json(const std::string& text) { return device_of(Json::parse(text)); }

std::vector<Machine> read_file(const std::string& path) {
  const std::string text = text_of(path);
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) fail(ErrorCode::io, "report", path, " is not JSON");
  if (!json.is_object() || json.value("format", Json()) != format_name)
    fail(ErrorCode::io, "report", path, " is not a report: `crisol report --json` writes one");
  if (json.value("version", Json()) != version)
    fail(ErrorCode::io, "report", path, " is of version ", json.value("version", Json()).dump(),
         ", this program reads version ", version);
  try {
    std::vector<Machine> machines;
    for (const Json& machine : json.at("machines")) machines.push_back(machine_of(machine, path));
    return machines;
  } catch (const std::exception& error) {
    fail(ErrorCode::io, "report", path, " is damaged: ", error.what());
  }
}

}  // namespace crisol::cli::report
