/** @file
 * Training on several devices for C99: crisol/dist.h. The functions are in libcrisol_dist, and follow the rules of
 * crisol/c/crisol.h. */
#ifndef CRISOL_C_DIST_H
#define CRISOL_C_DIST_H

#include "crisol/c/crisol.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Connects all ranks, and chooses the default device of this one: crisol::dist::init. */
CRISOL_API crisol_status crisol_dist_init(void);
/** Waits for all ranks and ends the run: crisol::dist::finish. */
CRISOL_API crisol_status crisol_dist_finish(void);
/** Prints the reason, and ends all ranks at once. Does not return. */
CRISOL_API void crisol_dist_fail(const char* reason);
/** The number of this process, and of all processes. */
CRISOL_API crisol_status crisol_dist_rank(int32_t* rank, int32_t* world);
/** Like crisol_dist_rank, but only among the processes of this machine. */
CRISOL_API crisol_status crisol_dist_local_rank(int32_t* rank, int32_t* world);

/** How elements are combined: crisol::dist::ReduceOp. */
typedef int32_t crisol_dist_op;
enum { CRISOL_DIST_SUM = 0, CRISOL_DIST_MEAN = 1, CRISOL_DIST_MIN = 2, CRISOL_DIST_MAX = 3 };

/** Combines the elements of all ranks in place. */
CRISOL_API crisol_status crisol_dist_all_reduce(crisol_tensor* x, crisol_dist_op op);
/** Gives all ranks the elements of one rank. */
CRISOL_API crisol_status crisol_dist_broadcast(crisol_tensor* x, int32_t root);
/** The tensors of all ranks, joined along axis 0. */
CRISOL_API crisol_status crisol_dist_all_gather(const crisol_tensor* x, crisol_tensor** result);
/** Combines the tensors of all ranks, cuts the result along axis 0, and gives this rank its part. */
CRISOL_API crisol_status crisol_dist_reduce_scatter(const crisol_tensor* x, crisol_dist_op op, crisol_tensor** result);
/** Waits until all ranks are here. */
CRISOL_API crisol_status crisol_dist_barrier(void);

/** Averages the gradients of parameters in each backward: crisol::dist::DataParallel. */
typedef struct crisol_data_parallel crisol_data_parallel;
/** The members of crisol::dist::DataParallelOptions. */
typedef struct crisol_data_parallel_options {
  int64_t bucket_bytes;       /**< Gradients are summed in buckets of about this size. */
  int64_t first_bucket_bytes; /**< The size of the first bucket. */
  int overlap;                /**< 1: sums a bucket while backward computes the others. */
  int64_t check_every;        /**< Steps between two comparisons of the weights; 0: never. */
} crisol_data_parallel_options;
/** The defaults, as an initialiser. */
#define CRISOL_DATA_PARALLEL_OPTIONS \
  { 26214400, 1048576, 1, 500 }
/** Gives all ranks the parameters and buffers of rank 0, and averages gradients from then on. `buffers` and `options`
 * may be null. */
CRISOL_API crisol_status crisol_data_parallel_create(const crisol_named_tensors* parameters,
                                                     const crisol_named_tensors* buffers,
                                                     const crisol_data_parallel_options* options,
                                                     crisol_data_parallel** result);
/** Stops averaging gradients. Accepts null. */
CRISOL_API void crisol_data_parallel_destroy(crisol_data_parallel* parallel);
/** The weight of this rank's gradients, such as its number of samples. */
CRISOL_API crisol_status crisol_data_parallel_set_weight(crisol_data_parallel* parallel, double weight);
/** With 0, backward sums nothing, and gradients add up on each rank. */
CRISOL_API crisol_status crisol_data_parallel_set_sync(crisol_data_parallel* parallel, int sync);
/** Takes part in a backward of the other ranks without samples. */
CRISOL_API crisol_status crisol_data_parallel_backward_without_samples(crisol_data_parallel* parallel);
/** Gives the buffers of rank 0 to all ranks. */
CRISOL_API crisol_status crisol_data_parallel_sync_buffers(crisol_data_parallel* parallel);
/** Fails on all ranks if their weights differ. */
CRISOL_API crisol_status crisol_data_parallel_check_weights(crisol_data_parallel* parallel);

/** Lets all layers of batch norm of a model use the statistics of all ranks in training: crisol::dist::sync_batch_norm.
 * Gives their number to the caller, unless `layers` is null. */
CRISOL_API crisol_status crisol_dist_sync_batch_norm(crisol_model* model, int32_t* layers);

/** An optimizer whose state is divided among the ranks: crisol::dist::ShardedOptimizer. */
typedef struct crisol_sharded_optimizer crisol_sharded_optimizer;
/** Gives all ranks the parameters of rank 0. Kind and settings are the same as for crisol_optimizer_create. */
CRISOL_API crisol_status crisol_sharded_optimizer_create(const crisol_named_tensors* parameters, const char* kind,
                                                         int settings, const crisol_setting* setting,
                                                         crisol_sharded_optimizer** result);
/** Accepts null. */
CRISOL_API void crisol_sharded_optimizer_destroy(crisol_sharded_optimizer* optimizer);
/** The optimizer of this rank's part, for learning rates and schedules. It belongs to the sharded optimizer: do not
 * destroy it. */
CRISOL_API crisol_status crisol_sharded_optimizer_own(crisol_sharded_optimizer* optimizer, crisol_optimizer** own);
/** Discards the gradients. */
CRISOL_API crisol_status crisol_sharded_optimizer_zero_grad(crisol_sharded_optimizer* optimizer);
/** Fills the gradients with zeros. They stay the same tensors. */
CRISOL_API crisol_status crisol_sharded_optimizer_zero_grad_in_place(crisol_sharded_optimizer* optimizer);
/** One step of all ranks. */
CRISOL_API crisol_status crisol_sharded_optimizer_step(crisol_sharded_optimizer* optimizer);
/** The weight of this rank's gradients, such as its number of samples. */
CRISOL_API crisol_status crisol_sharded_optimizer_set_weight(crisol_sharded_optimizer* optimizer, double weight);
/** Averages the gradients and limits their common norm: crisol::dist::ShardedOptimizer::clip_grad_norm. Gives the norm
 * before scaling to the caller, unless `norm` is null. */
CRISOL_API crisol_status crisol_sharded_optimizer_clip_grad_norm(crisol_sharded_optimizer* optimizer, double max_norm,
                                                                 double* norm);
/** The state of the undivided optimizer. All ranks call it. */
CRISOL_API crisol_status crisol_sharded_optimizer_state_dict(crisol_sharded_optimizer* optimizer,
                                                             crisol_named_tensors** result);
/** Restores a state of the undivided optimizer. All ranks call it. */
CRISOL_API crisol_status crisol_sharded_optimizer_load_state_dict(crisol_sharded_optimizer* optimizer,
                                                                  const crisol_named_tensors* state);

#ifdef __cplusplus
}
#endif

#endif
