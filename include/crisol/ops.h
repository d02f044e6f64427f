// Raw ops: what the differentiable functions (crisol/functions/) and the optimisers are made of. They are never
// recorded for backward, and the gradients of the functions are ops of their own (relu_backward).
//
// Most programs need none of them, so crisol.h does not include this header. Use a raw op
//
// - in the backward of a custom_function, for a gradient that the library has: ops::relu_backward(dy, y),
// - to learn what the library would do: ops::conv2d_choice, ops::probe_results, ops::matrix_units,
// - to limit the extra memory of ops: ops::set_workspace_limit.
//
// Elsewhere a function under NoGrad does the same.
#pragma once

#include "crisol/ops/cat.h"
#include "crisol/ops/conv.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/dropout.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "crisol/ops/loss.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/norm.h"
#include "crisol/ops/optimizer.h"
#include "crisol/ops/pad.h"
#include "crisol/ops/pool.h"
#include "crisol/ops/probe.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/rnn.h"
#include "crisol/ops/sampling.h"
#include "crisol/ops/softmax.h"
#include "crisol/ops/sort.h"
#include "crisol/ops/triangle.h"
#include "crisol/ops/view.h"
#include "crisol/ops/workspace.h"
