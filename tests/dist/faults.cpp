// crisol_dist_faults SCENARIO: all ranks train, and the last one fails in the middle. tests/dist/run.sh checks that the
// whole run ends with a message that names this rank.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <stdexcept>
#include <string>

#include "crisol/crisol.h"
#include "crisol/dist.h"
#include "crisol/replay_calls.h"

namespace {

using namespace crisol;

constexpr int healthy_steps = 5;

void fail_by(const std::string& scenario) {
  if (scenario == "throw") throw std::runtime_error("the scenario threw");
  if (scenario == "exit") std::exit(0);
  if (scenario == "quick-exit") std::_Exit(3);
  if (scenario == "kill") std::raise(SIGKILL);
  // A compiler within a driver catches the signal, and lets the instruction fail once more. So it must be a real one.
  if (scenario == "segfault") *static_cast<volatile int*>(nullptr) = 1;
  if (scenario == "stop") std::raise(SIGSTOP);
  if (scenario == "fail") dist::fail("the scenario gave up");
  if (scenario == "differ") dist::barrier();  // The other ranks call backward().
}

/// Changes one weight of this rank by its last bits, as a fault of the memory would.
void drift(const Tensor& weight) {
  const NoGrad no_grad;
  Tensor(weight).narrow(0, 3, 1).mul_(1.000001);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string scenario = argc > 1 ? argv[1] : "";
  dist::init();
  nn::Linear first(30, 20), second(20, 10);
  nn::Sequential net(first, second);
  optim::SGD optimizer(net.parameters(), 0.01);
  std::optional<dist::DataParallel> model;
  std::optional<dist::ShardedOptimizer> divided;
  if (scenario == "divided")
    divided.emplace(
        net.named_parameters(), [](const auto& parts) { return std::make_shared<optim::SGD>(parts, 0.01); }, 100);
  else
    model.emplace(net, dist::DataParallelOptions{.bucket_bytes = 100, .first_bucket_bytes = 100, .check_every = 3});
  const bool fails = dist::rank() == dist::world() - 1;
  bool in_backward = false;
  const Tensor x = ones({4, 30});
  const auto train = [&] {
    const Tensor hidden = first(x), y = second(hidden);
    hidden.register_hook([&](const Tensor&) {
      call_in_replays([&](const std::exception_ptr& error) {  // The sums of the second layer have begun.
        if (in_backward && error == nullptr) throw std::runtime_error("a hook of the scenario threw");
      });
    });
    divided ? divided->zero_grad() : optimizer.zero_grad();
    sum(y * y).backward();
    divided ? divided->step() : optimizer.step();
  };
  train();
  std::optional<CapturedGraph> graph;
  if (scenario == "replay") graph = capture(train);
  for (int step = 0;; ++step) {
    if (fails && step == healthy_steps) {
      std::printf("rank %d now fails: %s at %lld\n", dist::rank(), scenario.c_str(),
                  static_cast<long long>(std::time(nullptr)));
      std::fflush(stdout);
      fail_by(scenario);
      if (scenario == "drift") drift(second.weight);
      in_backward = scenario == "backward" || scenario == "replay" || scenario == "divided";
    }
    graph ? graph->replay() : train();
    if (scenario.empty() && step == healthy_steps) break;
  }
  dist::finish();
  std::printf("finished\n");
  return 0;
}
