// `text_lstm train`
#pragma once

#include <cstdint>
#include <string>

#include "settings.h"

namespace text_lstm {

struct TrainOptions {
  Settings settings;                ///< Its steps are filled in from the next two.
  std::int64_t steps = 0;           ///< 0: those of `epochs`, or the default.
  std::int64_t epochs = 0;          ///< Passes over the text; 0: `steps` counts.
  std::string text;                 ///< File; empty: the embedded text.
  std::int64_t validate_every = 0;  ///< Steps; 0: a fifth of all.
  std::string weights;              ///< Where to save weights and vocabulary; empty: nowhere.
  std::string json;                 ///< Where to write the metrics; empty: nowhere.
  std::string checkpoint;           ///< Where to keep checkpoints; empty: nowhere.
  std::int64_t checkpoint_every = 100;
  bool resume = false;
};

/// Trains and reports; returns the exit status.
int train(const TrainOptions& options);

}  // namespace text_lstm
