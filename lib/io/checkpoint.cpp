#include "crisol/io/checkpoint.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"

namespace crisol::io {
namespace {

constexpr const char* version_key = "crisol.checkpoint";
constexpr const char* version = "1";
constexpr const char* generator_name = "generator";

struct Part {
  std::string prefix;
  NamedTensors Checkpoint::*tensors;
};

const std::array<Part, 5>& parts() {
  static const std::array<Part, 5> all{{{"model.", &Checkpoint::model},
                                        {"optimizer.", &Checkpoint::optimizer},
                                        {"schedule.", &Checkpoint::schedule},
                                        {"carried.", &Checkpoint::carried},
                                        {"data.", &Checkpoint::data}}};
  return all;
}

const Part* part_of(const std::string& name) {
  for (const Part& part : parts())
    if (name.compare(0, part.prefix.size(), part.prefix) == 0) return &part;
  return nullptr;
}

}  // namespace

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  Metadata metadata = checkpoint.metadata;
  require(metadata.emplace(version_key, version).second, "save_checkpoint", "the metadata holds ", version_key,
          ", which says that a file is a checkpoint");
  NamedTensors all;
  for (const Part& part : parts())
    for (const auto& [name, tensor] : checkpoint.*part.tensors) all.emplace_back(part.prefix + name, tensor);
  const GeneratorState& generator = checkpoint.generator;
  all.emplace_back(generator_name,
                   from_vector(std::vector<std::int64_t>{static_cast<std::int64_t>(generator.seed),
                                                         static_cast<std::int64_t>(generator.counter)}));
  save_safetensors(path, all, metadata);
}

Checkpoint load_checkpoint(const std::string& path, Device device) {
  const auto refuse = [&](const auto&... text) { fail(ErrorCode::io, "load_checkpoint", path, ": ", text...); };
  Checkpoint checkpoint;
  NamedTensors all = load_safetensors(path, device, &checkpoint.metadata);
  const auto found = checkpoint.metadata.find(version_key);
  if (found == checkpoint.metadata.end()) refuse("no checkpoint: ", version_key, " is not in its metadata");
  if (found->second != version) refuse("a checkpoint of version ", found->second, ", this program reads ", version);
  checkpoint.metadata.erase(found);
  std::optional<GeneratorState> generator;
  for (auto& [name, tensor] : all) {
    if (name == generator_name) {
      if (tensor.dtype() != DType::i64 || tensor.shape() != Shape{2})
        refuse(name, " is ", tensor.shape(), ' ', tensor.dtype(), ", (2) i64 expected");
      const std::vector<std::int64_t> words = tensor.to_vector<std::int64_t>();
      generator = {static_cast<std::uint64_t>(words[0]), static_cast<std::uint64_t>(words[1])};
    } else if (const Part* part = part_of(name)) {
      (checkpoint.*part->tensors).emplace_back(name.substr(part->prefix.size()), std::move(tensor));
    } else {
      refuse("tensor \"", name, "\" belongs to no part of a checkpoint");
    }
  }
  if (!generator) refuse("no tensor \"", generator_name, '"');
  checkpoint.generator = *generator;
  return checkpoint;
}

}  // namespace crisol::io
