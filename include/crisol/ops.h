// Raw ops. The differentiable functions (crisol/functions/) and the optimisers are made of them. Raw ops are never
// recorded for backward. The gradients of functions are raw ops too (relu_backward).
//
// Most programs need no raw op, so crisol.h does not include this header. Use a raw op
//
// - in the backward of a custom_function, for a gradient that the library has: ops::relu_backward(dy, y),
// - to ask for the library's choices: ops::conv2d_choice, ops::probe_results, ops::matrix_units,
// - to limit the extra memory of ops: ops::set_workspace_limit.
//
// - to write a result to memory that is there: ops::NAME_into(out, …).
//
// For anything else, call a function under NoGrad: it does the same as the raw op.
//
// NAME_into writes to `out` what NAME returns, with the same bits. `out` has the shape and the dtype of the result, and
// any strides. Nothing else in its memory changes. It may be one of the inputs, as in an op in place, or share nothing
// with them. If kernels cannot write its layout, they write a tensor beside it, which is then copied. Errors
// (invalid_argument) leave `out` unchanged:
//
// - `out` is undefined, or has another shape, dtype or device,
// - several indices of `out` mean one element,
// - `out` shares only a part of its elements with an input, or shares elements with another result.
#pragma once

#include "crisol/ops/attention.h"
#include "crisol/ops/cat.h"
#include "crisol/ops/conv.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/decompose.h"
#include "crisol/ops/dropout.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "crisol/ops/loss.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/norm.h"
#include "crisol/ops/optimizer.h"
#include "crisol/ops/optimizer_list.h"
#include "crisol/ops/pad.h"
#include "crisol/ops/pool.h"
#include "crisol/ops/probe.h"
#include "crisol/ops/quantized.h"
#include "crisol/ops/random.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/rnn.h"
#include "crisol/ops/sampling.h"
#include "crisol/ops/softmax.h"
#include "crisol/ops/sort.h"
#include "crisol/ops/triangle.h"
#include "crisol/ops/view.h"
#include "crisol/ops/vision.h"
#include "crisol/ops/workspace.h"
