#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <string_view>

#include "base/text.h"
#include "cli/apart.h"
#include "cli/doctor/platform.h"
#include "cli/selftest/check.h"
#include "crisol/device.h"
#include "crisol/ops/probe.h"
#include "crisol/tuning.h"
#include "crisol/verification.h"

namespace crisol::cli::doctor {

namespace {

// One op of each family of kernels: some twenty kernels, which compile in seconds.
constexpr std::array<std::string_view, 9> short_selftest = {"mul",       "sum",        "softmax", "matmul",   "conv2d",
                                                            "sort_topk", "layer_norm", "lstm",    "adam_step"};

void fill_probes(Json& facts) {
  facts["probes"] = Json::object();
  for (const ops::ProbeResult& probe : ops::probe_results())
    facts["probes"][probe.name] = probe.found == "none" ? concat("none: ", probe.reason) : probe.found;
}

void fill_selftest(Json& facts, bool all_ops) {
  const auto start = std::chrono::steady_clock::now();
  int compared = 0;
  Json failed = Json::array();
  for (const selftest::Op& op : selftest::all_ops()) {
    if (!all_ops && std::find(short_selftest.begin(), short_selftest.end(), op.name) == short_selftest.end()) continue;
    const selftest::Outcome outcome = selftest::outcome_of(op);
    ++compared;
    if (!outcome.failure.empty())
      failed.push_back({{"op", outcome.op}, {"failure", outcome.failure}, {"variants", outcome.variants}});
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  facts["selftest"] = {{"all", all_ops}, {"ops", compared}, {"failed", failed}, {"seconds", taken.count()}};
}

void fill_verifications(Json& facts) {
  facts["verified_driver"] = is_verified_driver(Device().info());
  facts["verifications"] = Json::array();
  for (const Verification& one : verifications())
    facts["verifications"].push_back(
        {{"op", one.op}, {"variant", one.variant}, {"agrees", one.agrees}, {"detail", one.detail}});
}

void fill_tuning(Json& facts, const DeviceInfo& info) {
  const std::vector<TuningEntry> all = tuning_entries();
  const auto own = std::count_if(all.begin(), all.end(),
                                 [&](const TuningEntry& entry) { return entry.device == tuning_device(info); });
  facts["tuning"] = {{"measured_device", is_measured_device(info)}, {"entries", own}};
}

/// The child's work on one device. Sends the facts before each part, with the part's name, and at the end.
void look_at(std::size_t index, bool all_ops, const Send& send) {
  const Device device = devices().at(index);
  Json facts = Json::parse(to_json(device.info()));
  facts["failures"] = Json::array();
  const auto part = [&](const char* name, const auto& fill) {
    send(Json{{"part", name}, {"facts", facts}}.dump(-1, ' ', false, Json::error_handler_t::replace));
    try {
      fill();
    } catch (const std::exception& error) {
      facts["failures"].push_back({{"part", name}, {"error", error.what()}});
    }
  };
  if (device.info().has_compiler) {
    part("tuning", [&] { fill_tuning(facts, device.info()); });  // It runs nothing, so it comes first.
    part("probes", [&] {
      set_default_device(device);
      fill_probes(facts);
    });
    part("selftest", [&] { fill_selftest(facts, all_ops); });
    part("verifications", [&] { fill_verifications(facts); });  // The selftest makes the library verify variants.
  }
  part("end", [] {});
}

Json facts_of_device(std::size_t index, const std::string& name, bool all_ops) {
  Json facts;
  std::string part = "looking at it";
  const auto receive = [&](const std::string& line) {
    Json told = Json::parse(line);
    part = told.at("part");
    facts = std::move(told.at("facts"));
    if (part == "selftest") std::cerr << name << ": comparing ops with their references\n";
  };
  const Ending ending = run_apart([&](const Send& send) { look_at(index, all_ops, send); }, receive);
  if (facts.is_null()) facts = {{"name", name}, {"failures", Json::array()}};
  if (!ending.fault.empty()) facts["failures"].push_back({{"part", part}, {"error", ending.fault}});
  return facts;
}

void note_problems(const std::string& name, const Json& facts, bool all_ops, Problems& problems) {
  for (const Json& failure : facts.at("failures"))
    problems.push_back(
        {concat(name, ": ", failure.at("part").get<std::string>(), ": ", failure.at("error").get<std::string>()),
         "please report it with this report; until then CRISOL_DEVICE chooses another device"});
  for (const Json& one : facts.value("verifications", Json::array()))
    if (one.at("agrees") != true)
      problems.push_back({concat(name, ": the variant ", one.at("variant").get<std::string>(), " of ",
                                 one.at("op").get<std::string>(), " disagrees: ", one.at("detail").get<std::string>()),
                          "the library passes it over on this driver; please report it with this report"});
  if (!facts.contains("selftest") || facts.at("selftest").at("failed").empty()) return;
  std::string ops;
  for (const Json& op : facts.at("selftest").at("failed"))
    ops += (ops.empty() ? "" : ", ") + op.at("op").get<std::string>();
  problems.push_back({concat(name, ": wrong results of ", ops),
                      all_ops ? "please report it with this report; CRISOL_VARIANT=op:-variant avoids a variant"
                              : "please report it with the output of `crisol doctor --full --json`"});
}

/// The devices: "devices", a list of names; "default", an index or null; "reason", or the error.
Json list_devices(const std::string& spec) {
  Json list{{"devices", Json::array()}, {"default", nullptr}, {"reason", ""}};
  for (const Device device : devices()) list["devices"].push_back(concat(device));
  try {
    const Device chosen = spec.empty() ? Device() : Device(spec);
    list["default"] = chosen.index();
    list["reason"] = spec.empty() ? default_device_reason() : "--device " + spec;
  } catch (const Error& error) {
    list["reason"] = error.what();
  }
  return list;
}

}  // namespace

Json device_facts(const std::string& spec, bool all_ops, Problems& problems) {
  Json list;
  const Ending ending = run_apart(
      [&](const Send& send) { send(list_devices(spec).dump(-1, ' ', false, Json::error_handler_t::replace)); },
      [&](const std::string& line) { list = Json::parse(line); });
  if (list.is_null()) {
    problems.push_back({concat("looking for devices: ", ending.fault),
                        "name one implementation after the other in OCL_ICD_VENDORS to find the one that fails"});
    return {{"default", nullptr}, {"reason", ending.fault}, {"devices", Json::array()}};
  }
  const Json names = std::move(list["devices"]), &chosen = list["default"];
  if (chosen.is_null() && !names.empty())
    problems.push_back({concat("no device is chosen: ", list["reason"].get<std::string>()),
                        "name one of these devices, or leave CRISOL_DEVICE and --device out"});
  list["devices"] = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!spec.empty() && chosen.is_number() && chosen != i) continue;
    const std::string name = names[i];
    Json facts = facts_of_device(i, name, all_ops);
    facts["index"] = i;
    note_problems(name, facts, all_ops, problems);
    list["devices"].push_back(std::move(facts));
  }
  return list;
}

Json opencl_facts(const std::string& spec, bool all_ops, Problems& problems) {
  const std::size_t before = problems.size();
  Json facts = loader_facts(problems);
  facts.update(device_facts(spec, all_ops, problems));
  if (facts.at("devices").empty() && problems.size() == before)
    problems.push_back({"no OpenCL implementation shows a device", words.no_device});
  return facts;
}

}  // namespace crisol::cli::doctor
