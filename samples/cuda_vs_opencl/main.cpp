// Runs the same work in CUDA and in OpenCL, and with the libraries of each side. It runs all that this machine can run,
// checks the results against a computation on the host, and times them.
//
//     cuda_vs_opencl [--small] [--weights FILE] [--device DEVICE] [--json FILE]
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>

#include "common/json_output.h"
#include "common/options.h"
#include "crisol_side.h"
#include "problems.h"

namespace {

using namespace twins;

/// A result is correct when its error is below this fraction of the largest value. The results are fp32 sums of some
/// thousand products.
constexpr double tolerance = 1e-4;

struct Sides {
  std::vector<std::unique_ptr<Side>> present;
  std::vector<std::pair<std::string, std::string>> missing;  ///< Name and reason.
};

Sides find_sides() {
  Sides sides;
  const auto add = [&](const char* name, const std::function<std::unique_ptr<Side>()>& make) {
    try {
      sides.present.push_back(make());
    } catch (const std::exception& error) {
      sides.missing.emplace_back(name, error.what());
    }
  };
  const crisol::DeviceInfo& info = crisol::Device().info();
  add("CUDA C++", cuda_side);
  add("cuBLAS, cuDNN", cuda_libraries_side);
  add("OpenCL", [&] { return opencl_side(info.platform, info.name); });
  add("crisol", crisol_side);
  return sides;
}

struct Run {
  std::string task, side;
  double ms, error;
};

class Comparison {
 public:
  explicit Comparison(const Sides& sides) : sides_(sides) {}

  template <class Task>
  void compare(const char* name, const Task& task) {
    const Floats right = expected(task);
    for (const std::unique_ptr<Side>& side : sides_.present) {
      const std::optional<Timed> result = side->run(task);
      if (!result) continue;
      const double error = error_of(result->values, right);
      runs_.push_back({name, side->name(), result->ms, error});
      std::printf("%-34s %-14s %10.3f ms   off by %.1e%s\n", name, side->name().c_str(), result->ms, error,
                  error < tolerance ? "" : "  WRONG");
    }
  }

  bool all_right() const {
    return std::all_of(runs_.begin(), runs_.end(), [](const Run& run) { return run.error < tolerance; });
  }
  const std::vector<Run>& runs() const { return runs_; }

 private:
  const Sides& sides_;
  std::vector<Run> runs_;
};

std::string to_json(const Sides& sides, const Comparison& comparison) {
  nlohmann::ordered_json json{{"sides", nlohmann::ordered_json::object()},
                              {"not_run", nlohmann::ordered_json::object()}};
  for (const auto& side : sides.present) json["sides"][side->name()] = side->device();
  for (const auto& [name, reason] : sides.missing) json["not_run"][name] = reason;
  json["runs"] = nlohmann::ordered_json::array();
  for (const Run& run : comparison.runs())
    json["runs"].push_back({{"task", run.task}, {"side", run.side}, {"ms", run.ms}, {"error", run.error}});
  return json.dump(2);
}

int run(bool small, const std::string& weights, const std::string& json_path) {
  samples::JsonOutput json(json_path);
  const Problems problems = make_problems(small, weights);
  const Sides sides = find_sides();
  for (const auto& side : sides.present) std::printf("%-14s on %s\n", side->name().c_str(), side->device().c_str());
  for (const auto& [name, reason] : sides.missing) std::printf("%-14s not run: %s\n", name.c_str(), reason.c_str());
  std::printf("\n");
  Comparison comparison(sides);
  comparison.compare("ReLU chain", problems.relu_chain);
  comparison.compare("matrix product", problems.sgemm);
  comparison.compare("3 x 3 convolution, bias, ReLU", problems.conv3x3);
  comparison.compare("LSTM gates", problems.lstm_gates);
  comparison.compare("SimpleCNN, one digit", problems.simple_cnn);
  if (!weights.empty()) {
    const Floats logits = expected(problems.simple_cnn);
    std::printf("\nthe digit is a %d, read as %d\n", problems.digit,
                static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
  }
  json.write(to_json(sides, comparison));
  json.finish();
  return comparison.all_right() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs the same work in CUDA and in OpenCL, as far as this machine can, checks it and times it");
  std::string device, weights, json;
  bool small = false;
  samples::add_device(app, device);
  app.add_flag("--small", small, "Small sizes, for checks only: the times mean nothing");
  app.add_option("--weights", weights, "SimpleCNN's weights, a file of `mnist train --weights` (default: random)");
  app.add_option("--json", json, samples::json_help);
  CLI11_PARSE(app, argc, argv);
  try {
    if (!device.empty()) crisol::set_default_device(crisol::Device(device));
    return run(small, weights, json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_vs_opencl: %s\n", error.what());
    return 1;
  }
}
