// `text_lstm train`
#pragma once

#include <cstdint>
#include <string>

#include "common/ranks.h"
#include "settings.h"

namespace text_lstm {

struct TrainOptions {
  Settings settings;                ///< Its `steps` is set from the next two members.
  std::int64_t steps = 0;           ///< 0: use `epochs`, or the default number of steps.
  std::int64_t epochs = 0;          ///< Passes over the text; 0: use `steps`.
  std::string text;                 ///< File; empty: the embedded text.
  std::int64_t validate_every = 0;  ///< In steps; 0: after every fifth of all steps.
  std::string weights;              ///< Path for weights and vocabulary; empty: not saved.
  std::string json;                 ///< Path for the metrics; empty: not written.
  std::string checkpoint;           ///< Path for checkpoints; empty: not saved.
  std::int64_t checkpoint_every = 100;
  bool resume = false;
};

/// Trains and reports; returns the exit status.
int train(const TrainOptions& options, const samples::Ranks& ranks);

}  // namespace text_lstm
