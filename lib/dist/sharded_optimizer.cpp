// An optimiser whose state is divided among the ranks.
#include <algorithm>
#include <cmath>
#include <utility>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/gradients.h"
#include "dist/averaging.h"
#include "dist/collectives.h"
#include "dist/sharded_optimizer_impl.h"

namespace crisol::dist {

namespace {

using optim::ArenaLayout;

// The elements of a contiguous tensor in this range.
Tensor part_of(const Tensor& x, const ArenaLayout::Range& range) {
  return x.detach().reshape({-1}).narrow(0, range.begin, range.count());
}

}  // namespace

ArenaLayout ShardedOptimizerImpl::layout_of(const NamedTensors& parameters) {
  std::vector<std::int64_t> sizes;
  for (const auto& [name, parameter] : parameters) {
    require_leaf(sharded_optimizer, name, parameter, parameters[0].second);
    require(parameter.dtype() == parameters[0].second.dtype(), sharded_optimizer, "the parameter ", name, " is ",
            parameter.dtype(), ", and ", parameters[0].first, " is ", parameters[0].second.dtype(),
            ". All parameters must have one type");
    require(parameter.requires_grad(), sharded_optimizer, "the parameter ", name, " wants no gradient");
    sizes.push_back(parameter.numel());
  }
  return ArenaLayout({sizes});
}

ShardedOptimizerImpl::ShardedOptimizerImpl(const NamedTensors& given, const ShardedOptimizer::Make& make,
                                           std::int64_t bucket_bytes)
    : session(Session::get(sharded_optimizer)), parameters(given), layout(layout_of(parameters)) {
  require(!parameters.empty(), sharded_optimizer, "there are no parameters");
  require(bucket_bytes > 0, sharded_optimizer, "bucket_bytes is ", bucket_bytes, ", and must be positive");
  session.require_same(sharded_optimizer, "their parameters", descriptions_of(parameters));
  session.require_same(sharded_optimizer, "their buckets", concat(bucket_bytes, " bytes"));
  for (const ArenaLayout::Bucket& bucket :
       layout.buckets(bucket_bytes, bucket_bytes, static_cast<std::int64_t>(size_of(sum_dtype())))) {
    const std::int64_t world = session.world();
    buckets.push_back({bucket.range, bucket.first, bucket.last, (bucket.range.count() + world - 1) / world});
  }
  check_pieces();
  const NoGrad no_grad;
  for (const auto& [name, parameter] : parameters) broadcast_unchecked(session, parameter, 0);
  cut();
  std::vector<Tensor> leaves;
  for (const Piece& piece : pieces) leaves.push_back(piece.leaf);
  optimizer = make(leaves);
  require(optimizer != nullptr, sharded_optimizer, "the function made no optimiser");
  averages.resize(buckets.size());
}

// Checks that each rank's part has an element of some parameter. All ranks get the same result.
void ShardedOptimizerImpl::check_pieces() const {
  for (int r = 0; r < session.world(); ++r)
    require(std::any_of(buckets.begin(), buckets.end(),
                        [&](const ShardedBucket& bucket) { return !layout.pieces(bucket.part_of(r)).empty(); }),
            sharded_optimizer, "the parameters have ", layout.size(), " elements, too few for a part on each of ",
            session.world(), " ranks; use an undivided optimiser");
}

void ShardedOptimizerImpl::cut() {
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const ArenaLayout::Range own = buckets[b].part_of(session.rank());
    for (const ArenaLayout::Piece& piece : layout.pieces(own)) {
      Tensor leaf = part_of(parameters[piece.parameter].second, piece.within).clone().requires_grad_();
      const std::int64_t place = layout.parameter(piece.parameter).begin + piece.within.begin - own.begin;
      const std::uint64_t version = version_of(parameters[piece.parameter].second);
      pieces.push_back({piece.parameter, b, piece.within, place, std::move(leaf), version});
    }
  }
}

void ShardedOptimizerImpl::read_changed() {
  for (Piece& piece : pieces) {
    const Tensor& parameter = parameters[piece.parameter].second;
    if (version_of(parameter) == piece.version) continue;
    piece.leaf.copy_from(part_of(parameter, piece.within));
    piece.version = version_of(parameter);
  }
}

Tensor ShardedOptimizerImpl::collect(const ShardedBucket& bucket,
                                     const std::function<Tensor(std::size_t parameter)>& value) const {
  Tensor flat = zeros({bucket.part * session.world()}, sum_dtype(), parameters[0].second.device());
  for (const ArenaLayout::Piece& piece : layout.pieces(bucket.range)) {
    const Tensor from = value(piece.parameter);
    const std::int64_t place = layout.parameter(piece.parameter).begin + piece.within.begin - bucket.range.begin;
    if (from.defined()) flat.narrow(0, place, piece.within.count()).copy_from(part_of(from, piece.within));
  }
  return flat;
}

void ShardedOptimizerImpl::spread(const ShardedBucket& bucket, const Tensor& elements,
                                  const std::function<Tensor(std::size_t parameter)>& to) const {
  for (const ArenaLayout::Piece& piece : layout.pieces(bucket.range)) {
    const Tensor target = to(piece.parameter);
    const std::int64_t place = layout.parameter(piece.parameter).begin + piece.within.begin - bucket.range.begin;
    if (target.defined()) part_of(target, piece.within).copy_from(elements.narrow(0, place, piece.within.count()));
  }
}

Tensor ShardedOptimizerImpl::gather(std::size_t bucket, DType type,
                                    const std::function<Tensor(std::size_t piece)>& value) const {
  Tensor own = zeros({buckets[bucket].part}, type, parameters[0].second.device());
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (pieces[i].bucket == bucket) own.narrow(0, pieces[i].place, pieces[i].leaf.numel()).copy_from(value(i));
  return all_gather(own);
}

int ShardedOptimizerImpl::owner_of(std::size_t parameter) const {
  for (int r = 0; r < session.world(); ++r)
    for (const ShardedBucket& bucket : buckets)
      for (const ArenaLayout::Piece& piece : layout.pieces(bucket.part_of(r)))
        if (piece.parameter == parameter) return r;
  return 0;  // No rank has elements of the parameter.
}

std::vector<bool> ShardedOptimizerImpl::touched() const {
  std::vector<char> with_gradient;
  for (const auto& [name, parameter] : parameters) with_gradient.push_back(parameter.grad().defined() ? 1 : 0);
  require_same_gradients(sharded_optimizer, session, parameters, with_gradient);
  require(std::count(with_gradient.begin(), with_gradient.end(), char{1}) > 0, sharded_optimizer, "step: none of the ",
          parameters.size(), " parameters has a gradient; call backward() between zero_grad() and step()");
  return {with_gradient.begin(), with_gradient.end()};
}

ShardedOptimizer::ShardedOptimizer(const NamedTensors& parameters, const Make& make, std::int64_t bucket_bytes)
    : impl_(std::make_shared<ShardedOptimizerImpl>(parameters, make, bucket_bytes)) {
  impl_->watch.add_hooks(impl_->weak_from_this(), impl_->parameters);
}

ShardedOptimizer::~ShardedOptimizer() = default;

void ShardedOptimizer::zero_grad() { zero_grad(true); }

void ShardedOptimizer::zero_grad(bool set_to_none) {
  impl_->averaged = false;
  impl_->finish_averages();
  const NoGrad no_grad;
  for (const auto& [name, parameter] : impl_->parameters) {
    if (set_to_none)
      set_grad(parameter, Tensor());
    else if (Tensor gradient = parameter.grad(); gradient.defined())
      gradient.zero_();
  }
}

optim::Optimizer& ShardedOptimizer::own() { return *impl_->optimizer; }

void ShardedOptimizer::set_weight(double weight) {
  dist::set_weight(sharded_optimizer, impl_->session, impl_->weight, weight);
}

double ShardedOptimizer::clip_grad_norm(double max_norm) {
  ShardedOptimizerImpl& s = *impl_;
  require(max_norm > 0, sharded_optimizer, "clip_grad_norm: max_norm is ", max_norm, ", and must be positive");
  const NoGrad no_grad;
  s.average();
  Tensor squares = zeros({}, s.sum_dtype(), s.parameters[0].second.device());
  for (const Piece& piece : s.pieces)
    if (piece.leaf.grad().defined()) {
      const Tensor gradient = piece.leaf.grad().to(s.sum_dtype());
      squares.add_(sum(gradient * gradient));
    }
  all_reduce(squares);
  const double norm = std::sqrt(squares.item<double>()), scale = max_norm / (norm + 1e-6);
  if (scale < 1)
    for (const Piece& piece : s.pieces)
      if (Tensor gradient = piece.leaf.grad(); gradient.defined()) gradient.mul_(scale);
  return norm;
}

void ShardedOptimizer::step() {
  ShardedOptimizerImpl& s = *impl_;
  const NoGrad no_grad;
  s.average();
  s.averaged = false;
  s.read_changed();
  // A rank has nothing to do if its pieces got no gradient.
  if (std::any_of(s.pieces.begin(), s.pieces.end(), [](const Piece& p) { return p.leaf.grad().defined(); }))
    s.optimizer->step();
  for (std::size_t b = 0; b < s.buckets.size(); ++b) {
    const Tensor all = s.gather(b, s.dtype(), [&](std::size_t piece) { return s.pieces[piece].leaf.detach(); });
    s.spread(s.buckets[b], all, [&](std::size_t i) { return s.has_gradient[i] ? s.parameters[i].second : Tensor(); });
  }
  for (Piece& piece : s.pieces) piece.version = version_of(s.parameters[piece.parameter].second);
}

}  // namespace crisol::dist
