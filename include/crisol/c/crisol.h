/** @file
 * The library for C99, and for bindings of other languages.
 *
 * Every function that can fail returns a crisol_status. After a failure, crisol_error_message() gives the reason on the
 * same thread. No exception leaves the library. A failed call writes no result and leaves every tensor unchanged.
 * Results are written through the last pointers. These must not be null, unless a comment allows it.
 *
 * Handles (tensors and lists of them, models, optimizers, schedules, averages, kernels, captured graphs, data sets and
 * loaders, checkpoints, texts) belong to the caller. Each kind has a _destroy function, which accepts null. Only one
 * thread may use a handle at a time. Several threads may use different handles, also to the same tensor.
 *
 * Work is queued. Only reading to the host and crisol_synchronize wait for it. The C++ functions of the same names
 * (crisol/functions, crisol/nn, crisol/optim.h, crisol/io) describe formulas, shapes and defaults. Axes count from 0,
 * or from -1 backwards. */
#ifndef CRISOL_C_CRISOL_H
#define CRISOL_C_CRISOL_H

#include <stddef.h>
#include <stdint.h>

#include "crisol/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------------------------------ */

/** The outcome of a call. CRISOL_OK is 0. */
typedef int32_t crisol_status;
enum {
  CRISOL_OK = 0,
  CRISOL_INVALID_ARGUMENT = 1, /**< An argument breaks a rule of the function, or is null. */
  CRISOL_DEVICE_NOT_FOUND = 2,
  CRISOL_BUILD_FAILURE = 3,
  CRISOL_OUT_OF_MEMORY = 4, /**< The memory of the device or the host is exhausted. */
  CRISOL_DEVICE_FAILURE = 5,
  CRISOL_IO = 6,
  CRISOL_INTERNAL = 7 /**< An unexpected error. */
};

/** The reason of the last failure on this thread. "" before the first failure. The text is valid until the next
 * failure. */
CRISOL_API const char* crisol_error_message(void);

/** "MAJOR.MINOR.PATCH" of the library. */
CRISOL_API const char* crisol_version(void);

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/** Position in the list of devices. A number means the same device as long as the process runs. */
typedef int32_t crisol_device;
/** The default device, as crisol::Device(): the device that was set, otherwise the one that CRISOL_DEVICE names,
 * otherwise the best one. */
#define CRISOL_DEFAULT_DEVICE ((crisol_device)-1)

/** The number of devices. 0 without an OpenCL platform. */
CRISOL_API crisol_status crisol_device_count(int32_t* count);
/** Finds a device by a text in the syntax of CRISOL_DEVICE: "gpu", "cpu" or "accelerator", "platform:device", or a
 * part of a name. A type or a name may end in ":n" for the n-th match. */
CRISOL_API crisol_status crisol_device_find(const char* spec, crisol_device* device);
/** Sets the device that CRISOL_DEFAULT_DEVICE means from now on, on every thread. */
CRISOL_API crisol_status crisol_set_default_device(crisol_device device);
/** The number of the default device. */
CRISOL_API crisol_status crisol_default_device(crisol_device* device);
/** The name of a device. The text is valid as long as the process runs. */
CRISOL_API crisol_status crisol_device_name(crisol_device device, const char** name);
/** All facts about a device, in the format of `crisol info --json`. Valid as long as the process runs. */
CRISOL_API crisol_status crisol_device_json(crisol_device device, const char** json);
/** Waits for all queued work of a device. */
CRISOL_API crisol_status crisol_synchronize(crisol_device device);

/** Figures of a device's memory pool, in bytes; as crisol::MemoryStats. */
typedef struct crisol_memory_stats {
  uint64_t in_use;      /**< Held by tensors. */
  uint64_t cached;      /**< Free memory that is kept for reuse. */
  uint64_t peak;        /**< Highest in_use. */
  uint64_t allocations; /**< Buffers that were taken from OpenCL so far. */
} crisol_memory_stats;
/** The figures of a device's memory pool. */
CRISOL_API crisol_status crisol_device_memory(crisol_device device, crisol_memory_stats* stats);
/** Resets the peak to the memory that is in use now. */
CRISOL_API crisol_status crisol_reset_peak_memory(crisol_device device);
/** Gives the memory that the pool keeps for reuse back to OpenCL. */
CRISOL_API crisol_status crisol_release_cached_memory(crisol_device device);
/** Limits the total memory of the pool: crisol::Device::set_memory_limit. 0 restores the default limit, the memory
 * of the device. */
CRISOL_API crisol_status crisol_set_memory_limit(crisol_device device, uint64_t bytes);

/** Starts a timeline of the process in this file: crisol::trace::start. */
CRISOL_API crisol_status crisol_trace_start(const char* path);
/** Completes the timeline: crisol::trace::stop. */
CRISOL_API crisol_status crisol_trace_stop(void);

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

/** A tensor: crisol::Tensor. */
typedef struct crisol_tensor crisol_tensor;

/** An element type, such as CRISOL_F32, CRISOL_BF16, CRISOL_I8 or CRISOL_U64. CRISOL_BOOL is one byte, 0 or 1. The
 * numbers count from 0 in the order of the rows of crisol/dtypes.def. */
typedef int32_t crisol_dtype;
enum {
/** \cond */
#define CRISOL_DTYPE(name, CODE, ...) CRISOL_##CODE,
/** \endcond */
#include "crisol/dtypes.def"
  CRISOL_DTYPE_COUNT /**< The number of element types. */
};

/** The largest number of axes of a tensor. */
#define CRISOL_MAX_RANK 25

/** Makes a contiguous tensor of `rank` sizes. It gets the elements at `data`, outermost axis first. If `data` is
 * null, its elements are undefined. */
CRISOL_API crisol_status crisol_tensor_create(crisol_device device, crisol_dtype dtype, int rank, const int64_t* sizes,
                                              const void* data, crisol_tensor** result);
/** Makes a tensor with one value everywhere. */
CRISOL_API crisol_status crisol_tensor_full(crisol_device device, crisol_dtype dtype, int rank, const int64_t* sizes,
                                            double value, crisol_tensor** result);
/** Makes a tensor of rank 1 with the numbers start, start + step, ... before end. */
CRISOL_API crisol_status crisol_tensor_arange(crisol_device device, crisol_dtype dtype, double start, double end,
                                              double step, crisol_tensor** result);
/** Makes a tensor of rank 1 with `count` numbers at equal distances from start to end, both included. */
CRISOL_API crisol_status crisol_tensor_linspace(crisol_device device, crisol_dtype dtype, double start, double end,
                                                int64_t count, crisol_tensor** result);
/** Makes a matrix with 1 on its main diagonal and 0 elsewhere. */
CRISOL_API crisol_status crisol_tensor_eye(crisol_device device, crisol_dtype dtype, int64_t rows, int64_t columns,
                                           crisol_tensor** result);
/** Makes a tensor of uniform numbers in [0, 1), f32, from this thread's generator. */
CRISOL_API crisol_status crisol_tensor_rand(crisol_device device, int rank, const int64_t* sizes,
                                            crisol_tensor** result);
/** Like crisol_tensor_rand, with normal numbers of mean 0 and standard deviation 1. */
CRISOL_API crisol_status crisol_tensor_randn(crisol_device device, int rank, const int64_t* sizes,
                                             crisol_tensor** result);
/** Seeds this thread's generators on all devices. */
CRISOL_API crisol_status crisol_manual_seed(uint64_t seed);
/** The state of this thread's generator on a device: the seed, and how many blocks of numbers were drawn.
 * Waits for queued work. */
CRISOL_API crisol_status crisol_generator_state(crisol_device device, uint64_t* seed, uint64_t* counter);
/** Sets the state that crisol_generator_state gave, so that the same numbers follow again. */
CRISOL_API crisol_status crisol_set_generator_state(crisol_device device, uint64_t seed, uint64_t counter);
/** Makes another handle to the same tensor. */
CRISOL_API crisol_status crisol_tensor_share(const crisol_tensor* x, crisol_tensor** result);
/** Destroys a handle. */
CRISOL_API void crisol_tensor_destroy(crisol_tensor* x);

/** The element type. */
CRISOL_API crisol_status crisol_tensor_dtype(const crisol_tensor* x, crisol_dtype* dtype);
/** The device of the tensor. */
CRISOL_API crisol_status crisol_tensor_device(const crisol_tensor* x, crisol_device* device);
/** The number of axes. */
CRISOL_API crisol_status crisol_tensor_rank(const crisol_tensor* x, int* rank);
/** The sizes of the axes. `sizes` has room for `rank` numbers. */
CRISOL_API crisol_status crisol_tensor_sizes(const crisol_tensor* x, int64_t* sizes);
/** The strides of the axes, in elements. `strides` has room for `rank` numbers. */
CRISOL_API crisol_status crisol_tensor_strides(const crisol_tensor* x, int64_t* strides);
/** The number of elements. */
CRISOL_API crisol_status crisol_tensor_count(const crisol_tensor* x, int64_t* elements);

/** Copies all elements to host memory, outermost axis first. `bytes` must be the number of elements times the size
 * of an element. Waits. */
CRISOL_API crisol_status crisol_tensor_read(const crisol_tensor* x, void* data, size_t bytes);
/** Overwrites all elements from host memory, with `bytes` as in crisol_tensor_read. Does not wait. */
CRISOL_API crisol_status crisol_tensor_write(crisol_tensor* x, const void* data, size_t bytes);
/** The value of a tensor with one element. Waits. */
CRISOL_API crisol_status crisol_tensor_item(const crisol_tensor* x, double* value);
/** Overwrites x with the elements of `source`, which are broadcast, converted and moved if necessary. */
CRISOL_API crisol_status crisol_tensor_copy(crisol_tensor* x, const crisol_tensor* source);

/** The same elements in the same order, in another shape. One size may be -1, and is then computed. */
CRISOL_API crisol_status crisol_reshape(const crisol_tensor* x, int rank, const int64_t* sizes, crisol_tensor** result);
/** Repeats axes of size 1 without copying. -1 keeps the size of an axis. */
CRISOL_API crisol_status crisol_expand(const crisol_tensor* x, int rank, const int64_t* sizes, crisol_tensor** result);
/** Axis i of the result is axis axes[i] of x. `axes` has one entry for each axis of x. */
CRISOL_API crisol_status crisol_permute(const crisol_tensor* x, const int64_t* axes, crisol_tensor** result);
/** Exchanges two axes. */
CRISOL_API crisol_status crisol_transpose(const crisol_tensor* x, int axis_a, int axis_b, crisol_tensor** result);
/** Elements start ... start+length-1 along an axis. */
CRISOL_API crisol_status crisol_narrow(const crisol_tensor* x, int axis, int64_t start, int64_t length,
                                       crisol_tensor** result);
/** Element `index` along an axis. The result lacks the axis. */
CRISOL_API crisol_status crisol_select(const crisol_tensor* x, int axis, int64_t index, crisol_tensor** result);
/** `length` elements start, start + step, ... along an axis. A positive step gives a view, a negative step a copy.
 * All elements must exist, and the step must not be 0. */
CRISOL_API crisol_status crisol_slice(const crisol_tensor* x, int axis, int64_t start, int64_t length, int64_t step,
                                      crisol_tensor** result);
/** Removes an axis if its size is 1. */
CRISOL_API crisol_status crisol_squeeze(const crisol_tensor* x, int axis, crisol_tensor** result);
/** Inserts an axis of size 1. */
CRISOL_API crisol_status crisol_unsqueeze(const crisol_tensor* x, int axis, crisol_tensor** result);
/** The tensor if it is contiguous, otherwise a contiguous copy. */
CRISOL_API crisol_status crisol_contiguous(const crisol_tensor* x, crisol_tensor** result);
/** A contiguous copy. */
CRISOL_API crisol_status crisol_clone(const crisol_tensor* x, crisol_tensor** result);
/** The tensor if it is on the device, otherwise a copy there. */
CRISOL_API crisol_status crisol_to_device(const crisol_tensor* x, crisol_device device, crisol_tensor** result);
/** The tensor if it has the dtype, otherwise a converted copy. */
CRISOL_API crisol_status crisol_to_dtype(const crisol_tensor* x, crisol_dtype dtype, crisol_tensor** result);

/* ---- OpenCL ------------------------------------------------------------------------------------------------------ */

/** Makes a tensor over a buffer of the caller. `memory` is a cl_mem of the device's context (crisol_opencl_context).
 * It is retained (clRetainMemObject) until the last handle is destroyed. The elements start `offset` bytes into the
 * buffer. */
CRISOL_API crisol_status crisol_tensor_from_opencl(crisol_device device, void* memory, size_t offset,
                                                   crisol_dtype dtype, int rank, const int64_t* sizes,
                                                   crisol_tensor** result);
/** Makes a tensor over memory of the host, without a copy. The device must compute in the host's memory, as CPUs do. On
 * other devices *result is null: use crisol_tensor_create. Keep the memory until the last handle is destroyed and the
 * device has finished its work. */
CRISOL_API crisol_status crisol_tensor_from_host_memory(crisol_device device, crisol_dtype dtype, int rank,
                                                        const int64_t* sizes, void* memory, crisol_tensor** result);
/** The tensor's cl_mem, and the byte at which its first element starts. Both are valid as long as the handle. */
CRISOL_API crisol_status crisol_tensor_opencl(const crisol_tensor* x, void** memory, size_t* offset);
/** The cl_context of a device. */
CRISOL_API crisol_status crisol_opencl_context(crisol_device device, void** context);
/** The in-order cl_command_queue of all work. */
CRISOL_API crisol_status crisol_opencl_queue(crisol_device device, void** queue);
/** Call it after other code has written to x. Then backward refuses to use values of x that it saved before. */
CRISOL_API crisol_status crisol_tensor_written(crisol_tensor* x);
/** Makes another device, which uses a cl_context and an in-order cl_command_queue of the caller. `opencl_device` is the
 * device's cl_device_id. */
CRISOL_API crisol_status crisol_device_from_opencl(void* opencl_device, void* context, void* queue,
                                                   crisol_device* device);

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/** Makes a leaf want a gradient (1), or no longer want one (0). */
CRISOL_API crisol_status crisol_set_requires_grad(crisol_tensor* x, int wanted);
/** Whether the tensor is a leaf that wants a gradient, or depends on such a leaf. */
CRISOL_API crisol_status crisol_requires_grad(const crisol_tensor* x, int* wanted);
/** crisol::Tensor::backward. `gradient` may be null if x has one element. */
CRISOL_API crisol_status crisol_backward(const crisol_tensor* x, const crisol_tensor* gradient, int retain_graph);
/** The accumulated gradient; null before the first backward. */
CRISOL_API crisol_status crisol_grad(const crisol_tensor* x, crisol_tensor** result);
/** Settings of crisol_backward_with and crisol_gradients; zeros are the defaults. */
typedef struct crisol_grad_options {
  int32_t retain_graph; /**< 1: keeps the graph for another backward. */
  int32_t create_graph; /**< 1: records the gradients, so that they have gradients. Keeps the graph too. */
  int32_t allow_unused; /**< 1: crisol_gradients gives null for an input that no output depends on. */
} crisol_grad_options;

/** crisol_backward with options. `options` may be null. */
CRISOL_API crisol_status crisol_backward_with(const crisol_tensor* x, const crisol_tensor* gradient,
                                              const crisol_grad_options* options);
/** The gradient of the sum of the outputs with respect to each input. An input is a leaf or a result inside the
 * graph. Changes no gradient that crisol_grad gives. `gradients` holds one gradient for each output. It may be null for
 * an output with one element. The list and `options` may be null too. `results` has a place for each input. */
CRISOL_API crisol_status crisol_gradients(int output_count, const crisol_tensor* const* outputs,
                                          const crisol_tensor* const* gradients, int input_count,
                                          const crisol_tensor* const* inputs, const crisol_grad_options* options,
                                          crisol_tensor** results);
/** Makes backward store the gradient of this result. crisol_grad then returns it, as for a leaf. */
CRISOL_API crisol_status crisol_retain_grad(crisol_tensor* x);

/** A function that backward calls with a gradient. It may give a new tensor in *replacement, which the library then
 * owns; null keeps the gradient. A result other than 0 ends backward with CRISOL_INVALID_ARGUMENT. */
typedef int (*crisol_gradient_function)(void* user_data, const crisol_tensor* gradient, crisol_tensor** replacement);
/** A function that backward calls with a leaf. A result other than 0 ends backward with CRISOL_INVALID_ARGUMENT. */
typedef int (*crisol_leaf_function)(void* user_data, const crisol_tensor* leaf);
/** A registered hook. */
typedef struct crisol_hook crisol_hook;

/** Calls `function` in each backward when x's full gradient is known, before anything uses it. `release` may be
 * null. Otherwise the library calls it with user_data when it no longer needs the hook, and also if this call fails. */
CRISOL_API crisol_status crisol_register_hook(const crisol_tensor* x, crisol_gradient_function function,
                                              void* user_data, void (*release)(void* user_data), crisol_hook** hook);
/** Calls `function` in each backward as soon as the last part of this leaf's gradient was added. Backward then goes on
 * to earlier ops. */
CRISOL_API crisol_status crisol_register_post_accumulate_grad_hook(const crisol_tensor* x,
                                                                   crisol_leaf_function function, void* user_data,
                                                                   void (*release)(void* user_data),
                                                                   crisol_hook** hook);
/** Removes the hook from its tensor. */
CRISOL_API crisol_status crisol_hook_remove(crisol_hook* hook);
/** Frees the handle; the hook stays. Null is allowed. */
CRISOL_API void crisol_hook_destroy(crisol_hook* hook);

/** Computes the result of a function of your own. It gives a new tensor in *result, which the library then owns. A
 * return value other than 0 ends the call with CRISOL_INVALID_ARGUMENT. */
typedef int (*crisol_forward_function)(void* user_data, int count, const crisol_tensor* const* inputs,
                                       crisol_tensor** result);
/** Computes the gradients with respect to the inputs from the gradient of the result. `gradients` has a place for each
 * input, null at first: a new tensor there belongs to the library, and null means 0. A return value other than 0 ends
 * backward with CRISOL_INVALID_ARGUMENT. */
typedef int (*crisol_backward_function)(void* user_data, const crisol_tensor* gradient, int count,
                                        const crisol_tensor* const* inputs, const crisol_tensor* result,
                                        crisol_tensor** gradients);

/** A function of your own with its gradient: crisol::custom_function. `name` appears in errors. `release` may be null.
 * Otherwise the library calls it with user_data when it no longer needs the functions, and also if this call fails. */
CRISOL_API crisol_status crisol_custom_function(const char* name, int count, const crisol_tensor* const* inputs,
                                                crisol_forward_function forward, crisol_backward_function backward,
                                                void* user_data, void (*release)(void* user_data),
                                                crisol_tensor** result);
/** Computes function(inputs) and frees the tensors that its ops keep for backward. Backward calls the function again,
 * which must do the same each time: crisol::checkpoint. `release` as for crisol_custom_function. */
CRISOL_API crisol_status crisol_recompute(int count, const crisol_tensor* const* inputs,
                                          crisol_forward_function function, void* user_data,
                                          void (*release)(void* user_data), crisol_tensor** result);

/** Switches the search for NaN and infinity on or off in the whole process. With the search on, each op and each
 * step of backward waits for its result, and fails if the result holds NaN or infinity. It is off at first, unless
 * CRISOL_DETECT_ANOMALY=1 is set. */
CRISOL_API void crisol_set_detect_anomaly(int enabled);

/** The same elements, outside the graph. */
CRISOL_API crisol_status crisol_detach(const crisol_tensor* x, crisol_tensor** result);
/** Sets whether ops on this thread are recorded for backward (1 at first). Returns the previous value. */
CRISOL_API int crisol_set_grad_enabled(int enabled);
/** Sets whether functions on this thread convert their operands (0 at first), and the dtype of two bytes of those that
 * compute in two bytes. crisol/autocast.h says more. Each use of a parameter converts it. Stores the previous value in
 * `before`, unless that is null. */
CRISOL_API crisol_status crisol_set_autocast(int enabled, crisol_dtype dtype, int* before);

/* ---- Precision of products --------------------------------------------------------------------------------------- */

/** The precision of matrix products, and of layers and convolutions that use them. crisol/precision.h says more. */
typedef int32_t crisol_precision;
enum { CRISOL_PRECISION_FP32 = 0, CRISOL_PRECISION_TF32 = 1, CRISOL_PRECISION_FP16 = 2, CRISOL_PRECISION_BF16 = 3 };

/** Sets the precision of all threads. At first it is CRISOL_PRECISION_FP32, or the precision that the variable
 * CRISOL_PRECISION names. */
CRISOL_API crisol_status crisol_set_precision(crisol_precision precision);
/** The precision that crisol_set_precision set. */
CRISOL_API crisol_status crisol_get_precision(crisol_precision* precision);
/** The matrix unit that the device uses in this precision: "mma_sm80", …. Empty if products are computed in fp32.
 * The text is valid as long as the process runs. */
CRISOL_API crisol_status crisol_matrix_units(crisol_device device, crisol_precision precision, const char** unit);

/* ---- Ops, recorded for backward ---------------------------------------------------------------------------------- */

/** Pointwise functions ("add", "relu", "where", …) and reductions ("sum", "argmax", "var", …) are called by their
 * names. crisol_pointwise_names and crisol_reduce_names list the names. */

/** An input of a pointwise function: a tensor, or a number if `tensor` is null. A number without a fraction counts
 * as whole, so a tensor of integers stays a tensor of integers. */
typedef struct crisol_operand {
  const crisol_tensor* tensor; /**< The tensor, or null. */
  double number;               /**< The number, if `tensor` is null. */
} crisol_operand;

/** Calls a pointwise function. `number` holds all further parameters of the function, such as the slope of
 * leaky_relu. */
CRISOL_API crisol_status crisol_pointwise(const char* function, int inputs, const crisol_operand* input, int numbers,
                                          const double* number, crisol_tensor** result);
/** Reduces x over `axis_count` axes. An axis_count of 0 means all axes. The result lacks the axes, or with keepdim
 * has size 1 there. `parameter` is the correction of var and stddev, or p of norm. Other functions ignore it. */
CRISOL_API crisol_status crisol_reduce(const char* function, const crisol_tensor* x, int axis_count,
                                       const int64_t* axes, int keepdim, double parameter, crisol_tensor** result);
/** The names that crisol_pointwise takes, separated by blanks. */
CRISOL_API const char* crisol_pointwise_names(void);
/** The names that crisol_reduce takes, separated by blanks. */
CRISOL_API const char* crisol_reduce_names(void);

/** crisol::matmul: a (..., M, K) times b (..., K, N). One or both may be vectors (K). */
CRISOL_API crisol_status crisol_matmul(const crisol_tensor* a, const crisol_tensor* b, crisol_tensor** result);
/** crisol::linear. bias may be null. */
CRISOL_API crisol_status crisol_linear(const crisol_tensor* x, const crisol_tensor* weight, const crisol_tensor* bias,
                                       crisol_tensor** result);

/** As crisol::Conv2dOptions. The first number is for the height, the second for the width. */
typedef struct crisol_conv2d_options {
  int stride[2];   /**< At least 1. */
  int padding[2];  /**< Zeros on all sides. */
  int dilation[2]; /**< At least 1. */
  int groups;      /**< Groups of channels. */
} crisol_conv2d_options;
/** The defaults, as an initialiser. */
#define CRISOL_CONV2D_OPTIONS \
  { {1, 1}, {0, 0}, {1, 1}, 1 }
/** crisol::conv2d. bias and options may be null. */
CRISOL_API crisol_status crisol_conv2d(const crisol_tensor* x, const crisol_tensor* weight, const crisol_tensor* bias,
                                       const crisol_conv2d_options* options, crisol_tensor** result);

/** As crisol::ConvTranspose2dOptions. The first number is for the height, the second for the width. */
typedef struct crisol_conv_transpose2d_options {
  int stride[2];         /**< Rows and columns that the output loses on each side. */
  int padding[2];        /**< Rows and columns that the output loses on each side. */
  int output_padding[2]; /**< What the output gains at its end. */
  int dilation[2];       /**< At least 1. */
  int groups;            /**< Groups of channels. */
} crisol_conv_transpose2d_options;
/** The defaults, as an initialiser. */
#define CRISOL_CONV_TRANSPOSE2D_OPTIONS \
  { {1, 1}, {0, 0}, {0, 0}, {1, 1}, 1 }
/** crisol::conv_transpose2d. bias and options may be null. */
CRISOL_API crisol_status crisol_conv_transpose2d(const crisol_tensor* x, const crisol_tensor* weight,
                                                 const crisol_tensor* bias,
                                                 const crisol_conv_transpose2d_options* options,
                                                 crisol_tensor** result);

/** As crisol::MaxPool2dOptions and crisol::AvgPool2dOptions: height, then width. */
typedef struct crisol_pool2d_options {
  int kernel[2];         /**< The window's height and width. */
  int stride[2];         /**< 0 means the size of the kernel. */
  int padding[2];        /**< At most half of the kernel. */
  int dilation[2];       /**< Only for max_pool2d. */
  int ceil_mode;         /**< Rounds the output's size up. */
  int count_include_pad; /**< Only for avg_pool2d. */
} crisol_pool2d_options;
/** The defaults for a square kernel, as an initialiser. */
#define CRISOL_POOL2D_OPTIONS(size) \
  { {size, size}, {0, 0}, {0, 0}, {1, 1}, 0, 1 }
/** crisol::max_pool2d of (N, C, H, W). */
CRISOL_API crisol_status crisol_max_pool2d(const crisol_tensor* x, const crisol_pool2d_options* options,
                                           crisol_tensor** result);
/** crisol::max_pool2d_with_indices of (N, C, H, W): the values and their positions h * W + w. Either result pointer may
 * be null. */
CRISOL_API crisol_status crisol_max_pool2d_with_indices(const crisol_tensor* x, const crisol_pool2d_options* options,
                                                        crisol_tensor** values, crisol_tensor** indices);
/** crisol::avg_pool2d of (N, C, H, W). */
CRISOL_API crisol_status crisol_avg_pool2d(const crisol_tensor* x, const crisol_pool2d_options* options,
                                           crisol_tensor** result);
/** crisol::adaptive_avg_pool2d. The result is (N, C, height, width). */
CRISOL_API crisol_status crisol_adaptive_avg_pool2d(const crisol_tensor* x, int height, int width,
                                                    crisol_tensor** result);

/** As crisol::Conv1dOptions. */
typedef struct crisol_conv1d_options {
  int stride;   /**< At least 1. */
  int padding;  /**< Zeros on both sides. */
  int dilation; /**< At least 1. */
  int groups;   /**< Groups of channels. */
} crisol_conv1d_options;
/** The defaults, as an initialiser. */
#define CRISOL_CONV1D_OPTIONS \
  { 1, 0, 1, 1 }
/** crisol::conv1d. bias and options may be null. */
CRISOL_API crisol_status crisol_conv1d(const crisol_tensor* x, const crisol_tensor* weight, const crisol_tensor* bias,
                                       const crisol_conv1d_options* options, crisol_tensor** result);

/** As crisol::ConvTranspose1dOptions. */
typedef struct crisol_conv_transpose1d_options {
  int stride;         /**< At least 1. */
  int padding;        /**< What the output loses on each side. */
  int output_padding; /**< What the output gains at its end. */
  int dilation;       /**< At least 1. */
  int groups;         /**< Groups of channels. */
} crisol_conv_transpose1d_options;
/** The defaults, as an initialiser. */
#define CRISOL_CONV_TRANSPOSE1D_OPTIONS \
  { 1, 0, 0, 1, 1 }
/** crisol::conv_transpose1d. bias and options may be null. */
CRISOL_API crisol_status crisol_conv_transpose1d(const crisol_tensor* x, const crisol_tensor* weight,
                                                 const crisol_tensor* bias,
                                                 const crisol_conv_transpose1d_options* options,
                                                 crisol_tensor** result);

/** As crisol::Conv3dOptions. Numbers are for the depth, the height and the width. */
typedef struct crisol_conv3d_options {
  int stride[3];   /**< At least 1. */
  int padding[3];  /**< Zeros on all sides. */
  int dilation[3]; /**< At least 1. */
  int groups;      /**< Groups of channels. */
} crisol_conv3d_options;
/** The defaults, as an initialiser. */
#define CRISOL_CONV3D_OPTIONS \
  { {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1 }
/** crisol::conv3d. bias and options may be null. */
CRISOL_API crisol_status crisol_conv3d(const crisol_tensor* x, const crisol_tensor* weight, const crisol_tensor* bias,
                                       const crisol_conv3d_options* options, crisol_tensor** result);

/** As crisol::ConvTranspose3dOptions. Numbers are for the depth, the height and the width. */
typedef struct crisol_conv_transpose3d_options {
  int stride[3];         /**< At least 1. */
  int padding[3];        /**< What the output loses on each side. */
  int output_padding[3]; /**< What the output gains at its end. */
  int dilation[3];       /**< At least 1. */
  int groups;            /**< Groups of channels. */
} crisol_conv_transpose3d_options;
/** The defaults, as an initialiser. */
#define CRISOL_CONV_TRANSPOSE3D_OPTIONS \
  { {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, 1 }
/** crisol::conv_transpose3d. bias and options may be null. */
CRISOL_API crisol_status crisol_conv_transpose3d(const crisol_tensor* x, const crisol_tensor* weight,
                                                 const crisol_tensor* bias,
                                                 const crisol_conv_transpose3d_options* options,
                                                 crisol_tensor** result);

/** As crisol::MaxPool3dOptions and crisol::AvgPool3dOptions: depth, height, width. */
typedef struct crisol_pool3d_options {
  int kernel[3];         /**< The window's size. */
  int stride[3];         /**< 0 means the size of the kernel. */
  int padding[3];        /**< At most half of the kernel. */
  int dilation[3];       /**< Only for max_pool3d. */
  int ceil_mode;         /**< Rounds the output's size up. */
  int count_include_pad; /**< Only for avg_pool3d. */
} crisol_pool3d_options;
/** The defaults for a cubic kernel, as an initialiser. */
#define CRISOL_POOL3D_OPTIONS(size) \
  { {size, size, size}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, 0, 1 }
/** crisol::max_pool3d of (N, C, D, H, W). */
CRISOL_API crisol_status crisol_max_pool3d(const crisol_tensor* x, const crisol_pool3d_options* options,
                                           crisol_tensor** result);
/** crisol::max_pool3d_with_indices of (N, C, D, H, W): the values and their positions (d * H + h) * W + w. Either
 * result pointer may be null. */
CRISOL_API crisol_status crisol_max_pool3d_with_indices(const crisol_tensor* x, const crisol_pool3d_options* options,
                                                        crisol_tensor** values, crisol_tensor** indices);
/** crisol::avg_pool3d of (N, C, D, H, W). */
CRISOL_API crisol_status crisol_avg_pool3d(const crisol_tensor* x, const crisol_pool3d_options* options,
                                           crisol_tensor** result);
/** crisol::adaptive_avg_pool3d. The result is (N, C, depth, height, width). */
CRISOL_API crisol_status crisol_adaptive_avg_pool3d(const crisol_tensor* x, int depth, int height, int width,
                                                    crisol_tensor** result);

/** As crisol::InterpolateMode. */
typedef int32_t crisol_interpolate_mode;
enum {
  CRISOL_INTERPOLATE_NEAREST = 0,
  CRISOL_INTERPOLATE_NEAREST_EXACT = 1,
  CRISOL_INTERPOLATE_LINEAR = 2,
  CRISOL_INTERPOLATE_CUBIC = 3
};
/** crisol::interpolate along `axis_count` axes after the channels: to `size`, or by `scale_factor`. One of them must be
 * null. */
CRISOL_API crisol_status crisol_interpolate(const crisol_tensor* x, int axis_count, const int64_t* size,
                                            const double* scale_factor, crisol_interpolate_mode mode, int align_corners,
                                            int antialias, crisol_tensor** result);
/** As crisol::GridSampleMode. */
typedef int32_t crisol_grid_sample_mode;
enum { CRISOL_GRID_BILINEAR = 0, CRISOL_GRID_NEAREST = 1, CRISOL_GRID_BICUBIC = 2 };
/** As crisol::GridSamplePadding. */
typedef int32_t crisol_grid_sample_padding;
enum { CRISOL_GRID_ZEROS = 0, CRISOL_GRID_BORDER = 1, CRISOL_GRID_REFLECTION = 2 };
/** crisol::grid_sample: x (N, C, H, W) at the places of grid (N, OH, OW, 2), or x (N, C, D, H, W) at the places of grid
 * (N, OD, OH, OW, 3). */
CRISOL_API crisol_status crisol_grid_sample(const crisol_tensor* x, const crisol_tensor* grid,
                                            crisol_grid_sample_mode mode, crisol_grid_sample_padding padding,
                                            int align_corners, crisol_tensor** result);
/** crisol::affine_grid: theta (N, 2, 3) for images of `size`, four numbers (N, C, H, W), or theta (N, 3, 4) for volumes
 * of `size`, five numbers (N, C, D, H, W). */
CRISOL_API crisol_status crisol_affine_grid(const crisol_tensor* theta, const int64_t* size, int align_corners,
                                            crisol_tensor** result);
/** crisol::pixel_shuffle: channels become squares of elements. */
CRISOL_API crisol_status crisol_pixel_shuffle(const crisol_tensor* x, int64_t factor, crisol_tensor** result);
/** crisol::pixel_unshuffle: squares of elements become channels. */
CRISOL_API crisol_status crisol_pixel_unshuffle(const crisol_tensor* x, int64_t factor, crisol_tensor** result);

/** crisol::deform_conv2d. bias, mask and options may be null. */
CRISOL_API crisol_status crisol_deform_conv2d(const crisol_tensor* x, const crisol_tensor* offset,
                                              const crisol_tensor* weight, const crisol_tensor* bias,
                                              const crisol_tensor* mask, const crisol_conv2d_options* options,
                                              crisol_tensor** result);
/** As crisol::RoiAlignOptions. */
typedef struct crisol_roi_align_options {
  int64_t height;         /**< Bins of a box from top to bottom. */
  int64_t width;          /**< Bins of a box from left to right. */
  double spatial_scale;   /**< Multiplies the coordinates of the boxes. */
  int64_t sampling_ratio; /**< Samples of a bin along each axis; 0: one for each element. */
  int aligned;            /**< The first element has its centre at 0.5. */
  int maximum;            /**< ONNX's maximum instead of the mean. */
} crisol_roi_align_options;
/** The defaults for square boxes, as an initialiser. */
#define CRISOL_ROI_ALIGN_OPTIONS(size) \
  { size, size, 1, 0, 0, 0 }
/** crisol::roi_align: x (N, C, H, W), boxes (K, 4), images (K). */
CRISOL_API crisol_status crisol_roi_align(const crisol_tensor* x, const crisol_tensor* boxes,
                                          const crisol_tensor* images, const crisol_roi_align_options* options,
                                          crisol_tensor** result);
/** As crisol::NonMaxSuppressionOptions. */
typedef struct crisol_non_max_suppression_options {
  double iou_threshold;   /**< The largest overlap (IoU) of two selected boxes. */
  double score_threshold; /**< Boxes need a higher score; -HUGE_VAL: no limit. */
  int64_t max_per_class;  /**< Limit for the boxes of a class of an image. */
  int centered;           /**< A box is (centre x, centre y, width, height). */
} crisol_non_max_suppression_options;
/** crisol::non_max_suppression: boxes (N, K, 4), scores (N, C, K). Waits. */
CRISOL_API crisol_status crisol_non_max_suppression(const crisol_tensor* boxes, const crisol_tensor* scores,
                                                    const crisol_non_max_suppression_options* options,
                                                    crisol_tensor** result);

/** crisol::batch_norm2d. weight and bias may be null. In training both running statistics may be null. */
CRISOL_API crisol_status crisol_batch_norm2d(const crisol_tensor* x, const crisol_tensor* weight,
                                             const crisol_tensor* bias, crisol_tensor* running_mean,
                                             crisol_tensor* running_var, int training, double momentum, double epsilon,
                                             crisol_tensor** result);
/** crisol::instance_norm. weight and bias may be null. In training both running statistics may be null. */
CRISOL_API crisol_status crisol_instance_norm(const crisol_tensor* x, const crisol_tensor* weight,
                                              const crisol_tensor* bias, crisol_tensor* running_mean,
                                              crisol_tensor* running_var, int training, double momentum, double epsilon,
                                              crisol_tensor** result);
/** crisol::group_norm. weight and bias may be null. */
CRISOL_API crisol_status crisol_group_norm(const crisol_tensor* x, int64_t num_groups, const crisol_tensor* weight,
                                           const crisol_tensor* bias, double epsilon, crisol_tensor** result);
/** crisol::layer_norm over the last `rank` axes, which must have these sizes. weight and bias may be null. */
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
/** crisol::cumprod along an axis. */
CRISOL_API crisol_status crisol_cumprod(const crisol_tensor* x, int axis, crisol_tensor** result);
/** crisol::logcumsumexp along an axis. */
CRISOL_API crisol_status crisol_logcumsumexp(const crisol_tensor* x, int axis, crisol_tensor** result);

/** How the losses of rows or elements become the result; as crisol::Reduction. */
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
/** crisol::pad. `before` and `after` hold the numbers of elements to add at the two ends of each axis of x. */
CRISOL_API crisol_status crisol_pad(const crisol_tensor* x, const int64_t* before, const int64_t* after, double value,
                                    crisol_tensor** result);
/** crisol::flip: the opposite order along `axes`. */
CRISOL_API crisol_status crisol_flip(const crisol_tensor* x, int axis_count, const int64_t* axes,
                                     crisol_tensor** result);
/** crisol::roll: one shift for each axis. Without axes there is one shift, and x is rolled as if it had rank 1. */
CRISOL_API crisol_status crisol_roll(const crisol_tensor* x, int shift_count, const int64_t* shifts, int axis_count,
                                     const int64_t* axes, crisol_tensor** result);
/** crisol::repeat: repeats x counts[i] times along axis i. With more counts than axes, x gets axes in front. */
CRISOL_API crisol_status crisol_repeat(const crisol_tensor* x, int rank, const int64_t* counts, crisol_tensor** result);
/** crisol::tile: like crisol_repeat, but with fewer counts than axes the counts belong to the last axes. */
CRISOL_API crisol_status crisol_tile(const crisol_tensor* x, int rank, const int64_t* counts, crisol_tensor** result);
/** crisol::isclose: |a - b| <= atol + rtol |b| for each element, as bool. */
CRISOL_API crisol_status crisol_isclose(const crisol_tensor* a, const crisol_tensor* b, double rtol, double atol,
                                        int equal_nan, crisol_tensor** result);
/** Whether crisol_isclose is true for all elements. Waits. */
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
/** crisol::scatter along an axis. With `reduction` NULL, elements replace the old ones. With "sum", "prod", "amax" or
 * "amin": crisol::scatter_reduce. */
CRISOL_API crisol_status crisol_scatter(const crisol_tensor* x, int axis, const crisol_tensor* index,
                                        const crisol_tensor* source, const char* reduction, crisol_tensor** result);
/** crisol::index_copy along an axis. With a reduction (see crisol_scatter): crisol::index_reduce. */
CRISOL_API crisol_status crisol_index_copy(const crisol_tensor* x, int axis, const crisol_tensor* index,
                                           const crisol_tensor* source, const char* reduction, crisol_tensor** result);
/** crisol::gather_nd: slices by tuples of positions. */
CRISOL_API crisol_status crisol_gather_nd(const crisol_tensor* x, const crisol_tensor* index, int batch_axes,
                                          crisol_tensor** result);
/** crisol::scatter_nd, with a reduction as in crisol_scatter. */
CRISOL_API crisol_status crisol_scatter_nd(const crisol_tensor* x, const crisol_tensor* index,
                                           const crisol_tensor* source, const char* reduction, crisol_tensor** result);
/** crisol::nonzero: the positions of the elements that are not 0. Waits. */
CRISOL_API crisol_status crisol_nonzero(const crisol_tensor* x, crisol_tensor** result);
/** crisol::masked_select: the elements where a mask is true. Waits. */
CRISOL_API crisol_status crisol_masked_select(const crisol_tensor* x, const crisol_tensor* mask,
                                              crisol_tensor** result);
/** crisol::unique of all elements, or with `axis` of the slices along *axis. Result pointers may be null. Waits. */
CRISOL_API crisol_status crisol_unique(const crisol_tensor* x, int sorted, const int* axis, crisol_tensor** values,
                                       crisol_tensor** indices, crisol_tensor** inverse, crisol_tensor** counts);
/** crisol::bit_cast: the same bits as elements of another dtype. */
CRISOL_API crisol_status crisol_bit_cast(const crisol_tensor* x, crisol_dtype dtype, crisol_tensor** result);
/** crisol::einsum: "ij,jk->ik". */
CRISOL_API crisol_status crisol_einsum(const char* equation, int count, const crisol_tensor* const* operands,
                                       crisol_tensor** result);
/** crisol::det: the determinants of (..., n, n). */
CRISOL_API crisol_status crisol_det(const crisol_tensor* x, crisol_tensor** result);
/** crisol::slogdet: the signs of the determinants, and the logarithms of their absolute values. Result pointers may be
 * null. */
CRISOL_API crisol_status crisol_slogdet(const crisol_tensor* x, crisol_tensor** sign, crisol_tensor** logabsdet);
/** crisol::solve: the solution x of a x = b. */
CRISOL_API crisol_status crisol_solve(const crisol_tensor* a, const crisol_tensor* b, crisol_tensor** result);
/** crisol::inv: the inverses of (..., n, n). */
CRISOL_API crisol_status crisol_inv(const crisol_tensor* x, crisol_tensor** result);
/** crisol::cholesky: L with x = L L^T, or L^T if `upper` is not 0. */
CRISOL_API crisol_status crisol_cholesky(const crisol_tensor* x, int upper, crisol_tensor** result);
/** crisol::qr: x = Q R, in the complete form if `complete` is not 0. Result pointers may be null. */
CRISOL_API crisol_status crisol_qr(const crisol_tensor* x, int complete, crisol_tensor** q, crisol_tensor** r);
/** crisol::eigh: the eigenvalues and eigenvectors of symmetric matrices. Result pointers may be null. */
CRISOL_API crisol_status crisol_eigh(const crisol_tensor* x, crisol_tensor** eigenvalues, crisol_tensor** eigenvectors);
/** crisol::eigvalsh: the eigenvalues of symmetric matrices. */
CRISOL_API crisol_status crisol_eigvalsh(const crisol_tensor* x, crisol_tensor** result);
/** crisol::svd: x = U diag(S) V^T, in the full form if `full_matrices` is not 0. Result pointers may be null. */
CRISOL_API crisol_status crisol_svd(const crisol_tensor* x, int full_matrices, crisol_tensor** u, crisol_tensor** s,
                                    crisol_tensor** vh);
/** crisol::svdvals: the singular values. */
CRISOL_API crisol_status crisol_svdvals(const crisol_tensor* x, crisol_tensor** result);
/** crisol::pinv: the pseudo-inverses. If `rtol` is null, the tolerance is the standard one. */
CRISOL_API crisol_status crisol_pinv(const crisol_tensor* x, const crisol_tensor* rtol, crisol_tensor** result);
/** crisol::matrix_rank: how many singular values of each matrix are above the tolerance. `rtol` as in crisol_pinv. */
CRISOL_API crisol_status crisol_matrix_rank(const crisol_tensor* x, const crisol_tensor* rtol, crisol_tensor** result);
/** crisol::matrix_norm: "fro" or "nuc". If `name` is null, the norm is the one of the number `ord`. */
CRISOL_API crisol_status crisol_matrix_norm(const crisol_tensor* x, const char* name, double ord, int keepdim,
                                            crisol_tensor** result);
/** crisol::matrix_power: the product of n matrices, or of -n inverses. */
CRISOL_API crisol_status crisol_matrix_power(const crisol_tensor* x, int64_t n, crisol_tensor** result);
/** crisol::nextafter: the f32 number next to a in the direction of b. At least one operand must be a tensor. */
CRISOL_API crisol_status crisol_nextafter(const crisol_operand* a, const crisol_operand* b, crisol_tensor** result);
/** crisol::take_along_axis: elements along an axis at the positions of `index`. */
CRISOL_API crisol_status crisol_take_along_axis(const crisol_tensor* x, const crisol_tensor* index, int axis,
                                                crisol_tensor** result);
/** crisol::take: slices along *axis at the positions of `index`. If `axis` is null, x counts as a tensor of one
 * axis. */
CRISOL_API crisol_status crisol_take(const crisol_tensor* x, const crisol_tensor* index, const int* axis,
                                     crisol_tensor** result);
/** crisol::index_get: x[indices[0], indices[1], ...] as in NumPy. A null index takes a whole axis. */
CRISOL_API crisol_status crisol_index_get(const crisol_tensor* x, int count, const crisol_tensor* const* indices,
                                          crisol_tensor** result);
/** crisol::index_put: a copy of x in which `value` replaces the elements that crisol_index_get reads. If `accumulate`
 * is not 0, the value is added to them. */
CRISOL_API crisol_status crisol_index_put(const crisol_tensor* x, int count, const crisol_tensor* const* indices,
                                          const crisol_operand* value, int accumulate, crisol_tensor** result);
/** crisol::Tensor::index_put_: the same in place. */
CRISOL_API crisol_status crisol_index_put_in_place(crisol_tensor* x, int count, const crisol_tensor* const* indices,
                                                   const crisol_operand* value, int accumulate);
/** crisol::searchsorted: the places of values in a sorted tensor. `sorter` may be null. */
CRISOL_API crisol_status crisol_searchsorted(const crisol_tensor* sorted, const crisol_tensor* values, int right,
                                             const crisol_tensor* sorter, crisol_tensor** result);
/** crisol::isin: whether the elements of x are among `values`. */
CRISOL_API crisol_status crisol_isin(const crisol_tensor* x, const crisol_tensor* values, int invert,
                                     crisol_tensor** result);
/** crisol::diff: differences of neighbours along an axis, n times. `prepend` and `append` may be null. */
CRISOL_API crisol_status crisol_diff(const crisol_tensor* x, int64_t n, int axis, const crisol_tensor* prepend,
                                     const crisol_tensor* append, crisol_tensor** result);
/** crisol::repeat_interleave: slice i along *axis counts[i] times. If `axis` is null, x counts as flat. Waits. */
CRISOL_API crisol_status crisol_repeat_interleave(const crisol_tensor* x, const crisol_tensor* counts, const int* axis,
                                                  crisol_tensor** result);
/** crisol::diagonal: a view of the diagonal of two axes. */
CRISOL_API crisol_status crisol_diagonal(const crisol_tensor* x, int64_t offset, int axis_a, int axis_b,
                                         crisol_tensor** result);
/** crisol::tensordot: the sum of products over the pairs of axes a_axes[k] and b_axes[k]. */
CRISOL_API crisol_status crisol_tensordot(const crisol_tensor* a, const crisol_tensor* b, int count,
                                          const int64_t* a_axes, const int64_t* b_axes, crisol_tensor** result);
/** crisol::cross: the cross product along an axis of size 3. */
CRISOL_API crisol_status crisol_cross(const crisol_tensor* a, const crisol_tensor* b, int axis, crisol_tensor** result);

/** crisol::embedding. Row `padding_idx` gets no gradient. If padding_idx is negative, there is no such row. */
CRISOL_API crisol_status crisol_embedding(const crisol_tensor* weight, const crisol_tensor* indices,
                                          int64_t padding_idx, crisol_tensor** result);
/** crisol::one_hot. classes -1 means one more than the largest index, and the call then waits. */
CRISOL_API crisol_status crisol_one_hot(const crisol_tensor* indices, int64_t classes, crisol_dtype dtype,
                                        crisol_tensor** result);
/** crisol::sort along an axis. Either result pointer may be null. */
CRISOL_API crisol_status crisol_sort(const crisol_tensor* x, int axis, int descending, crisol_tensor** values,
                                     crisol_tensor** indices);
/** crisol::topk along an axis. Either result pointer may be null. */
CRISOL_API crisol_status crisol_topk(const crisol_tensor* x, int64_t k, int axis, int largest, crisol_tensor** values,
                                     crisol_tensor** indices);
/** crisol::multinomial: draws indices (N, draws) by weights (N, C). */
CRISOL_API crisol_status crisol_multinomial(const crisol_tensor* weights, int64_t draws, int replacement,
                                            crisol_tensor** result);

/** crisol::sample_logits: draws an index for each row of logits. top_k 0 means all classes. */
CRISOL_API crisol_status crisol_sample_logits(const crisol_tensor* logits, double temperature, int64_t top_k,
                                              crisol_tensor** result);

/** The formula of a recurrent layer; as crisol::RnnCell. */
typedef int32_t crisol_rnn_cell;
enum { CRISOL_RNN_TANH = 0, CRISOL_RNN_RELU = 1, CRISOL_LSTM = 2, CRISOL_GRU = 3 };
/** The input of crisol_rnn: one layer in one direction. crisol/options/rnn.h explains the sizes. */
typedef struct crisol_rnn_input {
  const crisol_tensor* x;         /**< (T, B, I) */
  const crisol_tensor* h0;        /**< (B, R), or null for zeros. */
  const crisol_tensor* c0;        /**< (B, H), or null for zeros; LSTM only. */
  const crisol_tensor* lengths;   /**< (B), i64, or null if all sequences have T steps. */
  const crisol_tensor* weight_ih; /**< (G H, I) */
  const crisol_tensor* weight_hh; /**< (G H, R) */
  const crisol_tensor* bias_ih;   /**< (G H), or null like the other bias. */
  const crisol_tensor* bias_hh;   /**< (G H) */
  const crisol_tensor* weight_hr; /**< (R, H), or null; LSTM only. */
  crisol_rnn_cell cell;           /**< The formula. */
  int reverse;                    /**< 1: goes from each sequence's last step to its first. */
} crisol_rnn_input;
/** crisol::rnn. The results are y (T, B, R), h_n (B, R), and for an LSTM c_n (B, H). h_n and c_n may be null. */
CRISOL_API crisol_status crisol_rnn(const crisol_rnn_input* input, crisol_tensor** y, crisol_tensor** h_n,
                                    crisol_tensor** c_n);

/* ---- Tensors by name --------------------------------------------------------------------------------------------- */

/** Tensors by name in a fixed order, such as the state of a model or an optimizer: crisol::NamedTensors. */
typedef struct crisol_named_tensors crisol_named_tensors;

/** An empty list. */
CRISOL_API crisol_status crisol_named_tensors_create(crisol_named_tensors** result);
/** Destroys a list. Handles to its tensors stay valid. */
CRISOL_API void crisol_named_tensors_destroy(crisol_named_tensors* tensors);
/** Adds a tensor at the end, without copying its elements. Fails if the name exists already. */
CRISOL_API crisol_status crisol_named_tensors_add(crisol_named_tensors* tensors, const char* name,
                                                  const crisol_tensor* x);
/** How many tensors there are. */
CRISOL_API crisol_status crisol_named_tensors_count(const crisol_named_tensors* tensors, int32_t* count);
/** Tensor `index`; its name is valid until the list changes. Both pointers may be null. */
CRISOL_API crisol_status crisol_named_tensors_item(const crisol_named_tensors* tensors, int32_t index,
                                                   const char** name, crisol_tensor** result);
/** The tensor of that name. Fails if there is none, and the message lists all names. */
CRISOL_API crisol_status crisol_named_tensors_get(const crisol_named_tensors* tensors, const char* name,
                                                  crisol_tensor** result);

/* ---- Models ------------------------------------------------------------------------------------------------------ */

/** A network: crisol::nn::Module. */
typedef struct crisol_model crisol_model;

/** Makes a model with new parameters on a device. Names are "simple_cnn", "row_lstm", "alexnet", "vgg16", "resnet18"
 * and "mobilenet_v2". */
CRISOL_API crisol_status crisol_model_create(const char* name, int64_t classes, crisol_device device,
                                             crisol_model** result);
/** Makes another model with copies of the parameters, buffers and hooks: crisol::nn::clone. */
CRISOL_API crisol_status crisol_model_clone(const crisol_model* model, crisol_model** result);
/** Makes a model that runs as a graph in evaluation, with an example of the input: crisol::compile. Both models share
 * parameters, buffers and mode. Each must be destroyed separately. The result cannot be cloned. */
CRISOL_API crisol_status crisol_model_compile(const crisol_model* model, const crisol_tensor* example,
                                              crisol_model** result);
/** Destroys a model. */
CRISOL_API void crisol_model_destroy(crisol_model* model);
/** The layers with settings and parameter counts, one per line. The text is valid until the next call for this
 * model. */
CRISOL_API crisol_status crisol_model_text(crisol_model* model, const char** text);
/** Loads parameters and buffers from a safetensors file. */
CRISOL_API crisol_status crisol_model_load(crisol_model* model, const char* path);
/** Loads the parameters and buffers that both the file and the model have. *missing is the number of names that the
 * file lacks, *unexpected the number of names that the model lacks. Both pointers may be null. */
CRISOL_API crisol_status crisol_model_load_partial(crisol_model* model, const char* path, int32_t* missing,
                                                   int32_t* unexpected);
/** Writes parameters and buffers to a safetensors file. */
CRISOL_API crisol_status crisol_model_save(const crisol_model* model, const char* path);
/** Parameters and buffers by name, over the same memory: crisol::nn::Module::state_dict. */
CRISOL_API crisol_status crisol_model_state_dict(const crisol_model* model, crisol_named_tensors** result);
/** Copies values from `state` into parameters and buffers. With `strict`, the names must be the same on both sides.
 * Without it, gives the number of names that the state lacks, and the number of names that the model lacks. Both
 * pointers may be null. */
CRISOL_API crisol_status crisol_model_load_state_dict(crisol_model* model, const crisol_named_tensors* state,
                                                      int strict, int32_t* missing, int32_t* unexpected);
/** Switches the training mode. It is on at first. */
CRISOL_API crisol_status crisol_model_train(crisol_model* model, int on);
/** The output for one input. */
CRISOL_API crisol_status crisol_model_forward(crisol_model* model, const crisol_tensor* x, crisol_tensor** result);
/** The number of parameter tensors. */
CRISOL_API crisol_status crisol_model_parameter_count(const crisol_model* model, int32_t* tensors);
/** Parameter `index` and its name. The name is valid as long as the model. Both pointers may be null. */
CRISOL_API crisol_status crisol_model_parameter(const crisol_model* model, int32_t index, const char** name,
                                                crisol_tensor** result);

/* ---- Optimizers -------------------------------------------------------------------------------------------------- */

/** An optimiser over parameters: crisol::optim::Optimizer. */
typedef struct crisol_optimizer crisol_optimizer;

/** A setting of an optimizer, by the name of its C++ option ("lr", "weight_decay", …). A bool is 1 or 0. */
typedef struct crisol_setting {
  const char* name; /**< The name of the member of the C++ options. */
  double value;     /**< The value; 1 or 0 for a bool. */
} crisol_setting;

/** Makes an optimizer by its name: "sgd", "adam", "adamw", "rmsprop" or "lion". Settings that are not given have the
 * defaults of C++. */
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
/** Destroys an optimiser. Destroy its schedules first. */
CRISOL_API void crisol_optimizer_destroy(crisol_optimizer* optimizer);
/** Adds a group of parameters. Settings that are not given come from the first group. */
CRISOL_API crisol_status crisol_optimizer_add_param_group(crisol_optimizer* optimizer, int count,
                                                          const crisol_tensor* const* parameters, int settings,
                                                          const crisol_setting* setting);
/** The number of groups. */
CRISOL_API crisol_status crisol_optimizer_group_count(const crisol_optimizer* optimizer, int32_t* groups);
/** Changes settings of a group. */
CRISOL_API crisol_status crisol_optimizer_set(crisol_optimizer* optimizer, int32_t group, int settings,
                                              const crisol_setting* setting);
/** A setting of a group. */
CRISOL_API crisol_status crisol_optimizer_get(const crisol_optimizer* optimizer, int32_t group, const char* name,
                                              double* value);
/** Discards the gradients. */
CRISOL_API crisol_status crisol_optimizer_zero_grad(crisol_optimizer* optimizer);
/** Fills the gradients with zeros. They stay the same tensors. */
CRISOL_API crisol_status crisol_optimizer_zero_grad_in_place(crisol_optimizer* optimizer);
/** Updates the parameters that got a gradient. Fails if no parameter has one. */
CRISOL_API crisol_status crisol_optimizer_step(crisol_optimizer* optimizer);
/** Sets the learning rate of all groups. */
CRISOL_API crisol_status crisol_optimizer_set_lr(crisol_optimizer* optimizer, double lr);
/** The states of all parameters, and the rates and momenta of the groups: crisol::optim::Optimizer::state_dict. */
CRISOL_API crisol_status crisol_optimizer_state_dict(const crisol_optimizer* optimizer, crisol_named_tensors** result);
/** Restores a state that crisol_optimizer_state_dict gave for the same kind of optimizer over parameters of the same
 * shapes. Fails for another state, and lists all differences. */
CRISOL_API crisol_status crisol_optimizer_load_state_dict(crisol_optimizer* optimizer,
                                                          const crisol_named_tensors* state);
/** Scales the gradients so that their common norm is at most max_norm. `norm` gets the norm before scaling. It may
 * be null. */
CRISOL_API crisol_status crisol_clip_grad_norm(int count, const crisol_tensor* const* parameters, double max_norm,
                                               crisol_tensor** norm);
/** Limits every element of the gradients to [-clip_value, clip_value]. */
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
/** crisol::optim::OneCycleLR. Its other options have their defaults. */
CRISOL_API crisol_status crisol_one_cycle_lr(crisol_optimizer* optimizer, double max_lr, int64_t total_steps,
                                             double pct_start, int cycle_momentum, crisol_schedule** result);
/** crisol::optim::SequentialLR with `count` schedules and count - 1 milestones. The handles still belong to the
 * caller. */
CRISOL_API crisol_status crisol_sequential_lr(crisol_optimizer* optimizer, int count, crisol_schedule* const* schedules,
                                              const int64_t* milestones, crisol_schedule** result);
/** crisol::optim::ReduceLROnPlateau. `rises` is 1 if a higher metric is better. `absolute` is 1 if threshold is a
 * difference, 0 if it is a share of the best metric. */
CRISOL_API crisol_status crisol_reduce_lr_on_plateau(crisol_optimizer* optimizer, int rises, double factor,
                                                     int64_t patience, double threshold, int absolute, int64_t cooldown,
                                                     double min_lr, crisol_schedule** result);
/** Destroys a schedule. */
CRISOL_API void crisol_schedule_destroy(crisol_schedule* schedule);
/** Sets the rates for the next step. Call it after each step of the optimizer. */
CRISOL_API crisol_status crisol_schedule_step(crisol_schedule* schedule);
/** The same for a schedule of crisol_reduce_lr_on_plateau. `metric` is the value to improve. */
CRISOL_API crisol_status crisol_schedule_step_metric(crisol_schedule* schedule, double metric);
/** The rate of a group, as this schedule set it last. */
CRISOL_API crisol_status crisol_schedule_last_lr(const crisol_schedule* schedule, int32_t group, double* lr);
/** The position of the schedule. The settings with which the schedule was made are not a part of it. */
CRISOL_API crisol_status crisol_schedule_state_dict(const crisol_schedule* schedule, crisol_named_tensors** result);
/** Continues from a position, and sets the rates. Fails for a state of another schedule. */
CRISOL_API crisol_status crisol_schedule_load_state_dict(crisol_schedule* schedule, const crisol_named_tensors* state);

/** A moving average of parameters: crisol::optim::EMA. */
typedef struct crisol_ema crisol_ema;
/** Makes an average, which starts as a copy of the parameters. */
CRISOL_API crisol_status crisol_ema_create(int count, const crisol_tensor* const* parameters, double decay,
                                           crisol_ema** result);
/** Destroys an average. */
CRISOL_API void crisol_ema_destroy(crisol_ema* ema);
/** Updates the averages with the current values of the parameters. */
CRISOL_API crisol_status crisol_ema_update(crisol_ema* ema);
/** Gives the parameters the values of the averages, until crisol_ema_restore. */
CRISOL_API crisol_status crisol_ema_apply(crisol_ema* ema);
/** Gives the parameters back their own values. */
CRISOL_API crisol_status crisol_ema_restore(crisol_ema* ema);
/** The averages and the number of updates. */
CRISOL_API crisol_status crisol_ema_state_dict(const crisol_ema* ema, crisol_named_tensors** result);
/** Restores a state that crisol_ema_state_dict gave for parameters of the same shapes. Fails for another state, and
 * lists all differences. */
CRISOL_API crisol_status crisol_ema_load_state_dict(crisol_ema* ema, const crisol_named_tensors* state);

/** The scale of a loss in mixed precision: crisol::optim::GradScaler. */
typedef struct crisol_grad_scaler crisol_grad_scaler;
/** Makes a scaler for parameters on a device. PyTorch's settings are 65536, 2, 0.5 and 2000. */
CRISOL_API crisol_status crisol_grad_scaler_create(crisol_device device, double init_scale, double growth_factor,
                                                   double backoff_factor, int64_t growth_interval,
                                                   crisol_grad_scaler** result);
/** Destroys a scaler. */
CRISOL_API void crisol_grad_scaler_destroy(crisol_grad_scaler* scaler);
/** The loss times the scale. */
CRISOL_API crisol_status crisol_grad_scaler_scale(const crisol_grad_scaler* scaler, const crisol_tensor* loss,
                                                  crisol_tensor** result);
/** Divides the optimiser's gradients by the scale. crisol_grad_scaler_step does it otherwise. */
CRISOL_API crisol_status crisol_grad_scaler_unscale(crisol_grad_scaler* scaler, crisol_optimizer* optimizer);
/** The optimiser's step, if no gradient overflowed. */
CRISOL_API crisol_status crisol_grad_scaler_step(crisol_grad_scaler* scaler, crisol_optimizer* optimizer);
/** Changes the scale for the next step. */
CRISOL_API crisol_status crisol_grad_scaler_update(crisol_grad_scaler* scaler);
/** The scale. Waits for the device. */
CRISOL_API crisol_status crisol_grad_scaler_get_scale(const crisol_grad_scaler* scaler, double* result);
/** The scale and its settings. */
CRISOL_API crisol_status crisol_grad_scaler_state_dict(const crisol_grad_scaler* scaler, crisol_named_tensors** result);
/** Restores a state that crisol_grad_scaler_state_dict gave. */
CRISOL_API crisol_status crisol_grad_scaler_load_state_dict(crisol_grad_scaler* scaler,
                                                            const crisol_named_tensors* state);

/* ---- Kernels of your own ----------------------------------------------------------------------------------------- */

/** A kernel in OpenCL C: crisol::Kernel. */
typedef struct crisol_kernel crisol_kernel;
/** Reads the parameters of the kernel `name` from the source, and compiles nothing. `group` holds the sizes of a
 * work-group. It is null if group_rank is 0. build_options may be null. */
CRISOL_API crisol_status crisol_kernel_create(const char* source, const char* name, int group_rank,
                                              const int64_t* group, const char* build_options, crisol_kernel** result);
/** Queues the kernel with one work-item for each point of `range`. There is one argument for each parameter of the
 * kernel; crisol/kernel.h says which arguments a parameter takes. */
CRISOL_API crisol_status crisol_kernel_run(const crisol_kernel* kernel, int rank, const int64_t* range, int count,
                                           const crisol_operand* argument);
/** Destroys a kernel. */
CRISOL_API void crisol_kernel_destroy(crisol_kernel* kernel);

/* ---- Captured graphs --------------------------------------------------------------------------------------------- */

/** A fixed sequence of work on a device: crisol::CapturedGraph. */
typedef struct crisol_captured_graph crisol_captured_graph;
/** Calls work(data) once, and captures the commands that this thread queues on the device meanwhile.
 * crisol/capture.h lists what the work must not do. If the work returns another status than CRISOL_OK, this status is
 * returned, and nothing is captured. */
CRISOL_API crisol_status crisol_capture(crisol_device device, crisol_status (*work)(void* data), void* data,
                                        crisol_captured_graph** result);
/** Queues the commands once more. They use the same memory as before. */
CRISOL_API crisol_status crisol_captured_graph_replay(crisol_captured_graph* graph);
/** Destroys a graph and frees its memory. */
CRISOL_API void crisol_captured_graph_destroy(crisol_captured_graph* graph);

/* ---- Data -------------------------------------------------------------------------------------------------------- */

/** Samples by index: crisol::io::Dataset. */
typedef struct crisol_dataset crisol_dataset;

/** Shape and element type of one tensor of a sample. */
typedef struct crisol_field {
  crisol_dtype dtype;             /**< The element type. */
  int rank;                       /**< The number of sizes; 0 for a single number, such as a class. */
  int64_t sizes[CRISOL_MAX_RANK]; /**< Outermost axis first. */
} crisol_field;

/** Writes sample `index`: all elements of field i at fields[i], outermost axis first. Random changes take their numbers
 * from `seed`. A loader with several threads calls it from all of them at the same time. A result other than 0 ends
 * crisol_data_loader_next with CRISOL_INVALID_ARGUMENT. */
typedef int (*crisol_read_function)(void* user_data, int64_t index, uint64_t seed, void* const* fields);

/** Samples that a function gives. `release` may be null. Otherwise the library calls it with user_data when it no
 * longer needs the data set, and also if this call fails. */
CRISOL_API crisol_status crisol_dataset_create(int64_t size, int field_count, const crisol_field* fields,
                                               crisol_read_function read, void* user_data,
                                               void (*release)(void* user_data), crisol_dataset** result);
/** The rows of tensors, which have the same size along axis 0: crisol::io::TensorDataset. Waits for the tensors. */
CRISOL_API crisol_status crisol_dataset_from_tensors(int count, const crisol_tensor* const* tensors,
                                                     crisol_dataset** result);
/** Chosen samples in the given order: crisol::io::Subset. */
CRISOL_API crisol_status crisol_dataset_subset(const crisol_dataset* dataset, int64_t count, const int64_t* indices,
                                               crisol_dataset** result);
/** Cuts a data set into `count` parts that follow one another. The lengths add up to its size. */
CRISOL_API crisol_status crisol_dataset_split(const crisol_dataset* dataset, int count, const int64_t* lengths,
                                              crisol_dataset** results);
/** As crisol_dataset_split, but the samples are shuffled first. The seed determines the parts, on every machine. */
CRISOL_API crisol_status crisol_dataset_random_split(const crisol_dataset* dataset, int count, const int64_t* lengths,
                                                     uint64_t seed, crisol_dataset** results);
/** Destroys a data set. Loaders and parts that were made from it keep the data that they need. */
CRISOL_API void crisol_dataset_destroy(crisol_dataset* dataset);
/** The number of samples. */
CRISOL_API crisol_status crisol_dataset_size(const crisol_dataset* dataset, int64_t* samples);
/** The number of tensors in a sample. */
CRISOL_API crisol_status crisol_dataset_field_count(const crisol_dataset* dataset, int* fields);
/** Shape and element type of field `index`. */
CRISOL_API crisol_status crisol_dataset_field(const crisol_dataset* dataset, int index, crisol_field* field);

/** Batches on a device: crisol::io::DataLoader. */
typedef struct crisol_data_loader crisol_data_loader;

/** As crisol::io::DataLoaderOptions. */
typedef struct crisol_data_loader_options {
  int64_t batch_size; /**< At least 1. */
  int shuffle;        /**< Another order each epoch, fixed by seed and epoch. */
  int drop_last;      /**< Leaves out a last batch that is not full. */
  uint64_t seed;      /**< Seed of the shuffling, and for crisol_read_function. */
  int threads;        /**< Threads that read samples; at least 1. Batches are the same. */
} crisol_data_loader_options;
/** The defaults, as an initialiser. */
#define CRISOL_DATA_LOADER_OPTIONS \
  { 64, 0, 0, 0, 1 }
/** options may be null. */
CRISOL_API crisol_status crisol_data_loader_create(const crisol_dataset* dataset,
                                                   const crisol_data_loader_options* options, crisol_device device,
                                                   crisol_data_loader** result);
/** A loader of the samples that one of `world` processes reads: crisol::io::ShardedSampler. `batch_size` is the size of
 * the batches of all processes together, and drop_last must be 0. If the last batch has fewer samples than there are
 * processes, some processes have one batch less. options may be null. */
CRISOL_API crisol_status crisol_data_loader_create_sharded(const crisol_dataset* dataset,
                                                           const crisol_data_loader_options* options, int32_t rank,
                                                           int32_t world, crisol_device device,
                                                           crisol_data_loader** result);
/** Destroys a loader. */
CRISOL_API void crisol_data_loader_destroy(crisol_data_loader* loader);
/** Batches in an epoch. */
CRISOL_API crisol_status crisol_data_loader_batches(const crisol_data_loader* loader, int64_t* batches);
/** Begins an epoch, at one of its batches. */
CRISOL_API crisol_status crisol_data_loader_start(crisol_data_loader* loader, int64_t epoch, int64_t batch);
/** The next batch: one tensor for each field, (B, …shape of the field). `tensors` has `count` places, one for each
 * field. *more becomes 1. After the last batch of the epoch it becomes 0, and no tensor is written. */
CRISOL_API crisol_status crisol_data_loader_next(crisol_data_loader* loader, int count, crisol_tensor** tensors,
                                                 int* more);
/** The position after the batch that crisol_data_loader_next gave last, from which crisol_data_loader_start can go on.
 * After the last batch it is the start of the next epoch. Both pointers may be null. */
CRISOL_API crisol_status crisol_data_loader_position(const crisol_data_loader* loader, int64_t* epoch, int64_t* batch);
/** The position, and the settings that determine the batches. */
CRISOL_API crisol_status crisol_data_loader_state_dict(const crisol_data_loader* loader, crisol_named_tensors** result);
/** Makes crisol_data_loader_position give a saved position. Fails if this loader would give other batches. */
CRISOL_API crisol_status crisol_data_loader_load_state_dict(crisol_data_loader* loader,
                                                            const crisol_named_tensors* state);

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/** Writes tensors under names to a safetensors file. */
CRISOL_API crisol_status crisol_save_tensors(const char* path, int count, const char* const* names,
                                             const crisol_tensor* const* tensors);
/** Loads the tensor with this name from a safetensors file. */
CRISOL_API crisol_status crisol_load_tensor(const char* path, const char* name, crisol_device device,
                                            crisol_tensor** result);
/** The array in a file of numpy.save (.npy): crisol::io::load_npy. */
CRISOL_API crisol_status crisol_load_npy(const char* path, crisol_device device, crisol_tensor** result);
/** The arrays in a file of numpy.savez or numpy.savez_compressed (.npz): crisol::io::load_npz. */
CRISOL_API crisol_status crisol_load_npz(const char* path, crisol_device device, crisol_named_tensors** result);

/** Texts by name that travel with tensors in a file: crisol::io::Metadata. */
typedef struct crisol_metadata crisol_metadata;
/** Makes an object without texts. */
CRISOL_API crisol_status crisol_metadata_create(crisol_metadata** result);
/** Destroys the object. Accepts null. */
CRISOL_API void crisol_metadata_destroy(crisol_metadata* metadata);
/** Sets the text of a name. */
CRISOL_API crisol_status crisol_metadata_set(crisol_metadata* metadata, const char* name, const char* text);
/** The text of a name; null if there is none. Valid until the metadata change. */
CRISOL_API crisol_status crisol_metadata_get(const crisol_metadata* metadata, const char* name, const char** text);
/** How many texts there are. */
CRISOL_API crisol_status crisol_metadata_count(const crisol_metadata* metadata, int32_t* count);
/** Text `index`, in the order of the names. Both are valid until the metadata change, and both pointers may be null. */
CRISOL_API crisol_status crisol_metadata_item(const crisol_metadata* metadata, int32_t index, const char** name,
                                              const char** text);

/** All tensors of a safetensors file, and its texts: crisol::io::load_safetensors. `metadata` may be null. */
CRISOL_API crisol_status crisol_load_named_tensors(const char* path, crisol_device device,
                                                   crisol_named_tensors** result, crisol_metadata** metadata);
/** Writes tensors and texts to a safetensors file: crisol::io::save_safetensors. `metadata` may be null. */
CRISOL_API crisol_status crisol_save_named_tensors(const char* path, const crisol_named_tensors* tensors,
                                                   const crisol_metadata* metadata);

/** Everything that a training needs to continue: crisol::io::Checkpoint. The parts "model", "optimizer",
 * "schedule", "carried" and "data" are lists of tensors, empty at first. It also has a generator's state and texts. */
typedef struct crisol_checkpoint crisol_checkpoint;
/** An empty checkpoint. */
CRISOL_API crisol_status crisol_checkpoint_create(crisol_checkpoint** result);
/** Destroys a checkpoint. Accepts null. */
CRISOL_API void crisol_checkpoint_destroy(crisol_checkpoint* checkpoint);
/** Sets a part, without copying the elements of the tensors. */
CRISOL_API crisol_status crisol_checkpoint_set(crisol_checkpoint* checkpoint, const char* part,
                                               const crisol_named_tensors* tensors);
/** A part. Its tensors use the same memory. */
CRISOL_API crisol_status crisol_checkpoint_get(const crisol_checkpoint* checkpoint, const char* part,
                                               crisol_named_tensors** result);
/** Sets the state of the generator, which crisol_generator_state gives. */
CRISOL_API crisol_status crisol_checkpoint_set_generator(crisol_checkpoint* checkpoint, uint64_t seed,
                                                         uint64_t counter);
/** The state of the generator, for crisol_set_generator_state. */
CRISOL_API crisol_status crisol_checkpoint_generator(const crisol_checkpoint* checkpoint, uint64_t* seed,
                                                     uint64_t* counter);
/** Sets all texts. */
CRISOL_API crisol_status crisol_checkpoint_set_metadata(crisol_checkpoint* checkpoint, const crisol_metadata* metadata);
/** A copy of the texts. */
CRISOL_API crisol_status crisol_checkpoint_metadata(const crisol_checkpoint* checkpoint, crisol_metadata** result);
/** Writes a safetensors file, whole or not at all: crisol::io::save_checkpoint. */
CRISOL_API crisol_status crisol_checkpoint_save(const crisol_checkpoint* checkpoint, const char* path);
/** Reads what crisol_checkpoint_save or crisol::io::save_checkpoint wrote. */
CRISOL_API crisol_status crisol_checkpoint_load(const char* path, crisol_device device, crisol_checkpoint** result);

/** The facts about an ONNX file as JSON, in the format of `crisol onnx info --json`. The text is valid until this
 * thread calls a crisol_onnx function again that gives a text. */
CRISOL_API crisol_status crisol_onnx_info(const char* path, const char** json);
/** A model from an ONNX file, as crisol::onnx::load gives it. crisol_model_forward runs models with one input, and
 * gives their first output. */
CRISOL_API crisol_status crisol_onnx_load(const char* path, crisol_device device, crisol_model** result);
/** An input or an output of a model of crisol_onnx_load. */
typedef enum crisol_onnx_kind { CRISOL_ONNX_INPUT = 0, CRISOL_ONNX_OUTPUT = 1 } crisol_onnx_kind;
/** How many inputs or outputs the model has. */
CRISOL_API crisol_status crisol_onnx_value_count(const crisol_model* model, crisol_onnx_kind kind, int32_t* count);
/** An input or output: its name, the type of its elements ("f32", "i64", …), and its number of axes. The number is -1
 * if the file does not fix it. The texts are valid as long as the model. A result pointer may be null if the caller
 * does not need the value. */
CRISOL_API crisol_status crisol_onnx_value(const crisol_model* model, crisol_onnx_kind kind, int32_t index,
                                           const char** name, const char** type, int32_t* rank);
/** One size of an input or output: its number (-1 if the file does not fix it) and its name, which may be empty. Sizes
 * with the same name are equal. */
CRISOL_API crisol_status crisol_onnx_value_size(const crisol_model* model, crisol_onnx_kind kind, int32_t index,
                                                int32_t axis, int64_t* size, const char** name);
/** A text of an output: the element `position` of crisol::onnx::Model::texts. Gives a null pointer after the last text,
 * and for an output of numbers. The text is valid until the thread's next call of such a function. */
CRISOL_API crisol_status crisol_onnx_text(const crisol_model* model, int32_t output, int32_t position,
                                          const char** text);
/** Runs a model of crisol_onnx_load with inputs by name, and gives the outputs of these names. */
CRISOL_API crisol_status crisol_onnx_run(const crisol_model* model, int input_count, const char* const* input_names,
                                         const crisol_tensor* const* inputs, int output_count,
                                         const char* const* output_names, crisol_tensor** results);
/** Runs a model of crisol_onnx_load with inputs by name, and gives all outputs in the order of the model. The elements
 * of a sequence have the same name, one after another, in the inputs and in the outputs. An empty optional value and an
 * empty sequence have no tensor. */
CRISOL_API crisol_status crisol_onnx_run_all(const crisol_model* model, int input_count, const char* const* input_names,
                                             const crisol_tensor* const* inputs, crisol_named_tensors** result);
/** Runs a model of crisol_onnx_load once and measures each node: crisol::onnx::Model::profile. The JSON has the form of
 * crisol_onnx_info. */
CRISOL_API crisol_status crisol_onnx_profile(const crisol_model* model, int input_count, const char* const* input_names,
                                             const crisol_tensor* const* inputs, const char** json);
/** The program that runs for these inputs without gradients, as text: crisol::onnx::Model::optimized. The text is valid
 * until this thread calls a crisol_onnx function again that gives a text. */
CRISOL_API crisol_status crisol_onnx_optimized(const crisol_model* model, int input_count,
                                               const char* const* input_names, const crisol_tensor* const* inputs,
                                               const char** text);
/** The tensor in a file (TensorProto, mostly `.pb`) that holds only this tensor: crisol::onnx::load_tensor. */
CRISOL_API crisol_status crisol_onnx_load_tensor(const char* path, crisol_device device, crisol_tensor** result);
/** Compares a model with its test data: crisol::onnx::check. The JSON has the form of crisol_onnx_info. The call does
 * not fail if an output is wrong. */
CRISOL_API crisol_status crisol_onnx_check(const char* folder, double rtol, double atol, crisol_device device,
                                           const char** json);
/** The ops that crisol_onnx_load accepts, with their versions, as JSON in the form of crisol_onnx_info. */
CRISOL_API crisol_status crisol_onnx_supported_ops(const char** json);
/** Writes a model as an ONNX file, as crisol::onnx::save does, with an example of its input. The names of the input and
 * of the output may be NULL: "input" and "output". */
CRISOL_API crisol_status crisol_onnx_save(crisol_model* model, const char* path, const crisol_tensor* example,
                                          const char* input_name, const char* output_name);

#ifdef __cplusplus
}
#endif

#endif
