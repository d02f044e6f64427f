#include <array>

#include "cli/bench/groups.h"

namespace crisol::cli::bench {

std::span<const Case* const> cases() {
  static constexpr std::array<const Case*, 12> all{&gemm_case, &attention_case, &conv2d_case,  &pool_case,
                                                   &norm_case, &softmax_case,   &eltwise_case, &reduce_case,
                                                   &rnn_case,  &net_case,       &launch_case,  &copy_case};
  return all;
}

}  // namespace crisol::cli::bench
