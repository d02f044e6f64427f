// `crisol report`: a quick measurement, and reports of other machines, read from files that the tests write.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "crisol/device.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;
using nlohmann::json;

namespace {

ProcessResult report(const std::vector<std::string>& arguments, const Environment& environment = {}) {
  return run_built("crisol", std::vector<std::string>{"report"} + arguments, environment);
}

/// A device with 1000 GFLOP/s and 100 GB/s, and a memory-bound workload of 2e9 operations and 1e9 bytes. The workload
/// takes 10 ms at best, and 20 ms as measured.
json card(const std::string& name) {
  return {{"name", name},
          {"platform", "Some <OpenCL>"},
          {"driver", "1.2"},
          {"type", "gpu"},
          {"memory_bytes", 8000000000},
          {"figures", {{"copy_gbps", 100.0}, {"triad_gbps", 90.0}, {"fp32_gflops", 1000.0}, {"launch_us", 3.5}}},
          {"workloads",
           {{{"title", "a net"},
             {"case", "net"},
             {"flops", 2e9},
             {"bytes", 1e9},
             {"items", 8.0},
             {"item", "images"},
             {"median_ms", 20.0}},
            {{"title", "a long one"},
             {"case", "net"},
             {"flops", 2e9},
             {"bytes", 1e9},
             {"items", 8.0},
             {"item", "images"},
             {"left_out", "too long"}}}},
          {"failures", {{{"part", "transfers"}, {"error", "[write] CL_OUT_OF_RESOURCES"}}}}};
}

json machine_with(const json& device) {
  return {{"format", "crisol report"},
          {"version", 1},
          {"machines",
           {{{"name", ""}, {"date", "2026-11-21"}, {"crisol", "0.1.0"}, {"quick", false}, {"devices", {device}}}}}};
}

}  // namespace

TEST_CASE("report: measures the device, as JSON and as a page" * doctest::test_suite("long")) {
  NEEDS_CRISOL();
  if (few_images_only()) CRISOL_SKIP("networks take too long here");
  const TemporaryFolder folder;
  const std::string page = folder.path() + "/page.html";
  const ProcessResult result = report({"--quick", "--json", "--name", "mine", "--html", page});
  INFO(result.output);
  REQUIRE(result.status == 0);
  const json machine = json::parse(result.out).at("machines").at(0);
  CHECK(machine.at("name") == "mine");
  CHECK(machine.at("quick") == true);
  json found;
  for (const json& device : machine.at("devices"))
    if (device.at("name") == Device().name()) found = device;
  REQUIRE(found.is_object());
  CHECK(found.at("failures").empty());
  const json& figures = found.at("figures");
  for (const char* key : {"copy_gbps", "triad_gbps", "fp32_gflops", "to_device_gbps", "pinned_to_device_gbps",
                          "from_device_gbps", "pinned_from_device_gbps", "launch_us", "wait_us", "compile_ms"})
    CHECK_MESSAGE(figures.value(key, 0.0) > 0, key);
  CHECK(figures.contains("fp16_gflops") == Device().info().fp16);
  CHECK(found.at("tuned").is_array());
  REQUIRE(found.at("workloads").size() == 3);
  for (const json& workload : found.at("workloads")) {
    CHECK(workload.at("roofline_ms").get<double>() > 0);
    if (contains(workload.value("left_out", ""), "a run would take ")) continue;  // Slow machines leave it out.
    const double ms = workload.at("median_ms");
    CHECK(workload.at("per_second").get<double>() * ms == doctest::Approx(1e3 * workload.at("items").get<double>()));
  }
  const std::string html = read_file(page);
  CHECK(contains(html, "<svg class=\"plot\""));
  CHECK(contains(html, "SimpleCNN, training"));
}

TEST_CASE("report: several machines together, with what failed, beside specifications") {
  NEEDS_CRISOL();
  const TemporaryFolder folder;
  const std::string one = folder.path() + "/lab.json", two = folder.path() + "/home.json";
  const std::string page = folder.path() + "/page.html";
  write_file(one, machine_with(card("Card A")).dump());
  json other = card("Card B");
  other["figures"] = {{"launch_us", 2.0}};  // Its other measurements failed.
  const auto tuned = [](const char* problem, const char* variant, double ms, double usual_ms) {
    return json{{"problem", problem}, {"variant", variant}, {"ms", ms}, {"usual", "block"}, {"usual_ms", usual_ms}};
  };
  other["tuned"] = {tuned("matmul m=1", "block/64x64", 2, 3), tuned("matmul m=2", "clblast", 1, 4),
                    tuned("matmul m=3", "block", 2, 2), tuned("matmul m=4", "block", 0, 0)};
  write_file(two, machine_with(other).dump());

  const ProcessResult text = report({"--merge", one, two, "--cards", "--html", page});
  INFO(text.output);
  REQUIRE(text.status == 0);
  for (const char* part :
       {"lab, 2026-11-21", "home, 2026-11-21", "Card A", "Card B", "copy 100.0 GB/s", "among many 3.50 us", "20.00 ms",
        "400 images/s", "10.00 ms", "50 %", "left out: too long", "FAILED", "[write] CL_OUT_OF_RESOURCES",
        "tuned       3 problems, of which 2 have a better variant than the usual one; 1 more as usual",
        "4.00 x  clblast 1.00 ms, block 4.00 ms: matmul m=2", "1.50 x  block/64x64 2.00 ms, block 3.00 ms: matmul m=1",
        "measured      lab: Card A", "specification GeForce RTX 4090", "specification H100 SXM"})
    CHECK_MESSAGE(contains(text.output, part), part);

  const std::string html = read_file(page);
  for (const char* part :
       {"lab: Card A", "home: Card B", "Some &lt;OpenCL&gt;", "left out: a long one", "failed: transfers",
        "class=\"roof c0\"", "specification: TechPowerUp 2025", "prefers-color"})
    CHECK_MESSAGE(contains(html, part), part);
  CHECK_FALSE(contains(html, "<script"));
  CHECK_FALSE(contains(html, "class=\"roof c1\""));  // Card B has no peak.
  CHECK_FALSE(contains(html, "http"));               // Nothing is loaded.

  const ProcessResult nearest = report({"--merge", one});
  CHECK(contains(nearest.output, "measured      Card A"));
  CHECK(contains(nearest.output, "more specifications: --cards shows them."));
  CHECK_FALSE(contains(nearest.output, "H100 SXM"));  // Far above 100 GB/s.
  CHECK(contains(html, "<details>"));
  CHECK(contains(html, "class=\"bar c0\""));

  const ProcessResult merged = report({"--merge", one, two, "--json"});
  REQUIRE(merged.status == 0);
  const json machines = json::parse(merged.out).at("machines");
  REQUIRE(machines.size() == 2);
  CHECK(machines.at(0).at("name") == "lab");
  CHECK(machines.at(0).at("devices").at(0).at("workloads").at(0).at("roofline_ms") == doctest::Approx(10));
  CHECK_FALSE(machines.at(1).at("devices").at(0).at("workloads").at(0).contains("roofline_ms"));
  CHECK(machines.at(0).at("devices").at(0).at("tuned").empty());
  CHECK(machines.at(1).at("devices").at(0).at("tuned").size() == 4);
  const std::string both = folder.path() + "/both.json";
  write_file(both, merged.out);
  CHECK(report({"--merge", both, "--json"}).out == merged.out);
}

TEST_CASE("report: a page of one device has no bars in which nothing is compared") {
  NEEDS_CRISOL();
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/lab.json", page = folder.path() + "/page.html";
  write_file(file, machine_with(card("Card A")).dump());
  REQUIRE(report({"--merge", file, "--html", page}).status == 0);
  const std::string html = read_file(page), own = html.substr(0, html.find("Among public specifications"));
  CHECK_FALSE(contains(own, "class=\"bar"));
  CHECK(contains(own, "<table class=\"figures\">\n<tr><td class=\"\">a net</td><td class=\"n\">400 images/s"));
  const std::string first = html.substr(own.size(), html.find("<details>") - own.size());
  CHECK(contains(first, "Card A"));
  int rows = 0;
  for (std::size_t at = first.find("class=\"spec\"><td"); at != std::string::npos;
       at = first.find("class=\"spec\"><td", at + 1))
    ++rows;
  CHECK(rows >= 3);
  CHECK(rows <= 6);
}

TEST_CASE("report: files that are no reports are named, with the reason") {
  NEEDS_CRISOL();
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/bad.json";
  const auto refused = [&](const std::string& content, const char* reason) {
    write_file(file, content);
    const ProcessResult result = report({"--merge", file});
    CAPTURE(content);
    CHECK(result.status == 1);
    CHECK_MESSAGE(contains(result.output, "bad.json"), result.output);
    CHECK_MESSAGE(contains(result.output, reason), result.output);
  };
  refused("", "not JSON");
  refused("{\"format\":", "not JSON");
  refused("[1, 2]", "not a report");
  refused("{\"version\": 1}", "not a report");
  json later = machine_with(card("A"));
  later["version"] = 2;
  refused(later.dump(), "version 2, this program reads version 1");
  json damaged = machine_with(card("A"));
  damaged["machines"][0]["devices"][0].erase("platform");
  refused(damaged.dump(), "damaged");
  json negative = machine_with(card("A"));
  negative["machines"][0]["devices"][0]["figures"]["copy_gbps"] = -1;
  refused(negative.dump(), "copy_gbps is -1");
  for (const std::string& path : {folder.path() + "/none.json", folder.path()}) {
    const ProcessResult result = report({"--merge", path});
    CHECK(result.status == 1);
    CHECK(contains(result.output, "cannot read " + path));
  }
  const ProcessResult unwritable = report({"--merge", file, "--html", folder.path() + "/no/page.html"});
  CHECK(unwritable.status == 1);
  CHECK(contains(unwritable.output, "cannot write to"));
}

TEST_CASE("report: a device that fails is shown with its errors") {
  NEEDS_CRISOL();
  const TemporaryFolder folder;  // It contains no kernels, so none can be built.
  const ProcessResult result = report({"--quick", "--device", "0:0"}, {{"CRISOL_KERNEL_PATH", folder.path()}});
  INFO(result.output);
  CHECK(contains(result.output, "FAILED      memory, arithmetic and launches: [kernels]"));
  CHECK(contains(result.output, "measure/probe.cl"));
  CHECK(contains(result.output, "compile"));  // Measured, as it needs no kernel of the library.
  CHECK(result.status == 0);
}

TEST_CASE("report: a driver that crashes costs its own device alone") {
  NEEDS_CRISOL();
  NEEDS_POSIX("a process for each device");
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("a kernel that crashes PoCL");
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/measure");
  write_file(folder.path() + "/measure/probe.cl",
             "__kernel void probe_empty(int at) { ((volatile __global int*)8)[at] = 1; }\n");
  const ProcessResult result = report({"--quick", "--json"}, {{"CRISOL_KERNEL_PATH", folder.path()}});
  INFO(result.output);
  CHECK(result.status == 1);  // There was nothing else to measure.
  CHECK(contains(result.output, Device().name()));
  CHECK(contains(result.output, "its process ended with signal "));
}

TEST_CASE("report: without any device it says what to install") {
  NEEDS_CRISOL();
  NEEDS_POSIX("an OpenCL loader that reads .icd files");
  const TemporaryFolder folder;
  const ProcessResult result = report({"--quick"}, {{"OCL_ICD_VENDORS", folder.path()}, {"OCL_ICD_FILENAMES", ""}});
  INFO(result.output);
  CHECK(result.status == 1);
  CHECK(contains(result.output, "no OpenCL platform"));
}
