#include "common/ranks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <numeric>
#include <stdexcept>

#include "common/system.h"
#include "crisol/c/dist.h"
#include "crisol/c/interop.h"
#include "crisol/device.h"

namespace samples {

namespace {

using crisol::Tensor;
using TensorHandle = std::unique_ptr<crisol_tensor, void (*)(crisol_tensor*)>;
using ListHandle = std::unique_ptr<crisol_named_tensors, void (*)(crisol_named_tensors*)>;

// Whether Open MPI, MPICH, Intel MPI or Slurm started this process.
bool is_started_by_mpi() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (std::getenv(variable) != nullptr) return true;
  return false;
}

void check(crisol_status status) {
  if (status != CRISOL_OK) throw std::runtime_error(crisol_error_message());
}

TensorHandle handle_of(const Tensor& x) { return {crisol::c::handle_of(x), crisol_tensor_destroy}; }

ListHandle list_of(const crisol::NamedTensors& tensors) {
  crisol_named_tensors* made = nullptr;
  check(crisol_named_tensors_create(&made));
  ListHandle list(made, crisol_named_tensors_destroy);
  for (const auto& [name, tensor] : tensors)
    check(crisol_named_tensors_add(made, name.c_str(), handle_of(tensor).get()));
  return list;
}

}  // namespace

/// The functions of libcrisol_dist that samples use.
struct Ranks::Functions {
  void* library = open_library("libcrisol_dist.so");

  /// A function of the library, by the type of its declaration.
  template <class Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(function_of(library, name));
  }
#define CRISOL_FUNCTION(name) decltype(&crisol_##name) name = find<decltype(&crisol_##name)>("crisol_" #name);
  CRISOL_FUNCTION(dist_init)
  CRISOL_FUNCTION(dist_finish)
  CRISOL_FUNCTION(dist_fail)
  CRISOL_FUNCTION(dist_rank)
  CRISOL_FUNCTION(dist_all_reduce)
  CRISOL_FUNCTION(dist_all_gather)
  CRISOL_FUNCTION(data_parallel_create)
  CRISOL_FUNCTION(data_parallel_destroy)
  CRISOL_FUNCTION(data_parallel_set_weight)
  CRISOL_FUNCTION(data_parallel_backward_without_samples)
  CRISOL_FUNCTION(data_parallel_sync_buffers)
#undef CRISOL_FUNCTION
};

Ranks::Ranks(const std::string& device) {
  if (!is_started_by_mpi()) {
    if (!device.empty()) crisol::set_default_device(crisol::Device(device));
    return;
  }
  functions_ = std::make_unique<Functions>();
  if (!device.empty()) set_variable("CRISOL_DEVICE", device);
  check(functions_->dist_init());
  check(functions_->dist_rank(&rank_, &world_));
  if (!is_first() && std::freopen("/dev/null", "w", stdout) == nullptr)
    throw std::runtime_error("cannot redirect the output of rank " + std::to_string(rank_));
}

Ranks::~Ranks() = default;

std::string Ranks::description() const {
  return world_ == 1 ? "" : ", rank " + std::to_string(rank_) + " of " + std::to_string(world_);
}

std::vector<double> Ranks::gather(const std::vector<double>& own) const {
  if (functions_ == nullptr) return own;
  const auto all_of = [&](const std::vector<std::uint8_t>& bytes) {
    crisol_tensor* result = nullptr;
    check(functions_->dist_all_gather(handle_of(crisol::from_vector(bytes)).get(), &result));
    const TensorHandle owner(result, crisol_tensor_destroy);
    return crisol::c::tensor_of(result).to_vector<std::uint8_t>();
  };
  // First the lengths, then the numbers, padded to the longest list.
  const auto bytes_of = [](const void* from, std::size_t bytes, std::size_t padded) {
    std::vector<std::uint8_t> copy(padded);
    if (bytes > 0) std::memcpy(copy.data(), from, bytes);
    return copy;
  };
  const std::uint64_t count = own.size();
  const std::vector<std::uint8_t> count_bytes = all_of(bytes_of(&count, sizeof count, sizeof count));
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(world_));
  std::memcpy(counts.data(), count_bytes.data(), count_bytes.size());
  const std::size_t longest = *std::max_element(counts.begin(), counts.end());
  const std::vector<std::uint8_t> bytes =
      all_of(bytes_of(own.data(), count * sizeof(double), longest * sizeof(double)));
  std::vector<double> all;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    std::vector<double> theirs(counts[r]);
    if (counts[r] > 0)
      std::memcpy(theirs.data(), bytes.data() + r * longest * sizeof(double), counts[r] * sizeof(double));
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  return all;
}

double Ranks::sum(double own) const {
  const std::vector<double> all = gather({own});
  return std::accumulate(all.begin(), all.end(), 0.0);
}

void Ranks::add_up(const Tensor& x) const {
  if (functions_ != nullptr) check(functions_->dist_all_reduce(handle_of(x).get(), CRISOL_DIST_SUM));
}

Ranks::Parallel::Parallel(const Ranks& ranks, crisol::nn::Module& module) : ranks_(ranks) {
  if (ranks_.functions_ == nullptr) return;
  check(ranks_.functions_->data_parallel_create(list_of(module.named_parameters()).get(),
                                                list_of(module.named_buffers()).get(), nullptr, &handle_));
}

Ranks::Parallel::~Parallel() {
  if (handle_ != nullptr) ranks_.functions_->data_parallel_destroy(handle_);
}

void Ranks::Parallel::set_weight(double samples) {
  if (handle_ != nullptr) check(ranks_.functions_->data_parallel_set_weight(handle_, samples));
}

void Ranks::Parallel::backward_without_samples() {
  if (handle_ != nullptr) check(ranks_.functions_->data_parallel_backward_without_samples(handle_));
}

void Ranks::Parallel::sync_buffers() {
  if (handle_ != nullptr) check(ranks_.functions_->data_parallel_sync_buffers(handle_));
}

void Ranks::finish() {
  if (functions_ != nullptr) check(functions_->dist_finish());
}

void Ranks::fail(const char* reason) const {
  if (functions_ != nullptr) functions_->dist_fail(reason);
}

int run_on_ranks(const char* name, const std::string& device, const std::function<int(Ranks& ranks)>& body) {
  try {
    Ranks ranks(device);
    try {
      const int status = body(ranks);
      ranks.finish();
      return status;
    } catch (const std::exception& error) {
      if (ranks.world() == 1) throw;
      ranks.fail(error.what());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
  }
  return 1;
}

}  // namespace samples
