// Checkpoints: one file with everything that a training needs to continue.
#pragma once

#include <string>

#include "crisol/device.h"
#include "crisol/export.h"
#include "crisol/io/safetensors.h"
#include "crisol/named_tensors.h"
#include "crisol/random.h"

namespace crisol::io {

/// The state of a training between two steps. Fill it from state_dict() of the parts of a training, and later give it
/// to their load_state_dict(). With the same device, kernels and data, the training then continues with the same bits
/// as if it had not stopped.
struct Checkpoint {
  NamedTensors model;        ///< State of the Module.
  NamedTensors optimizer;    ///< State of the Optimizer.
  NamedTensors schedule;     ///< State of the LRScheduler; empty without one.
  NamedTensors carried;      ///< Tensors that pass from step to step, such as the states of a recurrent network.
  GeneratorState generator;  ///< State of default_generator(device), or of another generator.
  Metadata metadata;         ///< Settings and other texts of the program.
  NamedTensors data = {};    ///< State of the DataLoader; empty without one.
};

/// Writes a safetensors file, completely or not at all (see save_safetensors). The tensors get the names "model.NAME",
/// "optimizer.NAME", "schedule.NAME", "carried.NAME" and "data.NAME". The generator is the i64 tensor "generator"
/// (seed, counter). The metadata of the file gets an additional key "crisol.checkpoint". Throws invalid_argument if
/// checkpoint.metadata has this key.
CRISOL_API void save_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// Reads a file from save_checkpoint. Throws io if the file is no safetensors file, is no checkpoint, has another
/// version, or contains an unexpected tensor.
CRISOL_API Checkpoint load_checkpoint(const std::string& path, Device device = Device());

}  // namespace crisol::io
