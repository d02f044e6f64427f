// Optimisers, learning-rate schedules, averages of weights and clipping of gradients, with PyTorch's names, formulas
// and defaults.
#pragma once

#include "crisol/optim/clip.h"
#include "crisol/optim/ema.h"
#include "crisol/optim/grad_scaler.h"
#include "crisol/optim/lr_scheduler.h"
#include "crisol/optim/methods.h"
#include "crisol/optim/optimizer.h"
