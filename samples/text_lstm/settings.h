// The settings that determine a training. The same settings and text on one device give the same weights, bit for bit.
#pragma once

#include <cstdint>
#include <string>

#include "crisol/io/safetensors.h"

namespace text_lstm {

struct Settings {
  std::int64_t layers = 2;
  std::int64_t hidden = 256;
  std::int64_t embedding = 64;  ///< Size of a character's vector, the input of the first layer.
  double dropout = 0;           ///< Between the layers and before the last one.
  std::int64_t batch = 50;      ///< Places of the text that are read at the same time.
  std::int64_t window = 64;     ///< Number of characters over which gradients flow back.
  std::int64_t steps = 0;
  double lr = 0.01;  ///< Highest rate of the one-cycle schedule.
  double clip = 1;   ///< Largest norm of all gradients together.
  std::uint64_t seed = 0;
  std::string dtype = "f32";  ///< f32; f16 or bf16: mixed precision.
};

/// Names and values as text. Reading the text gives the same bits again.
crisol::io::Metadata describe(const Settings& settings);

/// Compares two descriptions. Throws std::runtime_error with `path`, every name whose values differ, and both values.
void require_same(const std::string& path, const crisol::io::Metadata& ours, const crisol::io::Metadata& theirs);

}  // namespace text_lstm
