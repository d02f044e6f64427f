// The C interface of libcrisol_dist.
#include "crisol/c/dist.h"

#include <memory>

#include "base/text.h"
#include "c_api/guarded.h"
#include "crisol/c/interop.h"
#include "crisol/dist.h"

using namespace crisol;
using c_api::guarded;
using c_api::need;

struct crisol_data_parallel {
  std::unique_ptr<dist::DataParallel> value;
};

struct crisol_sharded_optimizer {
  std::shared_ptr<crisol_optimizer> own;  ///< The optimiser of this rank's part.
  std::unique_ptr<dist::ShardedOptimizer> value;
};

namespace {

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

/// A new handle to a list.
crisol_named_tensors* handle_of(const NamedTensors& all, const char* op) {
  crisol_named_tensors* made = nullptr;
  require_ok(crisol_named_tensors_create(&made), op);
  std::unique_ptr<crisol_named_tensors, void (*)(crisol_named_tensors*)> list(made, crisol_named_tensors_destroy);
  for (const auto& [name, tensor] : all) {
    const std::unique_ptr<crisol_tensor, void (*)(crisol_tensor*)> one(c::handle_of(tensor), crisol_tensor_destroy);
    require_ok(crisol_named_tensors_add(made, name.c_str(), one.get()), op);
  }
  return list.release();
}

/// A C optimiser of these parameters.
std::shared_ptr<crisol_optimizer> make_optimizer(const char* kind, const std::vector<Tensor>& parameters, int settings,
                                                 const crisol_setting* setting, const char* op) {
  std::vector<std::unique_ptr<crisol_tensor, void (*)(crisol_tensor*)>> owners;
  std::vector<const crisol_tensor*> handles;
  for (const Tensor& parameter : parameters) {
    owners.emplace_back(c::handle_of(parameter), crisol_tensor_destroy);
    handles.push_back(owners.back().get());
  }
  crisol_optimizer* made = nullptr;
  require_ok(crisol_optimizer_create(kind, static_cast<int>(handles.size()), handles.data(), settings, setting, &made),
             op);
  return {made, crisol_optimizer_destroy};
}

template <class Call>
crisol_status with_sharded(crisol_sharded_optimizer* optimizer, const char* op, const Call& call) noexcept {
  return guarded([&] { call(need(optimizer, op, "optimizer")); });
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

crisol_status crisol_dist_sync_batch_norm(crisol_model* model, int32_t* layers) {
  return guarded([&] {
    const int found = dist::sync_batch_norm(c::module_of(model));
    if (layers != nullptr) *layers = found;
  });
}

crisol_status crisol_sharded_optimizer_create(const crisol_named_tensors* parameters, const char* kind, int settings,
                                              const crisol_setting* setting, crisol_sharded_optimizer** result) {
  constexpr const char* op = "sharded_optimizer_create";
  return guarded([&] {
    crisol_sharded_optimizer*& place = need(result, op, "result");
    need(parameters, op, "parameters");
    auto made = std::make_unique<crisol_sharded_optimizer>();
    made->value = std::make_unique<dist::ShardedOptimizer>(list_of(parameters, op), [&](const auto& parts) {
      made->own = make_optimizer(kind, parts, settings, setting, op);
      return std::shared_ptr<optim::Optimizer>(made->own, &c::optimizer_of(made->own.get()));
    });
    place = made.release();
  });
}

void crisol_sharded_optimizer_destroy(crisol_sharded_optimizer* optimizer) { delete optimizer; }

crisol_status crisol_sharded_optimizer_own(crisol_sharded_optimizer* optimizer, crisol_optimizer** own) {
  constexpr const char* op = "sharded_optimizer_own";
  return with_sharded(optimizer, op, [&](auto& sharded) { need(own, op, "own") = sharded.own.get(); });
}

crisol_status crisol_sharded_optimizer_zero_grad(crisol_sharded_optimizer* optimizer) {
  return with_sharded(optimizer, "sharded_optimizer_zero_grad", [](auto& sharded) { sharded.value->zero_grad(); });
}

crisol_status crisol_sharded_optimizer_zero_grad_in_place(crisol_sharded_optimizer* optimizer) {
  return with_sharded(optimizer, "sharded_optimizer_zero_grad_in_place",
                      [](auto& sharded) { sharded.value->zero_grad(false); });
}

crisol_status crisol_sharded_optimizer_step(crisol_sharded_optimizer* optimizer) {
  return with_sharded(optimizer, "sharded_optimizer_step", [](auto& sharded) { sharded.value->step(); });
}

crisol_status crisol_sharded_optimizer_set_weight(crisol_sharded_optimizer* optimizer, double weight) {
  return with_sharded(optimizer, "sharded_optimizer_set_weight",
                      [&](auto& sharded) { sharded.value->set_weight(weight); });
}

crisol_status crisol_sharded_optimizer_clip_grad_norm(crisol_sharded_optimizer* optimizer, double max_norm,
                                                      double* norm) {
  return with_sharded(optimizer, "sharded_optimizer_clip_grad_norm", [&](auto& sharded) {
    const double found = sharded.value->clip_grad_norm(max_norm);
    if (norm != nullptr) *norm = found;
  });
}

crisol_status crisol_sharded_optimizer_state_dict(crisol_sharded_optimizer* optimizer, crisol_named_tensors** result) {
  constexpr const char* op = "sharded_optimizer_state_dict";
  return with_sharded(optimizer, op, [&](auto& sharded) {
    crisol_named_tensors*& place = need(result, op, "result");
    place = handle_of(sharded.value->state_dict(), op);
  });
}

crisol_status crisol_sharded_optimizer_load_state_dict(crisol_sharded_optimizer* optimizer,
                                                       const crisol_named_tensors* state) {
  constexpr const char* op = "sharded_optimizer_load_state_dict";
  return with_sharded(optimizer, op, [&](auto& sharded) {
    need(state, op, "state");
    sharded.value->load_state_dict(list_of(state, op));
  });
}
