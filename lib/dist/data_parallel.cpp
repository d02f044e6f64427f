#include <algorithm>
#include <cmath>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/grad_mode.h"
#include "crisol/gradients.h"
#include "crisol/opencl_interop.h"
#include "crisol/replay_calls.h"
#include "crisol/trace.h"
#include "dist/averaging.h"
#include "dist/data_parallel_impl.h"

namespace crisol::dist {

void DataParallelImpl::exchange(std::function<void(DataParallelImpl& own)> part) {
  call_in_replays([self = weak_from_this(), part = std::move(part)](const std::exception_ptr& error) {
    const auto impl = self.lock();
    if (error == nullptr) {
      require(impl != nullptr, data_parallel, "a captured step averages its gradients by an object that was destroyed");
      part(*impl);
    } else if (impl != nullptr && impl->exchanges) {
      fail("a replay threw: " + text_of(error));  // The other ranks would wait for gradients that never come.
    }
  });
}

void DataParallelImpl::begin_pass() {
  watch.begin_pass(weak_from_this());
  exchange([has = has_samples](DataParallelImpl& own) { own.begin_exchange(has); });
}

// Queues the exchange of the weights of all ranks, which the sums need.
void DataParallelImpl::begin_exchange(bool with_samples) {
  exchanges = true;
  ++passes;
  sums.clear();
  sums.push_back(session.worker().queue([this, pass = passes, own = with_samples ? weight : 0](Link& link) {
    weights = gather_weights(data_parallel, link, pass, own);
  }));
}

void DataParallelImpl::complete(std::size_t parameter) {
  if (!sync) return;
  if (!watch.in_pass) begin_pass();
  require(watch.present[parameter] == 0, data_parallel, "the gradient of ", trained[parameter].first,
          " came in two parts within one backward(), which has a backward() within it; set overlap to false");
  watch.present[parameter] = options.overlap ? 1 : 0;
  while (watch.next < buckets.size() && watch.has(buckets[watch.next].first(), buckets[watch.next].last()))
    start_next_bucket();
}

void DataParallelImpl::start_next_bucket() {
  const std::size_t number = watch.next++;
  exchange(
      [gradients = buckets[number].collect(), number](DataParallelImpl& own) { own.begin_sum(gradients, number); });
}

void DataParallelImpl::begin_sum(const std::shared_ptr<FlatGradients>& gradients, std::size_t number) {
  gradients->access.begin();
  sums.push_back(session.worker().queue([this, gradients, number](Link& link) {
    HostAccess& access = gradients->access;
    link.wait([&] { return access.ready(); });
    const trace::Scope scope(concat("sum of gradients, bucket ", number));
    link.all_reduce(static_cast<std::byte*>(access.wait()), static_cast<std::size_t>(gradients->flat.numel()),
                    weights.empty() ? ReduceOp::mean : ReduceOp::sum, gradients->flat.dtype(), weights);
    access.end(true);
  }));
}

void DataParallelImpl::begin_note(bool own_is_whole) {
  sums.push_back(session.worker().queue([own_is_whole](Link& link) { link.begin_note(own_is_whole ? 1 : 0); }));
}

void DataParallelImpl::end_pass(const std::exception_ptr& error) {
  // The other ranks would wait for gradients that never come.
  if (error != nullptr) fail("backward() threw: " + text_of(error));
  watch.in_pass = false;
  for (std::size_t i = 0; i < trained.size(); ++i) watch.present[i] = trained[i].second.grad().defined() ? 1 : 0;
  // While the last buckets are summed, the ranks tell each other whether they have all gradients.
  const bool own_is_whole = watch.has(0, trained.size());
  exchange([own_is_whole](DataParallelImpl& own) { own.begin_note(own_is_whole); });
  while (watch.next < buckets.size()) start_next_bucket();
  exchange([its_present = watch.present](DataParallelImpl& own) { own.end_exchange(its_present); });
  for (GradientBucket& bucket : buckets) {
    exchange([gradients = bucket.collected(), all = bucket.gradients()](DataParallelImpl&) {
      const NoGrad no_grad;
      gradients->access.join();
      if (gradients->copies) return;
      // The versions of the gradients must change, although the sums were written through another tensor.
      for (const Tensor& gradient : all) opencl_buffer_for_writing(gradient);
    });
    bucket.queue_copies();
  }
}

void DataParallelImpl::end_exchange(const std::vector<char>& its_present) {
  sums.push_back(session.worker().queue([this](Link& link) { whole = link.end_note(); }));
  exchanges = false;
  FirstError first;
  for (std::future<void>& sum : sums) first.run([&] { session.worker().wait(sum); });
  first.rethrow();
  if (std::count(whole.begin(), whole.end(), char{1}) != session.world())
    require_same_gradients(data_parallel, session, trained, its_present);
  if (options.check_every > 0 && passes % options.check_every == 0) check_weights();
}

DataParallel::DataParallel(nn::Module& module, const DataParallelOptions& options)
    : DataParallel(module.named_parameters(), module.named_buffers(), options) {
  impl_->forward = [&module](const Tensor& x) { return module(x); };
}

DataParallel::DataParallel(const NamedTensors& parameters, const NamedTensors& buffers,
                           const DataParallelOptions& options)
    : impl_(std::make_shared<DataParallelImpl>(parameters, buffers, options)) {
  impl_->share_state();
  impl_->watch.add_hooks(impl_->weak_from_this(), impl_->trained);
}

DataParallel::~DataParallel() = default;

Tensor DataParallel::operator()(const Tensor& x) {
  require(impl_->forward != nullptr, data_parallel, "it was made of parameters without a module, and has no forward");
  return impl_->forward(x);
}

void DataParallel::set_weight(double weight) { dist::set_weight(data_parallel, impl_->session, impl_->weight, weight); }

void DataParallel::backward_without_samples() {
  require(!impl_->session.shares_statistics, data_parallel,
          "backward_without_samples: sync_batch_norm needs samples on each rank in each step");
  Tensor zero;
  for (const auto& [name, parameter] : impl_->trained) {
    const Tensor own = sum(parameter * 0.0);
    zero = zero.defined() ? zero + own : own;
  }
  struct Without {
    bool& has;
    ~Without() { has = true; }
  } const without{impl_->has_samples};
  without.has = false;
  zero.backward();
}

void DataParallel::set_sync(bool sync) noexcept { impl_->sync = sync; }
void DataParallel::sync_buffers() { impl_->sync_buffers(); }
void DataParallel::check_weights() { impl_->check_weights(); }
std::size_t DataParallel::buckets() const noexcept { return impl_->buckets.size(); }

}  // namespace crisol::dist
