#include "dist/part_average.h"

#include <utility>

#include "crisol/functions/elementwise.h"
#include "crisol/trace.h"
#include "tensor/impl.h"

namespace crisol::dist {

namespace {

const Storage* storage_of(const Tensor& gradient) {
  return gradient.defined() ? gradient.impl()->storage.get() : nullptr;
}

}  // namespace

std::uint64_t version_of(const Tensor& x) {
  return x.defined() ? x.impl()->storage->version.load(std::memory_order_relaxed) : 0;
}

PartAverage::PartAverage(const Tensor& flat, std::vector<Tensor> gradients, int world)
    : gradients_(std::move(gradients)),
      own_(empty({flat.numel() / world}, flat.dtype(), flat.device())),
      part_(flat.numel() / world),
      source_(std::make_unique<HostAccess>(flat)),
      result_(std::make_unique<HostAccess>(own_)) {
  for (const Tensor& gradient : gradients_) versions_.push_back(version_of(gradient));
}

void PartAverage::begin(const std::shared_ptr<PartAverage>& average, Worker& worker, const StepWeights& weights) {
  average->source_->begin();
  average->result_->begin(false);
  average->done_ = worker.queue([average, weights](Link& link) {
    PartAverage& self = *average;
    link.wait([&] { return self.source_->ready() && self.result_->ready(); });
    const trace::Scope scope("sum of gradients for the rank's part");
    const auto* const all = static_cast<const std::byte*>(self.source_->wait());
    link.reduce_scatter(all, static_cast<std::size_t>(self.part_), weights->empty() ? ReduceOp::mean : ReduceOp::sum,
                        self.own_.dtype(), *weights, static_cast<std::byte*>(self.result_->wait()));
    self.source_->end(false);
    self.result_->end(true);
  });
}

void PartAverage::finish(Worker& worker) {
  if (!done_.valid()) return;
  worker.wait(done_);
  source_->join();
  result_->join();
  source_.reset();
  result_.reset();
}

bool PartAverage::is_outdated(const std::vector<Tensor>& now) const {
  for (std::size_t i = 0; i < gradients_.size(); ++i)
    if (storage_of(now[i]) != storage_of(gradients_[i]) || version_of(now[i]) != versions_[i]) return true;
  return false;
}

}  // namespace crisol::dist
