// The extension module crisol._dist: training on several devices (crisol/dist.h). It is a separate module, because it
// needs MPI. It uses the classes of crisol._crisol.
#include "crisol/dist.h"

#include <nanobind/stl/shared_ptr.h>

#include "bindings.h"
#include "option_casters.h"

namespace crisol::python {

namespace {

using dist::DataParallel;
using dist::ReduceOp;
using dist::ShardedOptimizer;

/// Reads "sum", "mean", "min" or "max".
ReduceOp reduce_op_of(const char* function, const std::string& name) {
  constexpr std::pair<const char*, ReduceOp> all[]{
      {"sum", ReduceOp::sum}, {"mean", ReduceOp::mean}, {"min", ReduceOp::min}, {"max", ReduceOp::max}};
  for (const auto& [known, op] : all)
    if (name == known) return op;
  throw Error(ErrorCode::invalid_argument,
              std::string("[") + function + "] op is '" + name + "', allowed are sum, mean, min and max");
}

void bind_run(nb::module_& m) {
  m.def("_init", &dist::init, Unlocked());
  m.def("_finish", &dist::finish, Unlocked());
  m.def("initialized", &dist::initialized, "Whether init() was called, and finish() was not.");
  m.def("_fail", &dist::fail, "reason"_a);
  m.def("rank", &dist::rank, "The number of this process, from 0.");
  m.def("world", &dist::world, "The number of processes.");
  m.def("local_rank", &dist::local_rank, "The number of this process among those of its machine.");
  m.def("local_world", &dist::local_world, "The number of processes on this machine.");
}

void bind_collectives(nb::module_& m) {
  m.def(
      "all_reduce", [](Tensor& x, const std::string& op) { dist::all_reduce(x, reduce_op_of("all_reduce", op)); },
      "x"_a, "op"_a = "sum", Unlocked(),
      "Replaces each element of x by the sum, mean, min or max of the elements of all ranks at this place. For every "
      "dtype, except that only floating-point tensors have a mean. All ranks give the same shape and dtype.");
  m.def("broadcast", &dist::broadcast, "x"_a, "root"_a = 0, Unlocked(),
        "Replaces the elements of x by those of the rank `root`.");
  m.def("all_gather", &dist::all_gather, "x"_a, Unlocked(),
        "The tensors of all ranks one after another: (world · n, …) for x of shape (n, …).");
  m.def(
      "reduce_scatter",
      [](const Tensor& x, const std::string& op) {
        return dist::reduce_scatter(x, reduce_op_of("reduce_scatter", op));
      },
      "x"_a, "op"_a = "sum", Unlocked(),
      "The part of this rank of the sum, mean, min or max of all tensors: part r of x, of world equal parts along "
      "axis 0.");
  m.def("barrier", &dist::barrier, Unlocked(), "Waits until all ranks are here. Does not wait for the device.");
}

void bind_data_parallel(nb::module_& m) {
  m.def("sync_batch_norm", &dist::sync_batch_norm, "module"_a, Unlocked(),
        "Lets all layers BatchNorm2d and BatchNorm3d below a module use the statistics of the samples of all ranks in "
        "training. Returns their number.");
  nb::class_<DataParallel>(m, "_DataParallel", nb::is_weak_referenceable())
      .def(
          "__init__",
          [](DataParallel* self, const NamedTensors& parameters, const NamedTensors& buffers, std::int64_t bucket_bytes,
             std::int64_t first_bucket_bytes, bool overlap, std::int64_t check_every) {
            const dist::DataParallelOptions options{bucket_bytes, first_bucket_bytes, overlap, check_every};
            new (self) DataParallel(parameters, buffers, options);
          },
          "parameters"_a, "buffers"_a, "bucket_bytes"_a, "first_bucket_bytes"_a, "overlap"_a, "check_every"_a,
          Unlocked())
      .def("set_weight", &DataParallel::set_weight, "weight"_a,
           "The weight of this rank's gradients in the next backward() passes, such as the number of its samples. The "
           "average is the sum of weight · gradient, divided by the sum of the weights. All have weight 1 at first.")
      .def("backward_without_samples", &DataParallel::backward_without_samples, Unlocked(),
           "Takes part in a backward() of the other ranks without samples of its own.")
      .def("set_sync", &DataParallel::set_sync, "sync"_a,
           "With False, backward() sums nothing: gradients of several passes add up on each rank. The first pass after "
           "set_sync(True) averages them all.")
      .def("sync_buffers", &DataParallel::sync_buffers, Unlocked(), "Gives the buffers of rank 0 to all ranks.")
      .def("check_weights", &DataParallel::check_weights, Unlocked(),
           "Compares the weights of all ranks. Raises InvalidArgumentError, with ranks and parameters, if they differ.")
      .def_prop_ro("buckets", &DataParallel::buckets, "The number of buckets.");
}

void bind_sharded_optimizer(nb::module_& m) {
  nb::class_<ShardedOptimizer>(m, "_ShardedOptimizer", nb::is_weak_referenceable())
      .def(
          "__init__",
          [](ShardedOptimizer* self, const NamedTensors& parameters, const nb::callable& make) {
            const nb::gil_scoped_release free;
            new (self) ShardedOptimizer(parameters, [&](const std::vector<Tensor>& parts) {
              const nb::gil_scoped_acquire lock;
              return nb::cast<std::shared_ptr<optim::Optimizer>>(make(parts));
            });
          },
          "parameters"_a, "make"_a,
          nb::sig("def __init__(self, parameters: dict[str, crisol.Tensor], make: "
                  "collections.abc.Callable[[list[crisol.Tensor]], crisol.optim.Optimizer]) -> None"))
      .def(
          "zero_grad", [](ShardedOptimizer& self, bool set_to_none) { self.zero_grad(set_to_none); },
          "set_to_none"_a = true, Unlocked(),
          "Discards the gradients. With set_to_none=False they stay the same tensors and become zeros.")
      .def("clip_grad_norm", &ShardedOptimizer::clip_grad_norm, "max_norm"_a, Unlocked(),
           "Averages the gradients, and scales them so that their common Euclidean norm over all ranks is at most "
           "max_norm. All ranks call it between backward() and step(). Returns the norm before scaling.")
      .def("step", &ShardedOptimizer::step, Unlocked(), "One step of all ranks.")
      .def("set_weight", &ShardedOptimizer::set_weight, "weight"_a,
           "The weight of this rank's gradients in the average: see DataParallel.set_weight().")
      .def("state_dict", &ShardedOptimizer::state_dict, Unlocked(),
           "The state of all parameters, as the undivided optimiser gives it. All ranks call it.")
      .def("load_state_dict", &ShardedOptimizer::load_state_dict, "state_dict"_a, Unlocked(),
           "Restores a state of the undivided optimiser. All ranks call it with the same state.");
}

}  // namespace

}  // namespace crisol::python

NB_MODULE(_dist, m) {
  using namespace crisol::python;
  nanobind::module_::import_("crisol._crisol");  // Loads its classes and its translation of errors.
  bind_run(m);
  bind_collectives(m);
  bind_data_parallel(m);
  bind_sharded_optimizer(m);
}
