// Files of tensors and texts, and checkpoints, for C.
#include <string_view>

#include "c_api/handles.h"
#include "crisol/io/checkpoint.h"
#include "crisol/io/npy.h"
#include "crisol/io/safetensors.h"

using namespace crisol;
using namespace crisol::c_api;

struct crisol_checkpoint {
  io::Checkpoint value;
};

namespace {

/// The part of a checkpoint with this name: one of its lists of tensors.
NamedTensors io::Checkpoint::*part_of(const char* name, const char* op) {
  struct Part {
    std::string_view name;
    NamedTensors io::Checkpoint::*tensors;
  };
  constexpr Part parts[] = {{"model", &io::Checkpoint::model},
                            {"optimizer", &io::Checkpoint::optimizer},
                            {"schedule", &io::Checkpoint::schedule},
                            {"carried", &io::Checkpoint::carried},
                            {"data", &io::Checkpoint::data}};
  return row_named(parts, &need(name, op, "part"), op, "part").tensors;
}

}  // namespace

crisol_status crisol_save_tensors(const char* path, int count, const char* const* names,
                                  const crisol_tensor* const* tensors) {
  constexpr const char* op = "save_tensors";
  return guarded([&] {
    const std::vector<Tensor> values = tensors_of(tensors, count, op, "tensors");
    NamedTensors named;
    for (std::size_t i = 0; i < values.size(); ++i)
      named.emplace_back(&need((&need(names, op, "names"))[i], op, "a name"), values[i]);
    io::save_safetensors(&need(path, op, "path"), named);
  });
}

crisol_status crisol_load_tensor(const char* path, const char* name, crisol_device device, crisol_tensor** result) {
  constexpr const char* op = "load_tensor";
  return give(result, op, [&] {
    const std::string wanted = &need(name, op, "name");
    const NamedTensors all = io::load_safetensors(&need(path, op, "path"), device_of(device, op));
    require(all.contains(wanted), op, path, " has no tensor '", wanted, "'");
    return all[wanted];
  });
}

crisol_status crisol_load_npy(const char* path, crisol_device device, crisol_tensor** result) {
  constexpr const char* op = "load_npy";
  return give(result, op, [&] { return io::load_npy(&need(path, op, "path"), device_of(device, op)); });
}

crisol_status crisol_load_npz(const char* path, crisol_device device, crisol_named_tensors** result) {
  constexpr const char* op = "load_npz";
  return give(result, op, [&] { return io::load_npz(&need(path, op, "path"), device_of(device, op)); });
}

crisol_status crisol_load_named_tensors(const char* path, crisol_device device, crisol_named_tensors** result,
                                        crisol_metadata** metadata) {
  constexpr const char* op = "load_named_tensors";
  return guarded([&] {
    crisol_named_tensors*& place = need(result, op, "result");
    auto texts = std::make_unique<crisol_metadata>();
    auto tensors = std::make_unique<crisol_named_tensors>();
    tensors->value = io::load_safetensors(&need(path, op, "path"), device_of(device, op), &texts->value);
    place = tensors.release();
    if (metadata != nullptr) *metadata = texts.release();
  });
}

crisol_status crisol_save_named_tensors(const char* path, const crisol_named_tensors* tensors,
                                        const crisol_metadata* metadata) {
  constexpr const char* op = "save_named_tensors";
  return guarded([&] {
    io::save_safetensors(&need(path, op, "path"), need(tensors, op, "tensors").value,
                         metadata == nullptr ? io::Metadata() : metadata->value);
  });
}

crisol_status crisol_checkpoint_create(crisol_checkpoint** result) {
  constexpr const char* op = "checkpoint_create";
  return give(result, op, [] { return io::Checkpoint(); });
}

void crisol_checkpoint_destroy(crisol_checkpoint* checkpoint) { delete checkpoint; }

crisol_status crisol_checkpoint_set(crisol_checkpoint* checkpoint, const char* part,
                                    const crisol_named_tensors* tensors) {
  constexpr const char* op = "checkpoint_set";
  return guarded([&] {
    io::Checkpoint& own = need(checkpoint, op, "checkpoint").value;
    own.*part_of(part, op) = need(tensors, op, "tensors").value;
  });
}

crisol_status crisol_checkpoint_get(const crisol_checkpoint* checkpoint, const char* part,
                                    crisol_named_tensors** result) {
  constexpr const char* op = "checkpoint_get";
  return give(result, op, [&] { return need(checkpoint, op, "checkpoint").value.*part_of(part, op); });
}

crisol_status crisol_checkpoint_set_generator(crisol_checkpoint* checkpoint, uint64_t seed, uint64_t counter) {
  constexpr const char* op = "checkpoint_set_generator";
  return guarded([&] { need(checkpoint, op, "checkpoint").value.generator = {seed, counter}; });
}

crisol_status crisol_checkpoint_generator(const crisol_checkpoint* checkpoint, uint64_t* seed, uint64_t* counter) {
  constexpr const char* op = "checkpoint_generator";
  return guarded([&] {
    const GeneratorState& state = need(checkpoint, op, "checkpoint").value.generator;
    give_generator_state(state, seed, counter, op);
  });
}

crisol_status crisol_checkpoint_set_metadata(crisol_checkpoint* checkpoint, const crisol_metadata* metadata) {
  constexpr const char* op = "checkpoint_set_metadata";
  return guarded([&] {
    io::Checkpoint& own = need(checkpoint, op, "checkpoint").value;
    own.metadata = need(metadata, op, "metadata").value;
  });
}

crisol_status crisol_checkpoint_metadata(const crisol_checkpoint* checkpoint, crisol_metadata** result) {
  constexpr const char* op = "checkpoint_metadata";
  return give(result, op, [&] { return need(checkpoint, op, "checkpoint").value.metadata; });
}

crisol_status crisol_checkpoint_save(const crisol_checkpoint* checkpoint, const char* path) {
  constexpr const char* op = "checkpoint_save";
  return guarded([&] { io::save_checkpoint(&need(path, op, "path"), need(checkpoint, op, "checkpoint").value); });
}

crisol_status crisol_checkpoint_load(const char* path, crisol_device device, crisol_checkpoint** result) {
  constexpr const char* op = "checkpoint_load";
  return give(result, op, [&] { return io::load_checkpoint(&need(path, op, "path"), device_of(device, op)); });
}
