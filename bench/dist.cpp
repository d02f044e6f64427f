// crisol_dist_bench [MODEL [BATCH [STEPS [SIZE]]]]: measures training on the ranks of mpirun, and prints JSON on rank
// 0.
//
// MODEL is mlp, lstm or resnet18. BATCH is the batch of all ranks together. The images of resnet18 have SIZE x SIZE
// pixels (64). The figures:
//   step_ms       a step with the sums of gradients
//   local_ms      a step without them: the difference is the time that backward does not hide
//   serial_ms     a step with the sums after backward
//   processor_ms  processor time of a step with sums, all ranks together
//   hidden        the share of the sums that backward hides: (serial - step) / (serial - local)
//   gradients     by parameter: its bytes, and when its gradient is complete, in ms from the begin of a step
//   all_reduce    sums of one tensor: bytes and ms
// bench/scaling.py reads the output.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/dist.h"

namespace {

using namespace crisol;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Task {
  std::shared_ptr<nn::Module> module;
  std::function<Tensor()> loss;
};

struct CharNet : nn::Module {
  nn::Embedding embedding{96, 64};
  nn::LSTM lstm{64, 256, {.num_layers = 2}};
  nn::Linear out{256, 96};
  CharNet() {
    register_module("embedding", embedding);
    register_module("lstm", lstm);
    register_module("out", out);
  }
};

Task task_of(const std::string& model, std::int64_t batch, std::int64_t image_size) {
  manual_seed(1);
  if (model == "mlp") {
    const auto net = std::make_shared<nn::Sequential>(nn::Linear(784, 1024), nn::ReLU(), nn::Linear(1024, 1024),
                                                      nn::ReLU(), nn::Linear(1024, 10));
    const Tensor x = randn({batch, 784}), labels = zeros({batch}, DType::i64);
    return {net, [net, x, labels] { return cross_entropy((*net)(x), labels); }};
  }
  if (model == "lstm") {
    const auto net = std::make_shared<CharNet>();
    const Tensor x = zeros({64, batch}, DType::i64), labels = zeros({64 * batch}, DType::i64);
    return {net, [net, x, labels] {
              const Tensor y = net->lstm(net->embedding(x));
              return cross_entropy(net->out(y).reshape({-1, 96}), labels);
            }};
  }
  const auto net = std::make_shared<nn::ResNet>(nn::resnet18());
  const Tensor x = randn({batch, 3, image_size, image_size}), labels = zeros({batch}, DType::i64);
  return {net, [net, x, labels] { return cross_entropy((*net)(x), labels); }};
}

/// Medians of steps in ms.
struct Steps {
  double with_sums, without, serial, processor;
};

/// All threads of this process.
double processor_ms() { return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// The kinds of steps take turns, so that all see the same load of the machine.
Steps measure_steps(const Task& task, int steps) {
  optim::SGD optimizer(task.module->parameters(), {.lr = 1e-4, .momentum = 0.9});
  dist::DataParallel parallel(*task.module), serial(*task.module, {.overlap = false});
  const auto step = [&](bool overlaps, bool sums) {
    parallel.set_sync(sums && overlaps);
    serial.set_sync(sums && !overlaps);
    dist::barrier();
    const Clock::time_point start = Clock::now();
    optimizer.zero_grad();
    task.loss().backward();
    optimizer.step();
    synchronize();
    return ms_since(start);
  };
  for (int i = 0; i < 3; ++i) step(true, true), step(false, true);
  std::vector<double> with_sums, without, after, processor;
  for (int i = 0; i < steps; ++i) {
    const double before = processor_ms();
    with_sums.push_back(step(true, true));
    processor.push_back(processor_ms() - before);
    without.push_back(step(true, false));
    after.push_back(step(false, true));
  }
  Tensor of_all = full({}, median(processor));
  dist::all_reduce(of_all);
  return {median(with_sums), median(without), median(after), of_all.item<double>()};
}

struct Gradient {
  std::int64_t bytes;
  double ready_ms;
};

std::vector<Gradient> measure_gradients(const Task& task) {
  std::vector<Gradient> gradients;
  Clock::time_point start;
  std::vector<HookHandle> hooks;
  for (const Tensor& parameter : task.module->parameters())
    hooks.push_back(parameter.register_post_accumulate_grad_hook([&](const Tensor& leaf) {
      synchronize();
      gradients.push_back({leaf.numel() * 4, ms_since(start)});
    }));
  for (int i = 0; i < 3; ++i) {  // The last pass counts.
    gradients.clear();
    task.module->zero_grad();
    start = Clock::now();
    task.loss().backward();
  }
  for (HookHandle& hook : hooks) hook.remove();
  return gradients;
}

double all_reduce_ms(std::int64_t bytes) {
  Tensor x = zeros({bytes / 4});
  std::vector<double> times;
  for (int i = 0; i < 12; ++i) {
    dist::barrier();
    const Clock::time_point start = Clock::now();
    dist::all_reduce(x);
    times.push_back(ms_since(start));
  }
  return median(times);
}

}  // namespace

int main(int argc, char** argv) {
  dist::init();
  const std::string model = argc > 1 ? argv[1] : "resnet18";
  const std::int64_t batch = argc > 2 ? std::atoll(argv[2]) : 16;
  const int steps = argc > 3 ? std::atoi(argv[3]) : 10;
  const std::int64_t image_size = argc > 4 ? std::atoll(argv[4]) : 64;
  const std::int64_t first = batch * dist::rank() / dist::world(), last = batch * (dist::rank() + 1) / dist::world();
  const Task task = task_of(model, last - first, image_size);
  const Steps measured = measure_steps(task, steps);
  const std::vector<Gradient> gradients = measure_gradients(task);
  std::string sums;
  for (std::int64_t bytes = 4; bytes <= std::int64_t{64} << 20; bytes *= 16)
    sums += (sums.empty() ? "" : ", ") + std::string("[") + std::to_string(bytes) + ", " +
            std::to_string(all_reduce_ms(bytes)) + "]";
  if (dist::rank() == 0) {
    std::printf("{\"model\": \"%s\", \"batch\": %lld, \"ranks\": %d, ", model.c_str(), static_cast<long long>(batch),
                dist::world());
    std::printf(
        "\"step_ms\": %.3f, \"local_ms\": %.3f, \"serial_ms\": %.3f, \"processor_ms\": %.3f, \"hidden\": %.2f,\n",
        measured.with_sums, measured.without, measured.serial, measured.processor,
        (measured.serial - measured.with_sums) / (measured.serial - measured.without));
    std::printf(" \"gradients\": [");
    for (std::size_t i = 0; i < gradients.size(); ++i)
      std::printf("%s[%lld, %.3f]", i == 0 ? "" : ", ", static_cast<long long>(gradients[i].bytes),
                  gradients[i].ready_ms);
    std::printf("],\n \"all_reduce\": [%s]}\n", sums.c_str());
  }
  dist::finish();
  return 0;
}
