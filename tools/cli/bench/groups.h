// The cases by group; cases.cpp lists them.
#pragma once

#include "cli/bench/case.h"

namespace crisol::cli::bench {

extern const Case gemm_case;
extern const Case attention_case;
extern const Case conv2d_case;
extern const Case pool_case;
extern const Case norm_case;
extern const Case softmax_case;
extern const Case eltwise_case;
extern const Case reduce_case;
extern const Case rnn_case;
extern const Case net_case;
extern const Case launch_case;
extern const Case copy_case;

}  // namespace crisol::cli::bench
