// All that a training needs to go on where it stopped, in one file.
#pragma once

#include <string>

#include "crisol/device.h"
#include "crisol/export.h"
#include "crisol/io/safetensors.h"
#include "crisol/named_tensors.h"
#include "crisol/random.h"

namespace crisol::io {

/// A training between two steps. Filled from state_dict() of its parts and given back to their load_state_dict(), with
/// the same device, kernels and data, it goes on bit for bit as if it had not stopped.
struct Checkpoint {
  NamedTensors model;        ///< Of the Module.
  NamedTensors optimizer;    ///< Of the Optimizer.
  NamedTensors schedule;     ///< Of the LRScheduler; empty without one.
  NamedTensors carried;      ///< Tensors that pass from step to step, such as the states of a recurrent network.
  GeneratorState generator;  ///< default_generator(device).state(), or that of another one.
  Metadata metadata;         ///< Settings, and what else the program wants to know.
  NamedTensors data = {};    ///< Of the DataLoader; empty without one.
};

/// Writes a safetensors file, whole or not at all (see save_safetensors): the tensors as "model.NAME",
/// "optimizer.NAME", "schedule.NAME", "carried.NAME" and "data.NAME", the generator as the i64 tensor "generator"
/// (seed, counter), the metadata with "crisol.checkpoint" beside it, which must not be among it.
CRISOL_API void save_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// Reads what save_checkpoint wrote. Throws io for a file that is no safetensors file, no checkpoint, of another
/// version or with a tensor that has no place in it.
CRISOL_API Checkpoint load_checkpoint(const std::string& path, Device device = Device());

}  // namespace crisol::io
