// A timeline of backward() on several ranks.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/dist.h"
#include "crisol/trace.h"
#include "doctest/doctest.h"
#include "support/files.h"

using namespace crisol;
using nlohmann::json;

namespace {

struct Times {
  double sum_begins = 0, sum_ends = 0, last_kernel_ends = 0;  ///< In µs. The sum is that of the first bucket.
  int sums = 0;
};

Times times_of(const std::string& path) {
  Times times;
  for (const json& event : json::parse(testing::read_file(path))) {
    if (event.at("ph") != "X") continue;
    const double begin = event.at("ts"), end = begin + event.at("dur").get<double>();
    const std::string name = event.at("name");
    if (event.at("cat") == "kernel") times.last_kernel_ends = std::max(times.last_kernel_ends, end);
    if (name.rfind("sum of gradients, bucket ", 0) != 0) continue;
    ++times.sums;
    if (name.back() != '0') continue;
    times.sum_begins = begin;
    times.sum_ends = end;
  }
  return times;
}

}  // namespace

TEST_CASE("dist: a trace shows that the sum of a bucket begins before the last kernel of backward ends") {
  // The gradients of the first layer, which come last, take most of the time.
  nn::Linear first(700, 600), second(600, 5);
  nn::Sequential net(first, nn::ReLU(), second);
  optim::SGD optimizer(net.parameters(), 0.01);
  dist::DataParallel model(net, {.bucket_bytes = 20000, .first_bucket_bytes = 100});
  const Tensor x = ones({4000, 700});
  const auto step = [&] {
    optimizer.zero_grad();
    sum(model(x)).backward();
  };
  step();
  const CapturedGraph graph = capture(step);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("crisol_dist_trace." + std::to_string(dist::rank()) + ".json"))
          .string();
  for (const bool replays : {false, true}) {
    CAPTURE(replays);
    Times times;
    // On a loaded machine the thread that sums may get no core in time.
    for (int attempt = 0; attempt < 20; ++attempt) {
      synchronize();
      dist::barrier();
      {
        const trace::File file(path);
        replays ? graph.replay() : step();
      }
      times = times_of(path);
      Tensor late = full({}, times.sum_begins < times.last_kernel_ends ? 0.0 : 1.0);
      dist::all_reduce(late, dist::ReduceOp::max);  // All ranks end the attempts together.
      if (late.item<double>() == 0) break;
    }
    CHECK(times.sums == static_cast<int>(model.buckets()));
    CHECK(times.sum_begins > 0);
    CHECK(times.sum_begins < times.last_kernel_ends);
  }
  std::filesystem::remove(path);
}
