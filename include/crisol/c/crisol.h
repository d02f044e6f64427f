/** @file
 * The library for C99, and for bindings of other languages.
 *
 * Every function that can fail returns a crisol_status; crisol_error_message() then says why, on the same thread. No
 * exception leaves the library. A failed call writes no result and leaves every tensor as it was. Results are written
 * through the last pointers, which must not be null unless it is said.
 *
 * Handles (tensors, models, optimizers, schedules, averages, kernels, captured graphs) belong to the caller, who gives
 * each back with its _destroy function; null is accepted there. A handle is used by one thread at a time; different
 * handles, also to the same tensor, by several.
 *
 * Work is queued: only reading to the host and crisol_synchronize wait for it. Formulas, shapes and defaults are those
 * of the C++ functions of the same names (crisol/functions, crisol/nn, crisol/optim.h). Axes count from 0, or from -1
 * backwards. */
#ifndef CRISOL_C_CRISOL_H
#define CRISOL_C_CRISOL_H

#include <stddef.h>
#include <stdint.h>

#include "crisol/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------------------------------ */

/** What a call came to. */
typedef int32_t crisol_status;
enum {
  CRISOL_OK = 0,
  CRISOL_INVALID_ARGUMENT = 1, /**< An argument breaks a rule of the function, or is null. */
  CRISOL_DEVICE_NOT_FOUND = 2,
  CRISOL_BUILD_FAILURE = 3,
  CRISOL_OUT_OF_MEMORY = 4, /**< Of the device or the host. */
  CRISOL_DEVICE_FAILURE = 5,
  CRISOL_IO = 6,
  CRISOL_INTERNAL = 7 /**< An error that the library does not know. */
};

/** Why the last call on this thread that failed did so; "" before the first. Valid until the next failure. */
CRISOL_API const char* crisol_error_message(void);

/** "MAJOR.MINOR.PATCH" of the library. */
CRISOL_API const char* crisol_version(void);

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/** Position in the list of devices; the same number is the same device as long as the process runs. */
typedef int32_t crisol_device;
/** What crisol::Device() is: set, or named by CRISOL_DEVICE, or the best there is. */
#define CRISOL_DEFAULT_DEVICE ((crisol_device)-1)

/** How many devices there are; 0 without any OpenCL platform. */
CRISOL_API crisol_status crisol_device_count(int32_t* count);
/** As CRISOL_DEVICE takes it: "gpu", "cpu", "accelerator", "platform:device", a part of a name, each with ":n". */
CRISOL_API crisol_status crisol_device_find(const char* spec, crisol_device* device);
/** What CRISOL_DEFAULT_DEVICE means from now on, on every thread. */
CRISOL_API crisol_status crisol_set_default_device(crisol_device device);
/** The number of the default device. */
CRISOL_API crisol_status crisol_default_device(crisol_device* device);
/** The name, and all facts as JSON. Valid as long as the process runs. */
CRISOL_API crisol_status crisol_device_name(crisol_device device, const char** name);
/** All facts about a device, as `crisol info --json` prints them; valid as long as the process runs. */
CRISOL_API crisol_status crisol_device_json(crisol_device device, const char** json);
/** Waits for all queued work. */
CRISOL_API crisol_status crisol_synchronize(crisol_device device);

/** Figures of a device's memory pool, in bytes; as crisol::MemoryStats. */
typedef struct crisol_memory_stats {
  uint64_t in_use;      /**< Held by tensors. */
  uint64_t cached;      /**< Free, kept for reuse. */
  uint64_t peak;        /**< Highest in_use. */
  uint64_t allocations; /**< Buffers that were taken from OpenCL so far. */
} crisol_memory_stats;
/** The figures of a device's memory pool. */
CRISOL_API crisol_status crisol_device_memory(crisol_device device, crisol_memory_stats* stats);
/** Gives what the pool keeps for reuse back to OpenCL. */
CRISOL_API crisol_status crisol_release_cached_memory(crisol_device device);
/** Bounds what the pool may take in total: crisol::Device::set_memory_limit. 0 puts the device's memory back as the
 * bound. */
CRISOL_API crisol_status crisol_set_memory_limit(crisol_device device, uint64_t bytes);

/** Starts a timeline of the process in this file: crisol::trace::start. */
CRISOL_API crisol_status crisol_trace_start(const char* path);
/** Completes its file: crisol::trace::stop. */
CRISOL_API crisol_status crisol_trace_stop(void);

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

/** A tensor: crisol::Tensor. */
typedef struct crisol_tensor crisol_tensor;

/** An element type. */
typedef int32_t crisol_dtype;
enum {
  CRISOL_F32 = 0,
  CRISOL_F16 = 1,
  CRISOL_I32 = 2,
  CRISOL_I64 = 3,
  CRISOL_U8 = 4,
  CRISOL_BOOL = 5 /**< A byte, 0 or 1. */
};

/** Axes that a tensor has at most. */
#define CRISOL_MAX_RANK 8

/** A contiguous tensor of `rank` sizes with the elements at `data`, outermost axis first, or undefined ones where data
 * is null. */
CRISOL_API crisol_status crisol_tensor_create(crisol_device device, crisol_dtype dtype, int rank, const int64_t* sizes,
                                              const void* data, crisol_tensor** result);
/** A tensor of one value. */
CRISOL_API crisol_status crisol_tensor_full(crisol_device device, crisol_dtype dtype, int rank, const int64_t* sizes,
                                            double value, crisol_tensor** result);
/** start, start + step, ... before end, of rank 1. */
CRISOL_API crisol_status crisol_tensor_arange(crisol_device device, crisol_dtype dtype, double start, double end,
                                              double step, crisol_tensor** result);
/** `count` numbers from start to end, both included. */
CRISOL_API crisol_status crisol_tensor_linspace(crisol_device device, crisol_dtype dtype, double start, double end,
                                                int64_t count, crisol_tensor** result);
/** A matrix with 1 where row and column are equal, else 0. */
CRISOL_API crisol_status crisol_tensor_eye(crisol_device device, crisol_dtype dtype, int64_t rows, int64_t columns,
                                           crisol_tensor** result);
/** f32, uniform in [0, 1), from this thread's generator. */
CRISOL_API crisol_status crisol_tensor_rand(crisol_device device, int rank, const int64_t* sizes,
                                            crisol_tensor** result);
/** As crisol_tensor_rand, but normal with mean 0 and deviation 1. */
CRISOL_API crisol_status crisol_tensor_randn(crisol_device device, int rank, const int64_t* sizes,
                                             crisol_tensor** result);
/** Seeds this thread's generators on all devices. */
CRISOL_API crisol_status crisol_manual_seed(uint64_t seed);
/** Another handle to the same tensor. */
CRISOL_API crisol_status crisol_tensor_share(const crisol_tensor* x, crisol_tensor** result);
/** Gives a handle back. */
CRISOL_API void crisol_tensor_destroy(crisol_tensor* x);

/** The element type. */
CRISOL_API crisol_status crisol_tensor_dtype(const crisol_tensor* x, crisol_dtype* dtype);
/** The device that the tensor lives on. */
CRISOL_API crisol_status crisol_tensor_device(const crisol_tensor* x, crisol_device* device);
/** The number of axes. */
CRISOL_API crisol_status crisol_tensor_rank(const crisol_tensor* x, int* rank);
/** `rank` numbers each; strides in elements. */
CRISOL_API crisol_status crisol_tensor_sizes(const crisol_tensor* x, int64_t* sizes);
/** As crisol_tensor_sizes, the strides in elements. */
CRISOL_API crisol_status crisol_tensor_strides(const crisol_tensor* x, int64_t* strides);
/** The number of elements. */
CRISOL_API crisol_status crisol_tensor_count(const crisol_tensor* x, int64_t* elements);

/** All elements, outermost axis first; `bytes` must be elements times the size of one. Reading waits. */
CRISOL_API crisol_status crisol_tensor_read(const crisol_tensor* x, void* data, size_t bytes);
/** Overwrites all elements from host memory; sizes as for reading. Does not wait. */
CRISOL_API crisol_status crisol_tensor_write(crisol_tensor* x, const void* data, size_t bytes);
/** The value of a tensor with one element; waits. */
CRISOL_API crisol_status crisol_tensor_item(const crisol_tensor* x, double* value);
/** Overwrites x with the elements of `source`, broadcast, converted and moved as needed. */
CRISOL_API crisol_status crisol_tensor_copy(crisol_tensor* x, const crisol_tensor* source);

/** Another shape with the same elements in order; one size may be -1. */
CRISOL_API crisol_status crisol_reshape(const crisol_tensor* x, int rank, const int64_t* sizes, crisol_tensor** result);
/** Repeats axes of size 1 without copying; -1 keeps a size. */
CRISOL_API crisol_status crisol_expand(const crisol_tensor* x, int rank, const int64_t* sizes, crisol_tensor** result);
/** `axes`: one for each axis of x. */
CRISOL_API crisol_status crisol_permute(const crisol_tensor* x, const int64_t* axes, crisol_tensor** result);
/** Exchanges two axes. */
CRISOL_API crisol_status crisol_transpose(const crisol_tensor* x, int axis_a, int axis_b, crisol_tensor** result);
/** Elements start ... start+length-1 along an axis. */
CRISOL_API crisol_status crisol_narrow(const crisol_tensor* x, int axis, int64_t start, int64_t length,
                                       crisol_tensor** result);
/** Element `index` along an axis, which disappears. */
CRISOL_API crisol_status crisol_select(const crisol_tensor* x, int axis, int64_t index, crisol_tensor** result);
/** Elements start, start + step, ... along an axis, `length` of them: a view for a positive step, a copy for a negative
 * one. All elements must exist, and the step must not be 0. */
CRISOL_API crisol_status crisol_slice(const crisol_tensor* x, int axis, int64_t start, int64_t length, int64_t step,
                                      crisol_tensor** result);
/** Removes an axis of size 1. */
CRISOL_API crisol_status crisol_squeeze(const crisol_tensor* x, int axis, crisol_tensor** result);
/** Inserts an axis of size 1. */
CRISOL_API crisol_status crisol_unsqueeze(const crisol_tensor* x, int axis, crisol_tensor** result);
/** The tensor where it is contiguous, else a contiguous copy. */
CRISOL_API crisol_status crisol_contiguous(const crisol_tensor* x, crisol_tensor** result);
/** A contiguous copy. */
CRISOL_API crisol_status crisol_clone(const crisol_tensor* x, crisol_tensor** result);
/** The tensor where it is on the device, else a copy there. */
CRISOL_API crisol_status crisol_to_device(const crisol_tensor* x, crisol_device device, crisol_tensor** result);
/** The tensor where it has the dtype, else a converted copy. */
CRISOL_API crisol_status crisol_to_dtype(const crisol_tensor* x, crisol_dtype dtype, crisol_tensor** result);

/* ---- OpenCL ------------------------------------------------------------------------------------------------------ */

/** A tensor over a buffer of the caller's: `memory` is a cl_mem of the device's context (crisol_opencl_context), kept
 * (clRetainMemObject) until the last handle goes; the elements begin `offset` bytes into it. */
CRISOL_API crisol_status crisol_tensor_from_opencl(crisol_device device, void* memory, size_t offset,
                                                   crisol_dtype dtype, int rank, const int64_t* sizes,
                                                   crisol_tensor** result);
/** The tensor's cl_mem and the byte at which its first element lies; valid while the handle is. */
CRISOL_API crisol_status crisol_tensor_opencl(const crisol_tensor* x, void** memory, size_t* offset);
/** The cl_context, and the in-order cl_command_queue of all work. */
CRISOL_API crisol_status crisol_opencl_context(crisol_device device, void** context);
/** The in-order cl_command_queue of all work. */
CRISOL_API crisol_status crisol_opencl_queue(crisol_device device, void** queue);
/** Says that x was written by others: backward then knows that values it saved are gone. */
CRISOL_API crisol_status crisol_tensor_written(crisol_tensor* x);
/** A further device, which works in a cl_context and an in-order cl_command_queue of the caller's; `opencl_device` is
 * its cl_device_id. */
CRISOL_API crisol_status crisol_device_from_opencl(void* opencl_device, void* context, void* queue,
                                                   crisol_device* device);

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/** Makes a leaf want a gradient (1) or no more (0). */
CRISOL_API crisol_status crisol_set_requires_grad(crisol_tensor* x, int wanted);
/** Whether a gradient is wanted, or the tensor depends on one that wants it. */
CRISOL_API crisol_status crisol_requires_grad(const crisol_tensor* x, int* wanted);
/** `gradient` may be null where x has one element. */
CRISOL_API crisol_status crisol_backward(const crisol_tensor* x, const crisol_tensor* gradient, int retain_graph);
/** The accumulated gradient; null before the first backward. */
CRISOL_API crisol_status crisol_grad(const crisol_tensor* x, crisol_tensor** result);
/** Settings of crisol_backward_with and crisol_gradients; zeros are the defaults. */
typedef struct crisol_grad_options {
  int32_t retain_graph; /**< 1: keeps the graph for another backward. */
  int32_t create_graph; /**< 1: records the gradients, so that they have gradients. Keeps the graph too. */
  int32_t allow_unused; /**< 1: crisol_gradients gives null for an input that no output depends on, and no error. */
} crisol_grad_options;

/** crisol_backward with options, which may be null. */
CRISOL_API crisol_status crisol_backward_with(const crisol_tensor* x, const crisol_tensor* gradient,
                                              const crisol_grad_options* options);
/** The gradients of the outputs, added up, with respect to each input, which may be a leaf or a result inside the
 * graph. Changes no gradient that crisol_grad gives. `gradients` holds one gradient for each output, null where the
 * output has one element; the list may be null too. `options` may be null. `results` has a place for each input. */
CRISOL_API crisol_status crisol_gradients(int output_count, const crisol_tensor* const* outputs,
                                          const crisol_tensor* const* gradients, int input_count,
                                          const crisol_tensor* const* inputs, const crisol_grad_options* options,
                                          crisol_tensor** results);
/** Makes backward store the gradient of a result, where crisol_grad finds it, as it does for a leaf. */
CRISOL_API crisol_status crisol_retain_grad(crisol_tensor* x);

/** A function that backward calls with a gradient. It may give a new tensor in *replacement, which the library then
 * owns; null keeps the gradient. A result other than 0 ends backward with CRISOL_INVALID_ARGUMENT. */
typedef int (*crisol_gradient_function)(void* user_data, const crisol_tensor* gradient, crisol_tensor** replacement);
/** A function that backward calls with a leaf. A result other than 0 ends backward with CRISOL_INVALID_ARGUMENT. */
typedef int (*crisol_leaf_function)(void* user_data, const crisol_tensor* leaf);
/** A registered hook. */
typedef struct crisol_hook crisol_hook;

/** Calls `function` in each backward when all of x's gradient is known, before anything uses it. `release` may be null;
 * it is called with user_data when the library needs the hook no more. It is called too if this call fails. */
CRISOL_API crisol_status crisol_register_hook(const crisol_tensor* x, crisol_gradient_function function,
                                              void* user_data, void (*release)(void* user_data), crisol_hook** hook);
/** Calls `function` in each backward as soon as the last part of this leaf's gradient was added, before backward goes
 * on to earlier ops. */
CRISOL_API crisol_status crisol_register_post_accumulate_grad_hook(const crisol_tensor* x,
                                                                   crisol_leaf_function function, void* user_data,
                                                                   void (*release)(void* user_data),
                                                                   crisol_hook** hook);
/** Removes the hook from its tensor. */
CRISOL_API crisol_status crisol_hook_remove(crisol_hook* hook);
/** Frees the handle; the hook stays. Null is allowed. */
CRISOL_API void crisol_hook_destroy(crisol_hook* hook);

/** Whether each op and each step of backward waits for its result, and fails if it holds NaN or infinity, in the whole
 * process (0 at first, or 1 by CRISOL_DETECT_ANOMALY=1). */
CRISOL_API void crisol_set_detect_anomaly(int enabled);

/** The same elements, outside the graph. */
CRISOL_API crisol_status crisol_detach(const crisol_tensor* x, crisol_tensor** result);
/** Whether ops on this thread are recorded for backward (1 at first); returns what was set before. */
CRISOL_API int crisol_set_grad_enabled(int enabled);

/* ---- Precision of products --------------------------------------------------------------------------------------- */

/** What the operands of matrix products, and of what is made of them, may be rounded to; crisol/precision.h says more.
 */
typedef int32_t crisol_precision;
enum { CRISOL_FP32 = 0, CRISOL_TF32 = 1, CRISOL_FP16 = 2, CRISOL_BF16 = 3 };

/** Of all threads; CRISOL_FP32 at first, or what the variable CRISOL_PRECISION names. */
CRISOL_API crisol_status crisol_set_precision(crisol_precision precision);
/** What crisol_set_precision set. */
CRISOL_API crisol_status crisol_get_precision(crisol_precision* precision);
/** What the device multiplies matrices with in that precision: "mma_sm80", …, empty where they are computed in fp32 all
 * the same. Valid as long as the process runs. */
CRISOL_API crisol_status crisol_matrix_units(crisol_device device, crisol_precision precision, const char** unit);

/* ---- Ops, recorded for backward ---------------------------------------------------------------------------------- */

/** Pointwise and reducing functions are called by their names, which the functions ending in _names list:
 * "add", "relu", "where", …; "sum", "argmax", "var", …. */

/** An input of a pointwise function: a tensor, or where that is null the number. A number without a fraction counts as
 * whole: it leaves a tensor of integers one of integers. */
typedef struct crisol_operand {
  const crisol_tensor* tensor; /**< May be null: */
  double number;               /**< then this counts. */
} crisol_operand;

/** `number`: the function's further parameters, such as the slope of leaky_relu, all of them. */
CRISOL_API crisol_status crisol_pointwise(const char* function, int inputs, const crisol_operand* input, int numbers,
                                          const double* number, crisol_tensor** result);
/** `axes`, `axis_count` of them, disappear, or stay with size 1 with keepdim; none means all. `parameter`: the
 * correction of var and stddev, p of norm; otherwise not looked at. */
CRISOL_API crisol_status crisol_reduce(const char* function, const crisol_tensor* x, int axis_count,
                                       const int64_t* axes, int keepdim, double parameter, crisol_tensor** result);
/** Separated by blanks: of crisol_pointwise, of crisol_reduce. */
CRISOL_API const char* crisol_pointwise_names(void);
/** The names that crisol_reduce takes, separated by blanks. */
CRISOL_API const char* crisol_reduce_names(void);

/** crisol::matmul: a (..., M, K) times b (..., K, N); one or both may be vectors (K). */
CRISOL_API crisol_status crisol_matmul(const crisol_tensor* a, const crisol_tensor* b, crisol_tensor** result);
/** bias may be null. */
CRISOL_API crisol_status crisol_linear(const crisol_tensor* x, const crisol_tensor* weight, const crisol_tensor* bias,
                                       crisol_tensor** result);

/** As crisol::Conv2dOptions: height, then width. */
typedef struct crisol_conv2d_options {
  int stride[2];   /**< At least 1. */
  int padding[2];  /**< Zeros on all sides. */
  int dilation[2]; /**< At least 1. */
  int groups;      /**< A divisor of the channels. */
} crisol_conv2d_options;
/** The defaults, as an initialiser. */
#define CRISOL_CONV2D_OPTIONS \
  { {1, 1}, {0, 0}, {1, 1}, 1 }
/** bias and options may be null. */
CRISOL_API crisol_status crisol_conv2d(const crisol_tensor* x, const crisol_tensor* weight, const crisol_tensor* bias,
                                       const crisol_conv2d_options* options, crisol_tensor** result);

/** A stride of 0 is the kernel's size. */
typedef struct crisol_pool2d_options {
  int kernel[2];         /**< The window's height and width. */
  int stride[2];         /**< 0: the kernel's size. */
  int padding[2];        /**< At most half of the kernel. */
  int dilation[2];       /**< Of max_pool2d. */
  int ceil_mode;         /**< Rounds the output's size up. */
  int count_include_pad; /**< Of avg_pool2d. */
} crisol_pool2d_options;
/** The defaults for a square kernel, as an initialiser. */
#define CRISOL_POOL2D_OPTIONS(size) \
  { {size, size}, {0, 0}, {0, 0}, {1, 1}, 0, 1 }
/** crisol::max_pool2d of (N, C, H, W). */
CRISOL_API crisol_status crisol_max_pool2d(const crisol_tensor* x, const crisol_pool2d_options* options,
                                           crisol_tensor** result);
/** crisol::avg_pool2d of (N, C, H, W). */
CRISOL_API crisol_status crisol_avg_pool2d(const crisol_tensor* x, const crisol_pool2d_options* options,
                                           crisol_tensor** result);
/** crisol::adaptive_avg_pool2d: means, (N, C, height, width) of them. */
CRISOL_API crisol_status crisol_adaptive_avg_pool2d(const crisol_tensor* x, int height, int width,
                                                    crisol_tensor** result);

/** weight and bias may be null, the running statistics both in training. */
CRISOL_API crisol_status crisol_batch_norm2d(const crisol_tensor* x, const crisol_tensor* weight,
                                             const crisol_tensor* bias, crisol_tensor* running_mean,
                                             crisol_tensor* running_var, int training, double momentum, double epsilon,
                                             crisol_tensor** result);
/** Over the last `rank` axes, whose sizes are `sizes`. */
CRISOL_API crisol_status crisol_layer_norm(const crisol_tensor* x, int rank, const int64_t* sizes,
                                           const crisol_tensor* weight, const crisol_tensor* bias, double epsilon,
                                           crisol_tensor** result);
/** crisol::dropout: in training each element is 0 with probability p, the others are divided by 1 - p. */
CRISOL_API crisol_status crisol_dropout(const crisol_tensor* x, double p, int training, crisol_tensor** result);
/** crisol::softmax along an axis. */
CRISOL_API crisol_status crisol_softmax(const crisol_tensor* x, int axis, crisol_tensor** result);
/** crisol::log_softmax along an axis. */
CRISOL_API crisol_status crisol_log_softmax(const crisol_tensor* x, int axis, crisol_tensor** result);
/** crisol::cumsum along an axis. */
CRISOL_API crisol_status crisol_cumsum(const crisol_tensor* x, int axis, crisol_tensor** result);

/** What becomes of the losses of rows or elements; as crisol::Reduction. */
typedef int32_t crisol_reduction;
enum { CRISOL_MEAN = 0, CRISOL_SUM = 1, CRISOL_NONE = 2 };
/** crisol::cross_entropy of logits (N, C) and labels (N); ignore_index is -100 in PyTorch. */
CRISOL_API crisol_status crisol_cross_entropy(const crisol_tensor* logits, const crisol_tensor* labels,
                                              crisol_reduction reduction, double label_smoothing, int64_t ignore_index,
                                              crisol_tensor** result);
/** crisol::nll_loss of log-probabilities (N, C) and labels (N). */
CRISOL_API crisol_status crisol_nll_loss(const crisol_tensor* x, const crisol_tensor* labels,
                                         crisol_reduction reduction, int64_t ignore_index, crisol_tensor** result);
/** crisol::mse_loss of two tensors of one shape. */
CRISOL_API crisol_status crisol_mse_loss(const crisol_tensor* x, const crisol_tensor* target,
                                         crisol_reduction reduction, crisol_tensor** result);

/** crisol::cat: one after another along an axis. */
CRISOL_API crisol_status crisol_cat(int count, const crisol_tensor* const* tensors, int axis, crisol_tensor** result);
/** crisol::stack: along a new axis. */
CRISOL_API crisol_status crisol_stack(int count, const crisol_tensor* const* tensors, int axis, crisol_tensor** result);
/** `before` and `after`: how many elements are added at the two ends of each axis of x. */
CRISOL_API crisol_status crisol_pad(const crisol_tensor* x, const int64_t* before, const int64_t* after, double value,
                                    crisol_tensor** result);
/** crisol::flip: the opposite order along `axes`. */
CRISOL_API crisol_status crisol_flip(const crisol_tensor* x, int axis_count, const int64_t* axes,
                                     crisol_tensor** result);
/** crisol::roll: one shift for each axis; without axes, one shift in the order of the elements. */
CRISOL_API crisol_status crisol_roll(const crisol_tensor* x, int shift_count, const int64_t* shifts, int axis_count,
                                     const int64_t* axes, crisol_tensor** result);
/** crisol::repeat: x counts[i] times along axis i; more counts than axes add axes in front. */
CRISOL_API crisol_status crisol_repeat(const crisol_tensor* x, int rank, const int64_t* counts, crisol_tensor** result);
/** crisol::tile: crisol_repeat, where fewer counts than axes belong to the last axes. */
CRISOL_API crisol_status crisol_tile(const crisol_tensor* x, int rank, const int64_t* counts, crisol_tensor** result);
/** crisol::isclose: |a - b| <= atol + rtol |b| for each element, as bool. */
CRISOL_API crisol_status crisol_isclose(const crisol_tensor* a, const crisol_tensor* b, double rtol, double atol,
                                        int equal_nan, crisol_tensor** result);
/** Whether all elements are close; waits. */
CRISOL_API crisol_status crisol_allclose(const crisol_tensor* a, const crisol_tensor* b, double rtol, double atol,
                                         int equal_nan, int* close);
/** crisol::tril: 0 above a diagonal of the last two axes. */
CRISOL_API crisol_status crisol_tril(const crisol_tensor* x, int64_t diagonal, crisol_tensor** result);
/** crisol::triu: 0 below a diagonal of the last two axes. */
CRISOL_API crisol_status crisol_triu(const crisol_tensor* x, int64_t diagonal, crisol_tensor** result);

/** crisol::gather along an axis. */
CRISOL_API crisol_status crisol_gather(const crisol_tensor* x, int axis, const crisol_tensor* index,
                                       crisol_tensor** result);
/** crisol::index_select: slices along an axis. */
CRISOL_API crisol_status crisol_index_select(const crisol_tensor* x, int axis, const crisol_tensor* index,
                                             crisol_tensor** result);
/** crisol::scatter_add along an axis. */
CRISOL_API crisol_status crisol_scatter_add(const crisol_tensor* x, int axis, const crisol_tensor* index,
                                            const crisol_tensor* source, crisol_tensor** result);
/** crisol::index_add: slices added along an axis. */
CRISOL_API crisol_status crisol_index_add(const crisol_tensor* x, int axis, const crisol_tensor* index,
                                          const crisol_tensor* source, crisol_tensor** result);
/** padding_idx: the row that gets no gradient, or a negative number. */
CRISOL_API crisol_status crisol_embedding(const crisol_tensor* weight, const crisol_tensor* indices,
                                          int64_t padding_idx, crisol_tensor** result);
/** crisol::one_hot; classes -1: one more than the largest index, which waits. */
CRISOL_API crisol_status crisol_one_hot(const crisol_tensor* indices, int64_t classes, crisol_dtype dtype,
                                        crisol_tensor** result);
/** Both results, or either may be null. */
CRISOL_API crisol_status crisol_sort(const crisol_tensor* x, int axis, int descending, crisol_tensor** values,
                                     crisol_tensor** indices);
/** crisol::topk along an axis; either result pointer may be null. */
CRISOL_API crisol_status crisol_topk(const crisol_tensor* x, int64_t k, int axis, int largest, crisol_tensor** values,
                                     crisol_tensor** indices);
/** crisol::multinomial: indices (N, draws) by weights (N, C). */
CRISOL_API crisol_status crisol_multinomial(const crisol_tensor* weights, int64_t draws, int replacement,
                                            crisol_tensor** result);

/** An index for each row of logits; top_k 0: all. */
CRISOL_API crisol_status crisol_sample_logits(const crisol_tensor* logits, double temperature, int64_t top_k,
                                              crisol_tensor** result);

/** A formula; as crisol::RnnCell. */
typedef int32_t crisol_rnn_cell;
enum { CRISOL_RNN_TANH = 0, CRISOL_RNN_RELU = 1, CRISOL_LSTM = 2, CRISOL_GRU = 3 };
/** One layer in one direction. x (T, B, I); null: h0, c0 (zeros), lengths (all T), both biases, weight_hr. Results: y,
 * and where the pointers are not null the last states. */
typedef struct crisol_rnn_input {
  const crisol_tensor* x;         /**< (T, B, I) */
  const crisol_tensor* h0;        /**< (B, R), or null for zeros. */
  const crisol_tensor* c0;        /**< (B, H), or null for zeros; LSTM only. */
  const crisol_tensor* lengths;   /**< (B), i64, or null: all are T. */
  const crisol_tensor* weight_ih; /**< (G H, I) */
  const crisol_tensor* weight_hh; /**< (G H, R) */
  const crisol_tensor* bias_ih;   /**< (G H), or null like the other bias. */
  const crisol_tensor* bias_hh;   /**< (G H) */
  const crisol_tensor* weight_hr; /**< (R, H), or null; LSTM only. */
  crisol_rnn_cell cell;           /**< Which formula. */
  int reverse;                    /**< From each sequence's last step to its first. */
} crisol_rnn_input;
/** crisol::rnn: y (T, B, R), h_n (B, R), c_n (B, H) for an LSTM. */
CRISOL_API crisol_status crisol_rnn(const crisol_rnn_input* input, crisol_tensor** y, crisol_tensor** h_n,
                                    crisol_tensor** c_n);

/* ---- Models ------------------------------------------------------------------------------------------------------ */

/** A network: crisol::nn::Module. */
typedef struct crisol_model crisol_model;

/** "simple_cnn", "row_lstm", "alexnet", "vgg16", "resnet18", "mobilenet_v2", with fresh parameters on a device. */
CRISOL_API crisol_status crisol_model_create(const char* name, int64_t classes, crisol_device device,
                                             crisol_model** result);
/** Another model with copies of the parameters, buffers and hooks: crisol::nn::clone. */
CRISOL_API crisol_status crisol_model_clone(const crisol_model* model, crisol_model** result);
/** Gives a model back. */
CRISOL_API void crisol_model_destroy(crisol_model* model);
/** The layers with settings and parameter counts, one in each line; valid until the next call for this model. */
CRISOL_API crisol_status crisol_model_text(crisol_model* model, const char** text);
/** Parameters and buffers from and to a safetensors file. */
CRISOL_API crisol_status crisol_model_load(crisol_model* model, const char* path);
/** Loads what the file and the model have both. Gives the number of names that the file lacks, and of those that the
 * model lacks; both pointers may be null. */
CRISOL_API crisol_status crisol_model_load_partial(crisol_model* model, const char* path, int32_t* missing,
                                                   int32_t* unexpected);
/** Writes parameters and buffers to a safetensors file. */
CRISOL_API crisol_status crisol_model_save(const crisol_model* model, const char* path);
/** Training mode, which is on at first. */
CRISOL_API crisol_status crisol_model_train(crisol_model* model, int on);
/** The output for one input. */
CRISOL_API crisol_status crisol_model_forward(crisol_model* model, const crisol_tensor* x, crisol_tensor** result);
/** How many parameter tensors there are. */
CRISOL_API crisol_status crisol_model_parameter_count(const crisol_model* model, int32_t* tensors);
/** Parameter `index`; its name is valid as long as the model. Both pointers may be null. */
CRISOL_API crisol_status crisol_model_parameter(const crisol_model* model, int32_t index, const char** name,
                                                crisol_tensor** result);

/* ---- Optimizers -------------------------------------------------------------------------------------------------- */

/** An optimiser over parameters: crisol::optim::Optimizer. */
typedef struct crisol_optimizer crisol_optimizer;

/** A setting of an optimizer by the name of its C++ option ("lr", "weight_decay", …). Options that are yes or no are 1
 * or 0. */
typedef struct crisol_setting {
  const char* name; /**< As the member of the C++ options. */
  double value;     /**< The number, or 1 or 0. */
} crisol_setting;

/** An optimizer by its name: "sgd", "adam", "adamw", "rmsprop" or "lion". Settings that are not given have the defaults
 * of C++. */
CRISOL_API crisol_status crisol_optimizer_create(const char* kind, int count, const crisol_tensor* const* parameters,
                                                 int settings, const crisol_setting* setting,
                                                 crisol_optimizer** result);
/** crisol::optim::SGD. */
CRISOL_API crisol_status crisol_sgd(int count, const crisol_tensor* const* parameters, double lr, double momentum,
                                    double weight_decay, int nesterov, crisol_optimizer** result);
/** crisol::optim::Adam. */
CRISOL_API crisol_status crisol_adam(int count, const crisol_tensor* const* parameters, double lr, double beta1,
                                     double beta2, double eps, double weight_decay, crisol_optimizer** result);
/** crisol::optim::AdamW. */
CRISOL_API crisol_status crisol_adamw(int count, const crisol_tensor* const* parameters, double lr, double beta1,
                                      double beta2, double eps, double weight_decay, crisol_optimizer** result);
/** crisol::optim::RMSprop. */
CRISOL_API crisol_status crisol_rmsprop(int count, const crisol_tensor* const* parameters, double lr, double alpha,
                                        double eps, double weight_decay, double momentum, int centered,
                                        crisol_optimizer** result);
/** Gives an optimiser back. Destroy its schedules first. */
CRISOL_API void crisol_optimizer_destroy(crisol_optimizer* optimizer);
/** Adds a group of parameters. Settings that are not given are those of the first group. */
CRISOL_API crisol_status crisol_optimizer_add_param_group(crisol_optimizer* optimizer, int count,
                                                          const crisol_tensor* const* parameters, int settings,
                                                          const crisol_setting* setting);
/** How many groups there are. */
CRISOL_API crisol_status crisol_optimizer_group_count(const crisol_optimizer* optimizer, int32_t* groups);
/** Changes settings of a group. */
CRISOL_API crisol_status crisol_optimizer_set(crisol_optimizer* optimizer, int32_t group, int settings,
                                              const crisol_setting* setting);
/** A setting of a group. */
CRISOL_API crisol_status crisol_optimizer_get(const crisol_optimizer* optimizer, int32_t group, const char* name,
                                              double* value);
/** Forgets the gradients. */
CRISOL_API crisol_status crisol_optimizer_zero_grad(crisol_optimizer* optimizer);
/** Updates the parameters that got a gradient. Refused when none has one. */
CRISOL_API crisol_status crisol_optimizer_step(crisol_optimizer* optimizer);
/** Sets the learning rate of all groups. */
CRISOL_API crisol_status crisol_optimizer_set_lr(crisol_optimizer* optimizer, double lr);
/** Scales the gradients so that their norm is at most max_norm; the norm before is written unless `norm` is null. */
CRISOL_API crisol_status crisol_clip_grad_norm(int count, const crisol_tensor* const* parameters, double max_norm,
                                               crisol_tensor** norm);
/** Brings every element of the gradients into [-clip_value, clip_value]. */
CRISOL_API crisol_status crisol_clip_grad_value(int count, const crisol_tensor* const* parameters, double clip_value);

/* ---- Schedules and averages -------------------------------------------------------------------------------------- */

/** A learning-rate schedule: crisol::optim::LRScheduler or ReduceLROnPlateau. The optimizer must outlive it. */
typedef struct crisol_schedule crisol_schedule;

/** crisol::optim::LambdaLR: factor(steps, data) times the base rate. */
CRISOL_API crisol_status crisol_lambda_lr(crisol_optimizer* optimizer, double (*factor)(int64_t steps, void* data),
                                          void* data, crisol_schedule** result);
/** crisol::optim::StepLR. */
CRISOL_API crisol_status crisol_step_lr(crisol_optimizer* optimizer, int64_t step_size, double gamma,
                                        crisol_schedule** result);
/** crisol::optim::MultiStepLR with `count` milestones. */
CRISOL_API crisol_status crisol_multi_step_lr(crisol_optimizer* optimizer, int count, const int64_t* milestones,
                                              double gamma, crisol_schedule** result);
/** crisol::optim::ExponentialLR. */
CRISOL_API crisol_status crisol_exponential_lr(crisol_optimizer* optimizer, double gamma, crisol_schedule** result);
/** crisol::optim::ConstantLR. */
CRISOL_API crisol_status crisol_constant_lr(crisol_optimizer* optimizer, double factor, int64_t total_iters,
                                            crisol_schedule** result);
/** crisol::optim::LinearLR. */
CRISOL_API crisol_status crisol_linear_lr(crisol_optimizer* optimizer, double start_factor, double end_factor,
                                          int64_t total_iters, crisol_schedule** result);
/** crisol::optim::CosineAnnealingLR. */
CRISOL_API crisol_status crisol_cosine_annealing_lr(crisol_optimizer* optimizer, int64_t t_max, double eta_min,
                                                    crisol_schedule** result);
/** crisol::optim::CosineAnnealingWarmRestarts. */
CRISOL_API crisol_status crisol_cosine_annealing_warm_restarts(crisol_optimizer* optimizer, int64_t t_0, int64_t t_mult,
                                                               double eta_min, crisol_schedule** result);
/** crisol::optim::OneCycleLR; its other options have their defaults. */
CRISOL_API crisol_status crisol_one_cycle_lr(crisol_optimizer* optimizer, double max_lr, int64_t total_steps,
                                             double pct_start, int cycle_momentum, crisol_schedule** result);
/** crisol::optim::SequentialLR of `count` schedules and count - 1 milestones. The given handles stay the caller's. */
CRISOL_API crisol_status crisol_sequential_lr(crisol_optimizer* optimizer, int count, crisol_schedule* const* schedules,
                                              const int64_t* milestones, crisol_schedule** result);
/** crisol::optim::ReduceLROnPlateau. `rises`: 1 when a higher metric is better. `absolute`: 1 when threshold is a
 * difference, 0 when it is a share. */
CRISOL_API crisol_status crisol_reduce_lr_on_plateau(crisol_optimizer* optimizer, int rises, double factor,
                                                     int64_t patience, double threshold, int absolute, int64_t cooldown,
                                                     double min_lr, crisol_schedule** result);
/** Gives a schedule back. */
CRISOL_API void crisol_schedule_destroy(crisol_schedule* schedule);
/** To be called after each step of the optimizer. */
CRISOL_API crisol_status crisol_schedule_step(crisol_schedule* schedule);
/** The same for crisol_reduce_lr_on_plateau. */
CRISOL_API crisol_status crisol_schedule_step_metric(crisol_schedule* schedule, double metric);
/** The rate of a group that the schedule set last. */
CRISOL_API crisol_status crisol_schedule_last_lr(const crisol_schedule* schedule, int32_t group, double* lr);

/** A moving average of parameters: crisol::optim::EMA. */
typedef struct crisol_ema crisol_ema;
/** An average that begins as a copy. */
CRISOL_API crisol_status crisol_ema_create(int count, const crisol_tensor* const* parameters, double decay,
                                           crisol_ema** result);
/** Gives an average back. */
CRISOL_API void crisol_ema_destroy(crisol_ema* ema);
/** Averages the present values in. */
CRISOL_API crisol_status crisol_ema_update(crisol_ema* ema);
/** Gives the parameters the averages, until crisol_ema_restore. */
CRISOL_API crisol_status crisol_ema_apply(crisol_ema* ema);
/** Gives the parameters back their own values. */
CRISOL_API crisol_status crisol_ema_restore(crisol_ema* ema);

/* ---- Kernels of your own ----------------------------------------------------------------------------------------- */

/** A kernel in OpenCL C: crisol::Kernel. */
typedef struct crisol_kernel crisol_kernel;
/** Reads the parameters of the kernel `name` from the source, and compiles nothing. `group` holds the sizes of a
 * work-group, or is null with group_rank 0. build_options may be null. */
CRISOL_API crisol_status crisol_kernel_create(const char* source, const char* name, int group_rank,
                                              const int64_t* group, const char* build_options, crisol_kernel** result);
/** Queues the kernel with one work-item for each point of `range`. There is one argument for each parameter of the
 * kernel; crisol/kernel.h says which arguments a parameter takes. */
CRISOL_API crisol_status crisol_kernel_run(const crisol_kernel* kernel, int rank, const int64_t* range, int count,
                                           const crisol_operand* argument);
/** Gives a kernel back. */
CRISOL_API void crisol_kernel_destroy(crisol_kernel* kernel);

/* ---- Captured graphs --------------------------------------------------------------------------------------------- */

/** A fixed sequence of work on a device: crisol::CapturedGraph. */
typedef struct crisol_captured_graph crisol_captured_graph;
/** Calls work(data) once and captures the commands that this thread queues on the device in this time.
 * crisol/capture.h says what the work may not do. If the work returns another status than CRISOL_OK, this status is
 * returned, and nothing is captured. */
CRISOL_API crisol_status crisol_capture(crisol_device device, crisol_status (*work)(void* data), void* data,
                                        crisol_captured_graph** result);
/** Queues the commands once more, on the memory that they had. */
CRISOL_API crisol_status crisol_captured_graph_replay(crisol_captured_graph* graph);
/** Gives a graph back, and its memory. */
CRISOL_API void crisol_captured_graph_destroy(crisol_captured_graph* graph);

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/** Writes tensors under names to a safetensors file. */
CRISOL_API crisol_status crisol_save_tensors(const char* path, int count, const char* const* names,
                                             const crisol_tensor* const* tensors);
/** The tensor of that name in a safetensors file. */
CRISOL_API crisol_status crisol_load_tensor(const char* path, const char* name, crisol_device device,
                                            crisol_tensor** result);

#ifdef __cplusplus
}
#endif

#endif
