// The C interface of libcrisol_dist.
#include "crisol/c/dist.h"

#include <memory>

#include "base/text.h"
#include "crisol/c/interop.h"
#include "crisol/dist.h"

using namespace crisol;

struct crisol_data_parallel {
  std::unique_ptr<dist::DataParallel> value;
};

namespace {

template <class Body>
crisol_status guarded(const Body& body) noexcept {
  try {
    body();
    return CRISOL_OK;
  } catch (...) {
    return c::status_of_exception();
  }
}

template <class T>
T& need(T* pointer, const char* op, const char* name) {
  require(pointer != nullptr, op, name, " is null");
  return *pointer;
}

dist::ReduceOp reduce_op_of(crisol_dist_op op, const char* function) {
  require(op >= CRISOL_DIST_SUM && op <= CRISOL_DIST_MAX, function, "op ", op, " is none");
  return static_cast<dist::ReduceOp>(op);
}

void require_ok(crisol_status status, const char* op) { require(status == CRISOL_OK, op, crisol_error_message()); }

NamedTensors list_of(const crisol_named_tensors* list, const char* op) {
  NamedTensors all;
  std::int32_t count = 0;
  if (list != nullptr) require_ok(crisol_named_tensors_count(list, &count), op);
  for (std::int32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    crisol_tensor* tensor = nullptr;
    require_ok(crisol_named_tensors_item(list, i, &name, &tensor), op);
    const std::unique_ptr<crisol_tensor, void (*)(crisol_tensor*)> owner(tensor, crisol_tensor_destroy);
    all.emplace_back(name, c::tensor_of(tensor));
  }
  return all;
}

template <class Call>
crisol_status with_parallel(crisol_data_parallel* parallel, const char* op, const Call& call) noexcept {
  return guarded([&] { call(*need(parallel, op, "parallel").value); });
}

static_assert(static_cast<int>(dist::ReduceOp::sum) == CRISOL_DIST_SUM &&
              static_cast<int>(dist::ReduceOp::mean) == CRISOL_DIST_MEAN &&
              static_cast<int>(dist::ReduceOp::min) == CRISOL_DIST_MIN &&
              static_cast<int>(dist::ReduceOp::max) == CRISOL_DIST_MAX);

}  // namespace

crisol_status crisol_dist_init() {
  return guarded([] { dist::init(); });
}
crisol_status crisol_dist_finish() {
  return guarded([] { dist::finish(); });
}
void crisol_dist_fail(const char* reason) { dist::fail(reason == nullptr ? "no reason was given" : reason); }

crisol_status crisol_dist_rank(int32_t* rank, int32_t* world) {
  constexpr const char* op = "dist_rank";
  return guarded([&] {
    need(rank, op, "rank") = dist::rank();
    need(world, op, "world") = dist::world();
  });
}

crisol_status crisol_dist_local_rank(int32_t* rank, int32_t* world) {
  constexpr const char* op = "dist_local_rank";
  return guarded([&] {
    need(rank, op, "rank") = dist::local_rank();
    need(world, op, "world") = dist::local_world();
  });
}

crisol_status crisol_dist_all_reduce(crisol_tensor* x, crisol_dist_op op) {
  return guarded([&] { dist::all_reduce(c::tensor_of(x), reduce_op_of(op, "dist_all_reduce")); });
}

crisol_status crisol_dist_broadcast(crisol_tensor* x, int32_t root) {
  return guarded([&] { dist::broadcast(c::tensor_of(x), root); });
}

crisol_status crisol_dist_all_gather(const crisol_tensor* x, crisol_tensor** result) {
  return guarded([&] {
    crisol_tensor*& place = need(result, "dist_all_gather", "result");
    place = c::handle_of(dist::all_gather(c::tensor_of(x)));
  });
}

crisol_status crisol_dist_reduce_scatter(const crisol_tensor* x, crisol_dist_op op, crisol_tensor** result) {
  constexpr const char* function = "dist_reduce_scatter";
  return guarded([&] {
    crisol_tensor*& place = need(result, function, "result");
    place = c::handle_of(dist::reduce_scatter(c::tensor_of(x), reduce_op_of(op, function)));
  });
}

crisol_status crisol_dist_barrier() {
  return guarded([] { dist::barrier(); });
}

crisol_status crisol_data_parallel_create(const crisol_named_tensors* parameters, const crisol_named_tensors* buffers,
                                          const crisol_data_parallel_options* options, crisol_data_parallel** result) {
  constexpr const char* op = "data_parallel_create";
  return guarded([&] {
    crisol_data_parallel*& place = need(result, op, "result");
    need(parameters, op, "parameters");
    const crisol_data_parallel_options given =
        options == nullptr ? crisol_data_parallel_options CRISOL_DATA_PARALLEL_OPTIONS : *options;
    const dist::DataParallelOptions all{given.bucket_bytes, given.first_bucket_bytes, given.overlap != 0,
                                        given.check_every};
    auto made = std::make_unique<dist::DataParallel>(list_of(parameters, op), list_of(buffers, op), all);
    place = new crisol_data_parallel{std::move(made)};
  });
}

void crisol_data_parallel_destroy(crisol_data_parallel* parallel) { delete parallel; }

crisol_status crisol_data_parallel_set_weight(crisol_data_parallel* parallel, double weight) {
  return with_parallel(parallel, "data_parallel_set_weight", [&](auto& own) { own.set_weight(weight); });
}

crisol_status crisol_data_parallel_set_sync(crisol_data_parallel* parallel, int sync) {
  return with_parallel(parallel, "data_parallel_set_sync", [&](auto& own) { own.set_sync(sync != 0); });
}

crisol_status crisol_data_parallel_backward_without_samples(crisol_data_parallel* parallel) {
  return with_parallel(parallel, "data_parallel_backward_without_samples",
                       [](auto& own) { own.backward_without_samples(); });
}

crisol_status crisol_data_parallel_sync_buffers(crisol_data_parallel* parallel) {
  return with_parallel(parallel, "data_parallel_sync_buffers", [](auto& own) { own.sync_buffers(); });
}

crisol_status crisol_data_parallel_check_weights(crisol_data_parallel* parallel) {
  return with_parallel(parallel, "data_parallel_check_weights", [](auto& own) { own.check_weights(); });
}
