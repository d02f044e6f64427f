// `text_lstm sample`
#pragma once

#include <cstdint>
#include <string>

namespace text_lstm {

struct SampleOptions {
  std::string weights;
  std::string prompt;  ///< If empty, the text starts at the beginning of a line.
  std::int64_t length = 500;
  double temperature = 0.8;  ///< 0: always the likeliest character.
  std::int64_t top_k = 0;    ///< Choose among the `top_k` likeliest characters; 0: all.
  std::uint64_t seed = 0;
};

/// Prints the prompt and the network's continuation. Returns the exit status.
int sample(const SampleOptions& options);

}  // namespace text_lstm
