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

namespace {

constexpr const char* op = "DataParallel";

}  // namespace

void DataParallelImpl::exchange(std::function<void(DataParallelImpl& own)> part) {
  call_in_replays([self = weak_from_this(), part = std::move(part)](const std::exception_ptr& error) {
    const auto impl = self.lock();
    if (error == nullptr) {
      require(impl != nullptr, op, "a captured step averages its gradients by an object that was destroyed");
      part(*impl);
    } else if (impl != nullptr && impl->exchanges) {
      fail("a replay threw: " + text_of(error));  // The other ranks would wait for gradients that never come.
    }
  });
}

void DataParallelImpl::begin_pass() {
  collects = true;
  started = 0;
  std::fill(present.begin(), present.end(), char{0});
  const std::weak_ptr<DataParallelImpl> self = weak_from_this();
  call_after_backward([self](const std::exception_ptr& error) {
    if (const auto impl = self.lock()) impl->end_pass(error);
  });
  exchange([has = has_samples](DataParallelImpl& own) { own.begin_exchange(has); });
}

// Queues the exchange of the weights of all ranks, which the sums need.
void DataParallelImpl::begin_exchange(bool with_samples) {
  exchanges = true;
  ++passes;
  sums.clear();
  sums.push_back(session.worker().queue([this, pass = passes, own = with_samples ? weight : 0](Link& link) {
    weights = gather_weights(op, link, pass, own);
  }));
}

void DataParallelImpl::complete(std::size_t parameter) {
  if (!sync) return;
  if (!collects) begin_pass();
  require(present[parameter] == 0, op, "the gradient of ", trained[parameter].first,
          " came in two parts within one backward(), which has a backward() within it; set overlap to false");
  present[parameter] = options.overlap ? 1 : 0;
  start_complete_buckets();
}

bool DataParallelImpl::is_complete(const GradientBucket& bucket) const {
  return std::all_of(present.begin() + static_cast<std::ptrdiff_t>(bucket.first()),
                     present.begin() + static_cast<std::ptrdiff_t>(bucket.last()),
                     [](char there) { return there != 0; });
}

// All ranks sum the buckets in the same order, even if backward() completes them in another order.
void DataParallelImpl::start_complete_buckets() {
  while (started < buckets.size() && is_complete(buckets[started])) start_bucket(buckets[started]);
}

void DataParallelImpl::start_bucket(GradientBucket& bucket) {
  exchange(
      [gradients = bucket.collect(), number = started](DataParallelImpl& own) { own.begin_sum(gradients, number); });
  ++started;
}

void DataParallelImpl::begin_sum(const std::shared_ptr<FlatGradients>& gradients, std::size_t number) {
  gradients->access.begin();
  sums.push_back(session.worker().queue([this, gradients, number](Link& link) {
    HostAccess& access = gradients->access;
    link.wait([&] { return access.ready(); });
    const trace::Scope scope(concat("sum of gradients, bucket ", number));
    link.all_reduce(static_cast<std::byte*>(access.wait()), static_cast<std::size_t>(gradients->flat.numel()),
                    weights.empty() ? ReduceOp::mean : ReduceOp::sum, DType::f32, weights);
    access.end(true);
  }));
}

void DataParallelImpl::begin_note(bool own_is_whole) {
  sums.push_back(session.worker().queue([own_is_whole](Link& link) { link.begin_note(own_is_whole ? 1 : 0); }));
}

void DataParallelImpl::end_pass(const std::exception_ptr& error) {
  // The other ranks would wait for gradients that never come.
  if (error != nullptr) fail("backward() threw: " + text_of(error));
  collects = false;
  for (std::size_t i = 0; i < trained.size(); ++i) present[i] = trained[i].second.grad().defined() ? 1 : 0;
  // While the last buckets are summed, the ranks tell each other whether they have all gradients.
  const bool own_is_whole = std::all_of(present.begin(), present.end(), [](char there) { return there != 0; });
  exchange([own_is_whole](DataParallelImpl& own) { own.begin_note(own_is_whole); });
  while (started < buckets.size()) start_bucket(buckets[started]);
  exchange([its_present = present](DataParallelImpl& own) { own.end_exchange(its_present); });
  for (GradientBucket& bucket : buckets) {
    exchange([gradients = bucket.collected(), all = bucket.gradients()](DataParallelImpl&) {
      const NoGrad no_grad;
      gradients->access.join();
      if (gradients->copies) return;
      for (const Tensor& gradient : all)
        opencl_buffer_for_writing(gradient);  // The gradient's version must change, although the sums were written
                                              // through another tensor.
    });
    bucket.queue_copies();
  }
}

void DataParallelImpl::end_exchange(const std::vector<char>& its_present) {
  sums.push_back(session.worker().queue([this](Link& link) { whole = link.end_note(); }));
  exchanges = false;
  std::exception_ptr first_error;
  for (std::future<void>& sum : sums) {
    try {
      session.worker().wait(sum);
    } catch (...) {
      if (first_error == nullptr) first_error = std::current_exception();
    }
  }
  if (first_error != nullptr) std::rethrow_exception(first_error);
  if (std::count(whole.begin(), whole.end(), char{1}) != session.world())
    require_same_gradients(op, session, trained, its_present);
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
  impl_->add_hooks();
}

DataParallel::~DataParallel() { impl_->remove_hooks(); }

Tensor DataParallel::operator()(const Tensor& x) {
  require(impl_->forward != nullptr, op, "it was made of parameters without a module, and has no forward");
  return impl_->forward(x);
}

void DataParallel::set_weight(double weight) {
  require(weight >= 0 && std::isfinite(weight), op, "the weight ", weight, " must be 0 or more, and finite");
  impl_->weight = impl_->session.weight = weight;
}

void DataParallel::backward_without_samples() {
  require(!impl_->session.shares_statistics, op,
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
