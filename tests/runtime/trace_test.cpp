// Timelines: the file is read as JSON, and its events are compared with what ran.
#include "crisol/trace.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using nlohmann::json;
using testing::read_file;
using testing::TemporaryFolder;

namespace {

using Row = std::pair<int, int>;  // Process and thread.

struct Slice {
  double start, end;
  json event;
};

/// Times in the file have three digits after the point, so sums are a little inexact.
constexpr double rounding = 0.002;

class WrittenTimeline {
 public:
  explicit WrittenTimeline(const std::string& path) : events_(json::parse(read_file(path))) {
    for (const json& event : events_)
      if (event.at("ph") == "X")
        rows_[row_of(event)].push_back(
            {event.at("ts"), event.at("ts").get<double>() + event.at("dur").get<double>(), event});
    for (auto& [row, slices] : rows_)
      std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
        return a.start != b.start ? a.start < b.start : a.end > b.end;
      });
  }

  const std::map<Row, std::vector<Slice>>& rows() const { return rows_; }

  std::vector<json> select(const char* phase, const char* category = "", const std::string& name = "") const {
    std::vector<json> found;
    for (const json& event : events_)
      if (event.at("ph") == phase && (*category == 0 || event.at("cat") == category) &&
          (name.empty() || event.at("name") == name))
        found.push_back(event);
    return found;
  }

  static Row row_of(const json& event) { return {event.at("pid"), event.at("tid")}; }

  bool is_in_slice(const json& event) const {
    const double at = event.at("ts");
    const auto found = rows_.find(row_of(event));
    return found != rows_.end() && std::any_of(found->second.begin(), found->second.end(), [&](const Slice& slice) {
             return slice.start - rounding <= at && at <= slice.end + rounding;
           });
  }

  /// Slices of a row lie inside each other or one after the other, and arrows go from slice to slice.
  void check_form() const {
    std::set<Row> named;
    for (const json& event : select("M"))
      if (event.at("name") == "thread_name") named.insert(row_of(event));
    for (const auto& [row, slices] : rows_) {
      CHECK(named.count(row) == 1);
      std::vector<double> open;
      for (const Slice& slice : slices) {
        while (!open.empty() && open.back() <= slice.start + rounding) open.pop_back();
        CAPTURE(slice.event.dump());
        CHECK(slice.end >= slice.start);
        if (!open.empty()) CHECK(slice.end <= open.back() + rounding);
        // A queue runs one command at a time. Clocks of devices may be too coarse for short commands.
        if (row.first != 0 && slice.end > slice.start + rounding) CHECK(open.empty());
        open.push_back(slice.end);
      }
    }
    for (const char* name : {"launch", "backward"}) check_arrows(name);
  }

 private:
  void check_arrows(const char* name) const {
    constexpr double clocks_differ = 1000;
    std::map<std::uint64_t, json> starts;
    for (const json& start : select("s", "flow", name)) {
      CHECK(starts.emplace(start.at("id"), start).second);
      CHECK_MESSAGE(is_in_slice(start), start.dump());
    }
    std::set<std::uint64_t> ended;
    for (const json& end : select("f", "flow", name)) {
      const auto start = starts.find(end.at("id"));
      REQUIRE(start != starts.end());
      CHECK(ended.insert(start->first).second);
      CHECK(end.at("ts").get<double>() + clocks_differ >= start->second.at("ts").get<double>());
      CHECK_MESSAGE(is_in_slice(end), end.dump());
    }
    if (std::string(name) == "launch") CHECK(ended.size() == starts.size());
  }

  json events_;
  std::map<Row, std::vector<Slice>> rows_;
};

struct Step {
  Tensor x = ones({2, 1, 9, 9}), weight = full({3, 1, 3, 3}, 0.1).requires_grad_();

  Tensor run() {
    Tensor loss = sum(relu(conv2d(x, weight)));
    loss.backward();
    return loss;
  }
};

}  // namespace

TEST_CASE("trace: each op with its variant, its kernels and arrows to them") {
  const TemporaryFolder folder;
  Step().run().item();  // Compiles.
  Step step;
  std::int64_t launches = 0;
  {
    const trace::File file(folder.path() + "/trace.json");
    CHECK(trace::active());
    const Profile profile;
    {
      const trace::Scope scope("the \"step\" of é");
      step.run().item();
    }
    for (const ProfileRow& row : profile.rows()) launches += row.launches;
  }
  CHECK_FALSE(trace::active());
  const WrittenTimeline trace(folder.path() + "/trace.json");
  trace.check_form();
  CHECK(trace.select("X", "scope", "the \"step\" of é").size() == 1);

  const std::vector<json> kernels = trace.select("X", "kernel");
  CHECK(static_cast<std::int64_t>(kernels.size()) == launches);
  std::set<std::string> ops;
  for (const json& kernel : kernels) ops.insert(kernel.at("args").value("op", ""));
  for (const char* op : {"conv2d", "relu", "conv2d_backward_weight"}) {
    CAPTURE(std::string(op));
    CHECK(ops.count(op) == 1);
    const std::vector<json> calls = trace.select("X", "op", op);
    REQUIRE_FALSE(calls.empty());  // The gradient of relu is called relu too.
    CHECK_FALSE(calls[0].at("args").at("variant").get<std::string>().empty());
    CHECK(calls[0].at("args").at("memory of operands").get<std::string>().find("(2, ") != std::string::npos);
  }
  const std::string problem = trace.select("X", "op", "conv2d")[0].at("args").at("problem");
  CHECK(problem.rfind("conv2d ", 0) == 0);
  CHECK(trace.select("X", "download").size() == 1);
  CHECK(trace.select("C").size() > 4);
  CHECK(trace.select("C")[0].at("args").at("bytes").get<std::uint64_t>() > 0);
}

TEST_CASE("trace: backward has a row of its own, with arrows from the ops") {
  const TemporaryFolder folder;
  Step step;
  {
    const trace::File file(folder.path() + "/trace.json");
    step.run();
  }
  const WrittenTimeline trace(folder.path() + "/trace.json");
  trace.check_form();
  const std::vector<json> whole = trace.select("X", "backward", "backward");
  REQUIRE(whole.size() == 1);
  for (const char* op : {"sum", "relu", "conv2d"}) {
    CAPTURE(std::string(op));
    const std::vector<json> nodes = trace.select("X", "backward", op);
    REQUIRE(nodes.size() == 1);
    CHECK(nodes[0].at("tid") == whole[0].at("tid").get<int>() + 1);
    CHECK(nodes[0].at("ts") >= whole[0].at("ts"));
  }
  CHECK(trace.select("f", "flow", "backward").size() == 3);
}

TEST_CASE("trace: threads, uploads, copies and compilations") {
  const TemporaryFolder folder;
  static int unique = 0;
  {
    const trace::File file(folder.path() + "/trace.json");
    const Tensor x = from_vector(std::vector<float>(1000, 1), {1000});
    std::thread other([&] { CHECK(exp(x).to_vector<float>()[0] > 2.7f); });
    other.join();
    const Tensor copy = x.clone();
    synchronize();
    Device().release_cached_memory();
    const Tensor large = empty({12345678 + ++unique});
  }
  const WrittenTimeline trace(folder.path() + "/trace.json");
  trace.check_form();
  CHECK(trace.select("X", "upload").size() == 1);
  CHECK(trace.select("X", "transfer", "upload").size() == 1);
  CHECK(trace.select("X", "wait").size() >= 1);
  CHECK(trace.select("X", "memory", "new buffer").size() >= 1);
  const std::vector<json> calls = trace.select("X", "op", "exp");
  REQUIRE(calls.size() == 1);
  CHECK(WrittenTimeline::row_of(calls[0]) != WrittenTimeline::row_of(trace.select("X", "transfer", "upload")[0]));
}

TEST_CASE("trace: a replay shows its kernels") {
  const TemporaryFolder folder;
  Tensor x = ones({100}), y;
  const auto work = [&] { y = relu(x * 2.0) + x; };
  work();
  const CapturedGraph graph = capture(work);
  {
    const trace::File file(folder.path() + "/trace.json");
    graph.replay();
    graph.replay();
  }
  const WrittenTimeline trace(folder.path() + "/trace.json");
  trace.check_form();
  CHECK(trace.select("X", "replay", "replay").size() == 2);
  CHECK(trace.select("X", "kernel").size() + trace.select("X", "copy").size() + trace.select("X", "fill").size() ==
        2 * graph.size());
  CHECK(y.to_vector<float>()[99] == 3.0f);
}

TEST_CASE("trace: one at a time, to a file that can be written") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/trace.json";
  {
    const trace::File file(path);
    CHECK(testing::refusal(ErrorCode::invalid_argument, [&] { trace::start(folder.path() + "/other.json"); }) ==
          doctest::Contains(("[trace] a timeline is being written to " + path).c_str()));
    ones({3});
  }
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/other.json"));
  CHECK_NOTHROW(trace::stop());
  CHECK(testing::refusal(ErrorCode::io, [&] { trace::start(folder.path() + "/no/trace.json"); }) ==
        doctest::Contains("[trace] cannot write "));
  CHECK_FALSE(trace::active());
  {
    const trace::Scope without_a_timeline("nothing");
    const trace::File again(path);
  }
  const WrittenTimeline trace(path);
  CHECK(trace.select("X", "op").empty());
  CHECK(trace.select("X", "scope").empty());
}

TEST_CASE("child: works and ends by exit()" * doctest::skip()) {
  const Tensor x = relu(ones({10}));
  std::exit(7);
}

TEST_CASE("child: works and throws what nobody catches" * doctest::skip()) {
  const Tensor x = relu(ones({10}));
  std::thread([] { throw std::runtime_error("nobody catches this"); }).join();
}

TEST_CASE("trace: CRISOL_TRACE, also when the process ends early") {
  if (testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const TemporaryFolder folder;
  for (const char* child : {"child: works and ends by exit()", "child: works and throws what nobody catches"}) {
    CAPTURE(std::string(child));
    const std::string path = folder.path() + "/trace-" + (child[17] == 'e' ? "exit" : "throw") + ".json";
    const testing::ProcessResult result = testing::run_child(child, {{"CRISOL_TRACE", path}});
    CHECK(result.status != 0);
    REQUIRE_MESSAGE(std::filesystem::exists(path), result.output);
    const WrittenTimeline trace(path);
    trace.check_form();
    CHECK(trace.select("X", "op", "relu").size() == 1);
    CHECK(trace.select("X", "kernel").size() >= 1);
    CHECK(trace.select("X", "compile").size() >= 1);
  }
  testing::run_child("child: works and ends by exit()", {{"CRISOL_TRACE", folder.path() + "/of-%p.json"}});
  int of_process = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    of_process += entry.path().filename().string().rfind("of-", 0) == 0 &&
                  entry.path().filename().string().find('%') == std::string::npos;
  CHECK(of_process == 1);
}
