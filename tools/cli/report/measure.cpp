#include "cli/report/measure.h"

#include <exception>

#include "cli/bench/report.h"
#include "cli/format.h"
#include "crisol/error.h"
#include "crisol/tuning.h"

namespace crisol::cli::report {

namespace {

struct Case {
  const char* title;
  const char* line;
  const char* quick_title;
  const char* quick_line;
};

const Case cases[] = {
    {"SimpleCNN, training, 64 images", "net net=simplecnn batch=64 mode=train", "SimpleCNN, training, 4 images",
     "net net=simplecnn batch=4 mode=train"},
    {"ResNet-18, inference, 8 images", "net net=resnet18 batch=8 mode=infer", "ResNet-18, inference, 1 image",
     "net net=resnet18 batch=1 mode=infer"},
    {"LSTM of 512, training, 32 sequences of 50", "rnn kind=lstm t=50 b=32 i=256 h=512 dir=train",
     "LSTM of 32, training, 2 sequences of 4", "rnn kind=lstm t=4 b=2 i=16 h=32 dir=train"},
};

void note(Device& report, const char* key, double value) {
  if (value > 0) report.figures[key] = value;
}

void measure_speed(crisol::Device device, Device& report) {
  const DeviceSpeed speed = measured_speed(device);
  note(report, "copy_gbps", speed.copy_gbps);
  note(report, "triad_gbps", speed.triad_gbps);
  note(report, "fp32_gflops", speed.gflops);
  note(report, "launch_us", speed.launch_us);
  note(report, "wait_us", speed.wait_us);
}

void measure_transfer(crisol::Device device, Device& report) {
  const TransferSpeed speed = measure_transfers(device);
  note(report, "to_device_gbps", speed.to_device_gbps);
  note(report, "from_device_gbps", speed.from_device_gbps);
  note(report, "pinned_to_device_gbps", speed.pinned_to_device_gbps);
  note(report, "pinned_from_device_gbps", speed.pinned_from_device_gbps);
}

void measure_compiler(crisol::Device device, Device& report) {
  const CompileTime time = measure_compile(device);
  note(report, "compile_ms", time.source_ms);
  note(report, "load_ms", time.binary_ms);
}

/// Times the workloads, and leaves out a workload whose run would take too long. `gflops` is the expected rate of the
/// next run. It starts as the measured peak.
class Workloads {
 public:
  Workloads(Device& report, bool quick) : report_(report), quick_(quick), gflops_(report.figure("fp32_gflops")) {}

  void time(const Case& what) {
    Workload workload;
    workload.title = quick_ ? what.quick_title : what.title;
    workload.line = quick_ ? what.quick_line : what.line;
    const bench::Request request = bench::parse_line(workload.line);
    const bench::Work work = request.what->prepare(request.values);
    workload.flops = work.flops;
    workload.bytes = work.bytes;
    workload.items = work.items;
    workload.item = work.item;
    const double seconds = gflops_ > 0 ? 1e-9 * work.flops / gflops_ : 0;
    if (seconds > longest_run) {
      workload.left_out = format("a run would take %.0f s at %.3g GFLOP/s", seconds, gflops_);
    } else {
      workload.median_ms = bench::run(request, effort()).timing.median_ms;
      gflops_ = workload.gflops();
    }
    report_.workloads.push_back(workload);
  }

 private:
  static constexpr double longest_run = 5;  // In seconds. Each workload takes eight or more runs.

  bench::Effort effort() const { return quick_ ? bench::Effort{1, 0} : bench::Effort{0, 2}; }

  Device& report_;
  bool quick_;
  double gflops_;
};

std::vector<TunedProblem> tuned_on(const DeviceInfo& info) {
  std::vector<TunedProblem> tuned;
  for (const TuningEntry& entry : tuning_entries())
    if (entry.device == tuning_device(info))
      tuned.push_back({entry.problem, entry.variant, entry.usual, 1e-6 * static_cast<double>(entry.nanoseconds),
                       1e-6 * static_cast<double>(entry.usual_nanoseconds)});
  return tuned;
}

}  // namespace

Device measure(crisol::Device device, bool quick, const Progress& progress) {
  const DeviceInfo& info = device.info();
  Device report{info.name, info.platform, info.driver_version, name_of(info.type), info.global_memory, {}, {},
                {},        tuned_on(info)};
  const auto attempt = [&](const std::string& part, const auto& run) {
    try {
      progress(report, part);
      run();
      device.synchronize();  // Waits for work that a left-out workload has queued, and gets errors that appear late.
    } catch (const std::exception& error) {
      report.failures.push_back({part, error.what()});
    }
  };
  if (!info.has_compiler) {
    report.failures.push_back({"all", "the device has no OpenCL C compiler"});
    return report;
  }
  set_default_device(device);
  attempt("memory, arithmetic and launches", [&] { measure_speed(device, report); });
  attempt("fp16", [&] { note(report, "fp16_gflops", measured_half_gflops(device)); });
  attempt("transfers", [&] { measure_transfer(device, report); });
  attempt("compiling", [&] { measure_compiler(device, report); });
  Workloads workloads(report, quick);
  for (const Case& what : cases) attempt(quick ? what.quick_title : what.title, [&] { workloads.time(what); });
  attempt("giving memory back", [&] { device.release_cached_memory(); });
  return report;
}

}  // namespace crisol::cli::report
