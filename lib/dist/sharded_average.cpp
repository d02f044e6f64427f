// How ShardedOptimizer averages gradients while backward() goes on.
#include <algorithm>
#include <utility>

#include "crisol/functions/elementwise.h"
#include "crisol/grad_mode.h"
#include "crisol/gradients.h"
#include "crisol/replay_calls.h"
#include "dist/averaging.h"
#include "dist/collectives.h"
#include "dist/sharded_optimizer_impl.h"

namespace crisol::dist {

namespace {

// The number of buckets that are exchanged at a time. Each one has memory for the elements of other ranks.
constexpr std::size_t in_flight = 2;

}  // namespace

// Called when the gradient of a parameter is complete.
void ShardedOptimizerImpl::complete(std::size_t parameter) {
  require(!averaged, sharded_optimizer, "backward() after clip_grad_norm(): call step() or zero_grad() between them");
  if (!watch.in_pass) {
    first_pass = averages[0] == nullptr;
    watch.begin_pass(weak_from_this());
  }
  watch.present[parameter] = 1;
  while (watch.next < buckets.size() && watch.has(buckets[watch.next].first, buckets[watch.next].last))
    begin_outside_capture(watch.next++);
}

void ShardedOptimizerImpl::end_pass(const std::exception_ptr& error) {
  watch.in_pass = false;
  if (error == nullptr)
    while (watch.next < buckets.size()) begin_outside_capture(watch.next++);
  else if (first_pass && averages[0] != nullptr)  // The other ranks would wait for gradients that never come.
    fail("backward() threw: " + text_of(error));
}

// A replay begins no average. The versions of the gradients change when the replay ends, so step() would average them
// again.
void ShardedOptimizerImpl::begin_outside_capture(std::size_t bucket) {
  call_in_replays([self = weak_from_this(), bucket, captured = false](const std::exception_ptr&) mutable {
    if (std::exchange(captured, true)) return;
    if (const auto impl = self.lock()) impl->begin_average(bucket);
  });
}

// A second backward() before a step begins no average, because step() sees that the gradients changed.
void ShardedOptimizerImpl::begin_average(std::size_t bucket) {
  if (averages[bucket] != nullptr) return;
  const NoGrad no_grad;
  if (bucket == 0) {
    used_weight = weight;
    step_weights = std::make_shared<std::vector<double>>();
    weighing = session.worker().queue([all = step_weights, pass = ++passes, own = weight](Link& link) {
      *all = gather_weights(sharded_optimizer, link, pass, own);
    });
  }
  if (bucket >= in_flight) averages[bucket - in_flight]->finish(session.worker());
  const Tensor flat = collect(buckets[bucket], [&](std::size_t i) { return parameters[i].second.grad(); });
  averages[bucket] = std::make_shared<PartAverage>(flat, gradients_of(bucket), session.world());
  PartAverage::begin(averages[bucket], session.worker(), step_weights);
}

std::vector<Tensor> ShardedOptimizerImpl::gradients_of(std::size_t bucket) const {
  std::vector<Tensor> gradients;
  for (std::size_t i = buckets[bucket].first; i < buckets[bucket].last; ++i)
    gradients.push_back(parameters[i].second.grad());
  return gradients;
}

// Waits for all exchanges, even if one throws.
std::vector<std::shared_ptr<PartAverage>> ShardedOptimizerImpl::finish_averages() {
  auto finished = std::exchange(averages, std::vector<std::shared_ptr<PartAverage>>(buckets.size()));
  FirstError first;
  if (weighing.valid()) first.run([&] { session.worker().wait(weighing); });
  for (const auto& average : finished)
    if (average != nullptr) first.run([&] { average->finish(session.worker()); });
  first.rethrow();
  return finished;
}

// Finds the buckets that must be averaged again: on some rank, the gradients or the rank's weight changed since the
// average began.
std::vector<char> ShardedOptimizerImpl::outdated(const std::vector<std::shared_ptr<PartAverage>>& finished) const {
  std::vector<char> own, all(buckets.size() * static_cast<std::size_t>(session.world())), some(buckets.size());
  for (std::size_t b = 0; b < buckets.size(); ++b)
    own.push_back(weight != used_weight || finished[b]->is_outdated(gradients_of(b)) ? 1 : 0);
  session.worker().run([&](Link& link) { link.all_gather(own.data(), own.size(), all.data()); });
  for (std::size_t i = 0; i < all.size(); ++i) some[i % buckets.size()] |= all[i];
  return some;
}

void ShardedOptimizerImpl::average() {
  if (averaged) return;
  for (std::size_t b = 0; b < buckets.size(); ++b) begin_average(b);
  const auto finished = finish_averages();
  std::vector<bool> with_gradient = touched();
  const std::vector<char> again = outdated(finished);
  std::vector<double> weights;
  if (std::count(again.begin(), again.end(), char{1}) > 0)
    session.worker().run([&](Link& link) { weights = gather_weights(sharded_optimizer, link, passes, weight); });
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    Tensor own = finished[b]->own();
    if (again[b] != 0) {
      const Tensor all = collect(buckets[b], [&](std::size_t i) { return parameters[i].second.grad(); });
      own = reduce_scatter_weighted(session, all, weights);
    }
    for (Piece& piece : pieces)
      if (piece.bucket == b)
        set_grad(piece.leaf, with_gradient[piece.parameter] ? own.narrow(0, piece.place, piece.leaf.numel()).to(dtype())
                                                            : Tensor());
  }
  has_gradient = std::move(with_gradient);
  averaged = true;
}

}  // namespace crisol::dist
