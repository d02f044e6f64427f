// RNN, LSTM and GRU over several steps, forward and backward.
#include "base/text.h"
#include "cli/selftest/check.h"
#include "crisol/options/rnn.h"

namespace crisol::cli::selftest {

namespace {

Op layers_of(const char* name, RnnCell cell) {
  std::vector<std::string> problems;
  for (const char* direction : {"forward", "backward"})
    for (const char* sizes : {"reverse=0 t=5 b=3 i=7 h=12 outputs=12", "reverse=1 t=4 b=17 i=20 h=33 outputs=33"})
      problems.push_back(concat("rnn_", direction, " cell=", static_cast<int>(cell), ' ', sizes, " padded=0"));
  return from_problems(name, std::move(problems));
}

}  // namespace

std::vector<Op> recurrent() {
  return {layers_of("rnn_tanh", RnnCell::tanh), layers_of("rnn_relu", RnnCell::relu), layers_of("lstm", RnnCell::lstm),
          layers_of("gru", RnnCell::gru)};
}

}  // namespace crisol::cli::selftest
