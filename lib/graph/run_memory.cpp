#include "graph/run_memory.h"

#include "runtime/capture/capture.h"
#include "runtime/memory/block.h"
#include "runtime/memory/host_memory.h"
#include "tensor/impl.h"

namespace crisol::graph {

namespace {

bool is_tensor(const Datum& datum) { return datum.defined() && !datum.on_host() && !datum.is_sequence(); }

const runtime::Block& block_of(const Tensor& x) { return *x.impl()->storage->block; }

/// Whether kernels that were chosen for whole memory of the pool can use the memory of x: it is such memory, or other
/// memory that begins at a multiple of `alignment` bytes.
bool can_replace(const Tensor& x, std::uint64_t alignment) {
  const Storage& storage = *x.impl()->storage;
  return is_whole(x) || (!storage.block->from_pool() && x.offset() == 0 && x.is_contiguous() && x.numel() > 0 &&
                         runtime::begins_aligned(*storage.block, alignment));
}

// Kernels of CPUs store aligned vectors, of up to 64 bytes. They load vectors from any element, but ops choose kernels
// by the position of the first element within four.
constexpr std::uint64_t output_alignment = 64, input_alignment = 16;

/// How many of the values have their elements in this block.
int count_in(const Data& data, const runtime::Block& block, Device device) {
  int count = 0;
  for (const Datum& datum : data) {
    if (datum.is_sequence())
      count += count_in(datum.elements(), block, device);
    else if (is_tensor(datum) && &block_of(datum.tensor(device)) == &block)
      ++count;
  }
  return count;
}

}  // namespace

bool is_whole(const Tensor& x) {
  const Storage& storage = *x.impl()->storage;
  return storage.block->pooled() && storage.base == 0 && x.offset() == 0 && x.is_contiguous() && x.numel() > 0 &&
         static_cast<std::uint64_t>(x.numel()) * size_of(x.dtype()) == storage.bytes;
}

Data copies_of(Data data, Device device) {
  for (Datum& datum : data) {
    if (datum.is_sequence())
      datum = Datum::sequence(copies_of(datum.elements(), device));
    else if (is_tensor(datum))
      datum = datum.tensor(device).clone();
  }
  return data;
}

std::vector<std::uint64_t> versions_of(const Data& data, Device device) {
  std::vector<std::uint64_t> versions;
  for (const Datum& datum : data)
    versions.push_back(is_tensor(datum) ? datum.tensor(device).impl()->storage->version.load() : 0);
  return versions;
}

RunMemory::RunMemory(runtime::Capturer& commands, Device device, const Data& inputs,
                     const std::vector<std::uint64_t>& versions, const Data& outputs)
    : commands_(commands), device_(device), inputs_(inputs.size()), outputs_(outputs.size()), unused_(inputs.size()) {
  const std::vector<std::uint64_t> now = versions_of(inputs, device);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_tensor(inputs[i]) || now[i] != versions[i]) continue;
    const runtime::Block& block = block_of(inputs[i].tensor(device));
    if (count_in(outputs, block, device) > 0) continue;
    inputs_[i] = runtime::add_parameter(commands, block);
    unused_[i] = !runtime::uses(commands, block);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_tensor(outputs[i])) continue;
    const Tensor output = outputs[i].tensor(device);
    const runtime::Block& block = block_of(output);
    if (is_whole(output) && runtime::made_for(commands, block) && count_in(outputs, block, device) == 1)
      outputs_[i] = runtime::add_parameter(commands, block);
  }
}

void RunMemory::set_inputs(const Data& inputs, const Data& own) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_tensor(inputs[i]) || unused_[i]) continue;
    const Tensor given = inputs[i].tensor(device_);
    Tensor captured = own[i].tensor(device_);
    const bool is_shared = inputs_[i] && can_replace(given, input_alignment);
    if (!is_shared) captured.copy_from(given);
    if (inputs_[i]) runtime::set_parameter(commands_, *inputs_[i], block_of(is_shared ? given : captured));
  }
}

Data RunMemory::new_outputs(const Data& own, const OutputMemory& memory) const {
  Data outputs(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!outputs_[i]) continue;
    Tensor output = memory ? memory(i, own[i].shape(), own[i].dtype()) : Tensor();
    if (!output.defined() || !can_replace(output, output_alignment))
      output = empty(own[i].shape(), own[i].dtype(), device_);
    runtime::name_block(block_of(output), "graph");
    runtime::set_parameter(commands_, *outputs_[i], block_of(output));
    outputs[i] = output;
  }
  return outputs;
}

}  // namespace crisol::graph
