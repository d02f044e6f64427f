// The comparisons and exchanges of DataParallel outside of backward().
#include "dist/data_parallel_impl.h"

#include <algorithm>

#include "base/hash.h"
#include "crisol/device.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/grad_mode.h"
#include "dist/collectives.h"
#include "optim/flat_parts.h"

namespace crisol::dist {

namespace {

// Ranks on different devices round differently. Their weights may differ by the parameter's largest weight times this
// number.
constexpr double rounding = 1e-3;

std::uint64_t hash_of_elements(const Tensor& x) {
  std::string bytes(static_cast<std::size_t>(x.numel()) * size_of(x.dtype()), '\0');
  x.read_bytes(bytes.data());
  return hash_of(bytes);
}

double largest(const Tensor& x) { return max(abs(x)).item<double>(); }

}  // namespace

DataParallelImpl::DataParallelImpl(const NamedTensors& parameters, const NamedTensors& its_buffers,
                                   const DataParallelOptions& its_options)
    : session(Session::get(data_parallel)), options(its_options), all(parameters), buffers(its_buffers) {
  require(options.bucket_bytes > 0 && options.first_bucket_bytes > 0 && options.check_every >= 0, data_parallel,
          "bucket_bytes ", options.bucket_bytes, " and first_bucket_bytes ", options.first_bucket_bytes,
          " must be positive, and check_every ", options.check_every, " at least 0");
  std::vector<Tensor> wanting;
  std::vector<std::int64_t> sizes;
  for (const auto& [name, parameter] : all) {
    require_leaf(data_parallel, name, parameter, all[0].second);
    if (!parameter.requires_grad()) continue;
    trained.emplace_back(name, parameter);
    wanting.push_back(parameter);
    sizes.push_back(parameter.numel());
  }
  require(!trained.empty(), data_parallel, "none of the ", all.size(), " parameters wants a gradient");
  const optim::ArenaLayout layout({sizes});
  const DType type = optim::arena_type(wanting);  // Of sums.
  const auto element = static_cast<std::int64_t>(size_of(type));
  for (const auto& bucket : layout.buckets(options.bucket_bytes, options.first_bucket_bytes, element))
    buckets.emplace_back(layout, bucket, wanting, type);
  session.weight = weight;
}

void DataParallelImpl::share_state() {
  session.require_same(data_parallel, "their parameters", descriptions_of(all));
  session.require_same(data_parallel, "their buffers", descriptions_of(buffers));
  session.require_same(data_parallel, "the parameters that want gradients", descriptions_of(trained));
  session.require_same(data_parallel, "their buckets",
                       concat(options.bucket_bytes, " bytes, the first ", options.first_bucket_bytes, " bytes"));
  const DeviceInfo& device = all[0].second.device().info();
  std::vector<std::string> devices;
  session.worker().run([&](Link& link) {
    devices = link.gather_text(concat(device.platform, ", ", device.name, ", ", device.driver_version));
  });
  devices_are_alike = std::count(devices.begin(), devices.end(), devices[0]) == session.world();
  const NoGrad no_grad;
  for (const auto& [name, parameter] : all) broadcast_unchecked(session, parameter, 0);
  sync_buffers();
}

void DataParallelImpl::sync_buffers() {
  for (const auto& [name, buffer] : buffers) broadcast_unchecked(session, buffer, 0);
}

std::uint64_t DataParallelImpl::approach_first(Tensor parameter) const {
  if (parameter.numel() == 0) return 0;
  const NoGrad no_grad;
  Tensor first = parameter.clone();
  broadcast_unchecked(session, first, 0);
  const double allowed = std::max(rounding, epsilon_of(parameter.dtype()));
  if (!(largest(parameter - first) <= allowed * largest(first))) return 1;
  if (session.rank() > 0) parameter.copy_from(first);
  return 0;
}

void DataParallelImpl::check_weights() {
  std::vector<std::uint64_t> own;
  for (const auto& [name, parameter] : all)
    own.push_back(devices_are_alike ? hash_of_elements(parameter) : approach_first(parameter));
  const std::size_t bytes = own.size() * sizeof own[0];
  std::vector<std::uint64_t> hashes(own.size() * static_cast<std::size_t>(session.world()));
  session.worker().run([&](Link& link) { link.all_gather(own.data(), bytes, hashes.data()); });
  std::string differences;
  for (std::size_t r = 1; r < static_cast<std::size_t>(session.world()); ++r)
    for (std::size_t i = 0; i < own.size(); ++i)
      if (hashes[r * own.size() + i] != hashes[i])
        differences += concat(differences.empty() ? "" : ", ", all[i].first, " of rank ", r);
  require(differences.empty(), data_parallel, "after ", passes,
          " backward() passes the weights of the ranks differ from those of rank 0: ", differences);
}

}  // namespace crisol::dist
