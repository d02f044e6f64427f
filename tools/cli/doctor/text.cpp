#include <sstream>

#include "base/bytes_text.h"
#include "base/text.h"
#include "cli/doctor/doctor.h"
#include "cli/format.h"
#include "cli/terminal.h"

namespace crisol::cli::doctor {

namespace {

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string size_text(const Json& object, const char* key) { return bytes_text(object.value(key, std::uint64_t{0})); }

void add(std::ostream& out, const char* name, const std::string& value) {
  out << "  " << format("%-12s ", name) << value << '\n';
}

void print_place(std::ostream& out, const char* name, const Json& place) {
  if (place.at("path").is_null()) return add(out, name, "none");
  std::string line = text(place, "path");
  if (place.value("exists", false))
    line += ", " + text(place, "permissions") + " of " + text(place, "owner");
  else
    line += ", not there yet";
  if (place.contains("writable")) line += place.at("writable") == true ? ", writable" : ", NOT writable";
  if (place.contains("programs"))
    line += concat(", ", text(place, "programs"), " programs and ", text(place, "probes"), " outcomes of probes in ",
                   size_text(place, "bytes"), ", ", size_text(place, "free_bytes"), " free");
  if (place.contains("entries")) line += ", " + text(place, "entries") + " entries";
  add(out, name, line);
}

void print_loader(std::ostream& out, const Json& opencl) {
  const Json& loader = opencl.at("loader");
  add(out, "loader", concat(text(loader, "path"), loader.contains("name") ? ", " : "", text(loader, "name")));
  for (const Json& one : opencl.at("implementations"))
    add(out, "registered",
        concat(text(one, "file"), ": ", text(one, "library"),
               one.contains("error") ? ", CANNOT BE LOADED: " + text(one, "error")
                                     : concat(", loads, platforms: ", text(one, "platforms"))));
}

std::string limits_of(const Json& device) {
  return concat(text(device, "compute_units"), " compute units, ", size_text(device, "global_memory"), " memory, ",
                size_text(device, "max_allocation"), " in one buffer, ", size_text(device, "local_memory"), " local, ",
                text(device, "max_work_group"), " work-items a group, float vectors of ",
                text(device, "native_float_width"), " lanes", device.value("fp16", false) ? ", fp16" : "",
                device.value("fp64", false) ? ", fp64" : "");
}

void print_selftest(std::ostream& out, const Json& selftest) {
  const auto ops = selftest.at("ops").get<std::size_t>(), failed = selftest.at("failed").size();
  add(out, "selftest",
      concat(failed == 0 ? "passed" : bold("FAILED"), ": ", ops - failed, " of ", ops, " ops agree with the references",
             selftest.at("all") == true ? "" : "; --full compares all"));
  for (const Json& op : selftest.at("failed"))
    add(out, "", concat(text(op, "op"), " (", text(op, "variants"), "): ", text(op, "failure")));
}

void print_verified(std::ostream& out, const Json& device) {
  if (!device.contains("verifications")) return;
  std::size_t agree = 0;
  for (const Json& one : device.at("verifications")) agree += one.at("agrees") == true;
  add(out, "verified",
      concat(device.at("verified_driver") == true ? "the tests ran with this driver"
                                                  : "the tests have never run with this driver",
             "; variants tried here: ", device.at("verifications").size(), ", of which ", agree, " agree"));
  for (const Json& one : device.at("verifications"))
    if (one.at("agrees") != true)
      add(out, "", concat(text(one, "op"), ':', text(one, "variant"), " DISAGREES: ", text(one, "detail")));
}

// A recommendation, and no problem: the results are right either way.
void print_tuning(std::ostream& out, const Json& device) {
  if (!device.contains("tuning")) return;
  const Json& tuning = device.at("tuning");
  const std::string stored = text(tuning, "entries") + " tuned problems are stored";
  if (tuning.at("measured_device") == true)
    return add(out, "tuning", "the rules that choose kernels were measured on such devices; " + stored);
  add(out, "tuning", "the rules that choose kernels were never measured on such a device; " + stored);
  add(out, "", "Recommended: CRISOL_TUNE=first, with which programs time the kernels of their shapes at first use,");
  add(out, "", "or `crisol tune`. `crisol tune --share FILE` writes a file to send to the project.");
}

void print_device(std::ostream& out, const Json& device, const Json& chosen) {
  const bool is_default = device.at("index") == chosen;
  out << '\n' << bold((is_default ? "Default device: " : "Device: ") + text(device, "name")) << '\n';
  if (device.contains("platform")) {
    add(out, "platform", text(device, "platform") + ", by " + text(device, "platform_vendor"));
    add(out, "device",
        concat(text(device, "type"), " of ", text(device, "vendor"), ", ", text(device, "device_version"), ", ",
               text(device, "opencl_c_version")));
    add(out, "driver", text(device, "driver_version"));
    add(out, "limits", limits_of(device));
    add(out, "extensions", text(device, "extensions"));
    if (device.value("has_compiler", true) == false) add(out, "compiler", "none: crisol cannot use this device");
  }
  if (device.contains("probes"))
    for (const auto& [name, found] : device.at("probes").items()) add(out, name.c_str(), found.get<std::string>());
  print_verified(out, device);
  print_tuning(out, device);
  if (device.contains("selftest")) print_selftest(out, device.at("selftest"));
  for (const Json& failure : device.at("failures"))
    add(out, "FAILED", text(failure, "part") + ": " + text(failure, "error"));
}

}  // namespace

std::string text_of(const Json& report) {
  std::ostringstream out;
  const Json &crisol = report.at("crisol"), &system = report.at("system"), &opencl = report.at("opencl");
  out << bold("crisol " + text(crisol, "version")) << ", " << text(report, "date") << '\n';
  add(out, "build",
      concat(text(crisol, "build"), ", ", text(crisol, "compiler"), ", ", text(crisol, "library"), ", ",
             text(crisol, "architecture")));
  add(out, "system",
      concat(text(system, "system"), ", ", text(system, "kernel"), ", ", text(system, "threads"), " threads, ",
             size_text(system, "memory"), " memory, ", size_text(system, "available_memory"), " available"));
  for (const auto& [name, value] : report.at("environment").items())
    add(out, "environment", name + "=" + value.get<std::string>());
  const Json& folders = report.at("folders");
  print_place(out, "programs", folders.at("programs"));
  print_place(out, "tuning", folders.at("tuning"));
  print_place(out, "verified", folders.at("verified"));
  print_loader(out, opencl);
  for (const Json& device : opencl.at("devices")) print_device(out, device, opencl.at("default"));
  if (opencl.at("default").is_number()) out << "\nWhy this is the default device: " << text(opencl, "reason") << '\n';
  const Json& problems = report.at("problems");
  if (problems.empty()) {
    out << '\n' << bold("No problem was found.") << '\n';
    return out.str();
  }
  out << '\n' << bold(concat("Problems: ", problems.size())) << '\n';
  for (const Json& problem : problems)
    out << "- " << text(problem, "problem") << "\n  What to do: " << text(problem, "remedy") << '\n';
  return out.str();
}

}  // namespace crisol::cli::doctor
