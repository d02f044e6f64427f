#include "crisol/captured_function.h"

#include <algorithm>
#include <mutex>

#include "base/text.h"
#include "base/thread_context.h"
#include "crisol/grad_mode.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/view.h"
#include "graph/making.h"
#include "graph/run_memory.h"
#include "runtime/capture/capture.h"
#include "runtime/memory/block.h"
#include "tensor/captured_work.h"
#include "tensor/impl.h"

namespace crisol::detail {

namespace {

const Storage& storage_of(const Tensor& x) { return *x.impl()->storage; }

/// A view of x that has every element in memory once: axes with stride 0 have size 1.
Tensor without_repeats(const Tensor& x) {
  Shape shape = x.shape();
  for (int i = 0; i < x.dim(); ++i)
    if (x.strides()[i] == 0 && shape[i] > 1) shape[i] = 1;
  return ops::reinterpret(x, x.dtype(), shape, x.strides(), x.offset());
}

/// New memory with the layout of x.
Tensor empty_like_layout(const Tensor& x) {
  std::int64_t elements = x.numel() == 0 ? 0 : 1;
  for (int i = 0; i < x.dim() && x.numel() != 0; ++i) elements += (x.shape()[i] - 1) * x.strides()[i];
  const Tensor memory = empty({elements}, x.dtype(), x.device());
  return ops::reinterpret(memory, x.dtype(), x.shape(), x.strides(), 0);
}

/// Whether a tensor's memory has a block of its own, which another block can replace.
bool is_exchangeable(const Tensor& x) {
  const Storage& storage = storage_of(x);
  return storage.block->pooled() && storage.base == 0 && x.numel() > 0;
}

void copy_elements(const Tensor& to, const Tensor& from) {
  if (to.numel() > 0) ops::copy_into(without_repeats(to), without_repeats(from));
}

}  // namespace

/// The captured work, how each call gets the memory of its inputs, and where its results are.
struct FunctionWork {
  struct Input {
    DType dtype;
    Shape shape, strides;
    std::int64_t offset;
    std::optional<std::size_t> first;      ///< The first input with the same memory, if it is an earlier one.
    std::optional<std::size_t> parameter;  ///< Set if the commands use the memory of a call. A first input has it.
    bool is_shared = false;                ///< Whether a call's memory can take the place of the captured one.
    bool is_part = false;                  ///< Whether other elements may be in this memory.
    Tensor copy;                           ///< If the memory is not shared, the commands use this copy.
    std::shared_ptr<const Storage> fixed;  ///< Set if kernels read a packed copy of this storage.
  };
  struct Output {
    DType dtype;
    Shape shape, strides;
    std::int64_t offset;
    std::optional<std::size_t> input, memory;  ///< The input or the new memory that the result is a view of.
    Tensor fixed;                              ///< Otherwise the result is this tensor.
  };
  /// New memory for results.
  struct Memory {
    std::size_t parameter;
    std::int64_t bytes;
  };

  std::unique_ptr<CapturedWork> work;
  Device device;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Memory> memories;
  std::vector<std::size_t> written;
  std::mutex mutex;

  std::vector<Tensor> own_inputs(const std::vector<Tensor>& given);
  std::vector<Tensor> capture(const CapturedFunction::Function& function, const std::vector<Tensor>& own,
                              const std::vector<std::size_t>& constants);
  void note_inputs(const std::vector<Tensor>& own, const std::vector<std::uint64_t>& versions);
  void note_outputs(const std::vector<Tensor>& own, const std::vector<Tensor>& results);
  void let_go(const std::vector<Tensor>& own, const std::vector<Tensor>& results);
  bool fits(const std::vector<Tensor>& given) const;
  Tensor part_of_input(const Output& output, const std::vector<Tensor>& given) const;
  std::vector<Tensor> call(const std::vector<Tensor>& given);
};

/// The tensors that the captured commands work with.
std::vector<Tensor> FunctionWork::own_inputs(const std::vector<Tensor>& given) {
  std::vector<Tensor> own;
  for (const Tensor& x : given) {
    Input input{x.dtype(), x.shape(), x.strides(), x.offset(), {}, {}, false, !graph::is_whole(x), {}, {}};
    const auto first = std::find_if(own.begin(), own.end(),
                                    [&](const Tensor& y) { return storage_of(x).block == storage_of(y).block; });
    // A part that begins elsewhere may begin at another place in the next call, as batches of a data set do.
    const auto place = static_cast<std::size_t>(first - own.begin());
    const bool is_other_part = first != own.end();
    input.is_shared = is_exchangeable(x) && (is_other_part ? inputs[place].is_shared : x.offset() == 0);
    if (input.is_shared && is_other_part) {
      input.first = place;
      input.is_part = inputs[place].is_part = true;
    }
    if (!input.is_shared) {
      input.copy = empty_like_layout(x);
      copy_elements(input.copy, x);
    }
    own.push_back(input.is_shared ? x : input.copy);
    inputs.push_back(std::move(input));
  }
  return own;
}

std::vector<Tensor> FunctionWork::capture(const CapturedFunction::Function& function, const std::vector<Tensor>& own,
                                          const std::vector<std::size_t>& constants) {
  std::vector<Tensor> results;
  const auto captured = [&] {
    const graph::Making making;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (std::find(constants.begin(), constants.end(), i) == constants.end())
        thread_context().submission.uses->varies(storage_of(own[i]));
    results = function(own);
  };
  const auto begin = [&] { work = std::make_unique<CapturedWork>(captured, device, runtime::FirstRun::in_replay); };
  if (constants.empty()) {
    const EnableGrad as_in_training;  // Then no packed copies are kept.
    begin();
  } else {
    const NoGrad no_grad;
    begin();
  }
  runtime::place_memory(*work->capturer);
  return results;
}

void FunctionWork::note_inputs(const std::vector<Tensor>& own, const std::vector<std::uint64_t>& versions) {
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Storage& storage = storage_of(own[i]);
    Input& input = inputs[i];
    if (storage.version.load() != versions[i]) {
      require(input.is_shared && !input.is_part, "capture", "input ", i,
              " is written, and it is a part of another tensor");
      written.push_back(i);
    }
    if (!input.is_shared) continue;
    if (work->uses.relies_on(storage)) input.fixed = own[i].impl()->storage;
    if (input.first) continue;
    input.parameter = runtime::add_parameter(*work->capturer, *storage.block);
    require(input.parameter || !runtime::uses(*work->capturer, *storage.block), "capture",
            "the work calls functions of the host");
  }
}

void FunctionWork::note_outputs(const std::vector<Tensor>& own, const std::vector<Tensor>& results) {
  std::vector<const Storage*> storages;
  for (const Tensor& y : results) {
    const Storage& storage = storage_of(y);
    Output output{y.dtype(), y.shape(), y.strides(), y.offset(), {}, {}, {}};
    if (y.numel() == 0) {
      output.fixed = y;
      outputs.push_back(std::move(output));
      continue;
    }
    const auto input =
        std::find_if(own.begin(), own.end(), [&](const Tensor& x) { return &storage_of(x) == &storage; });
    const auto memory = std::find(storages.begin(), storages.end(), &storage);
    if (input != own.end()) {
      output.input = static_cast<std::size_t>(input - own.begin());
    } else if (memory != storages.end()) {
      output.memory = static_cast<std::size_t>(memory - storages.begin());
    } else if (runtime::made_for(*work->capturer, *storage.block)) {
      require(storage.base == 0, "capture", "a result is a part of a larger memory");
      const auto parameter = runtime::add_parameter(*work->capturer, *storage.block);
      require(parameter.has_value(), "capture", "no command writes a result");
      output.memory = storages.size();
      storages.push_back(&storage);
      memories.push_back({*parameter, static_cast<std::int64_t>(storage.bytes)});
    } else {
      output.fixed = y;
    }
    outputs.push_back(std::move(output));
  }
}

/// Leaves the memory of the first call to the caller.
void FunctionWork::let_go(const std::vector<Tensor>& own, const std::vector<Tensor>& results) {
  for (std::size_t i = 0; i < own.size(); ++i)
    if (inputs[i].parameter) runtime::let_go(*work->capturer, *storage_of(own[i]).block);
  for (std::size_t i = 0; i < results.size(); ++i)
    if (outputs[i].memory) runtime::let_go(*work->capturer, *storage_of(results[i]).block);
}

bool FunctionWork::fits(const std::vector<Tensor>& given) const {
  if (given.size() != inputs.size()) return false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Tensor& x = given[i];
    const Input& input = inputs[i];
    if (x.dtype() != input.dtype || x.shape() != input.shape || x.strides() != input.strides || x.device() != device)
      return false;
    if (input.is_shared && (!is_exchangeable(x) || x.offset() != input.offset)) return false;
    if (input.first && storage_of(x).block != storage_of(given[*input.first]).block) return false;
    if (input.fixed && x.impl()->storage != input.fixed) return false;
  }
  return work->uses.holds();
}

/// A result that is a view of an input. The elements of an input that is copied are not the caller's, so they are
/// copied again, unless the result is the input.
Tensor FunctionWork::part_of_input(const Output& output, const std::vector<Tensor>& given) const {
  const Input& input = inputs[*output.input];
  const Tensor& x = given[*output.input];
  if (!input.copy.defined()) return ops::reinterpret(x, output.dtype, output.shape, output.strides, output.offset);
  if (output.dtype == input.dtype && output.shape == input.shape && output.strides == input.strides &&
      output.offset == input.copy.offset())
    return x;
  const Tensor part = ops::reinterpret(input.copy, output.dtype, output.shape, output.strides, output.offset);
  Tensor result = empty_like_layout(part);
  copy_elements(result, part);
  return result;
}

std::vector<Tensor> FunctionWork::call(const std::vector<Tensor>& given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Input& input = inputs[i];
    if (input.copy.defined()) copy_elements(input.copy, given[i]);
    if (input.parameter) runtime::set_parameter(*work->capturer, *input.parameter, *storage_of(given[i]).block);
  }
  std::vector<Tensor> new_memory, results;
  for (const Memory& memory : memories) {
    new_memory.push_back(empty({memory.bytes}, DType::u8, device));
    const runtime::Block& block = *storage_of(new_memory.back()).block;
    runtime::name_block(block, "compiled");
    runtime::set_parameter(*work->capturer, memory.parameter, block);
  }
  work->replay();
  for (const std::size_t i : written) given[i].impl()->storage->written();
  for (const Output& output : outputs) {
    if (output.input) {
      results.push_back(part_of_input(output, given));
    } else if (output.memory) {
      const Tensor& base = new_memory[*output.memory];
      results.push_back(ops::reinterpret(base, output.dtype, output.shape, output.strides, output.offset));
    } else {
      results.push_back(output.fixed);
    }
  }
  return results;
}

bool is_capturing() noexcept { return runtime::current_capturer() != nullptr; }

struct CapturedFunction::State : FunctionWork {};

CapturedFunction::CapturedFunction(const Function& function, const std::vector<Tensor>& inputs,
                                   const std::vector<std::size_t>& constants, std::vector<Tensor>& results)
    : state_(std::make_shared<State>()) {
  require(!inputs.empty(), "capture", "there are no inputs");
  State& state = *state_;
  state.device = inputs[0].device();
  const std::vector<Tensor> own = state.own_inputs(inputs);
  std::vector<std::uint64_t> versions(own.size());
  std::transform(own.begin(), own.end(), versions.begin(),
                 [](const Tensor& x) { return storage_of(x).version.load(); });
  results = state.capture(function, own, constants);
  state.note_inputs(own, versions);
  state.note_outputs(own, results);
  state.work->replay();
  state.let_go(own, results);
  for (std::size_t i = 0; i < results.size(); ++i)
    if (state.outputs[i].input) results[i] = state.part_of_input(state.outputs[i], inputs);
}

std::optional<std::vector<Tensor>> CapturedFunction::operator()(const std::vector<Tensor>& inputs) const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->fits(inputs)) return {};
  return state_->call(inputs);
}

const std::vector<std::size_t>& CapturedFunction::written() const noexcept { return state_->written; }
std::size_t CapturedFunction::size() const noexcept { return runtime::commands_of(*state_->work->capturer); }

}  // namespace crisol::detail
