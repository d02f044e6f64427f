#include "graph/program.h"

#include <algorithm>

#include "autograd/call.h"
#include "base/thread_context.h"
#include "crisol/error.h"
#include "crisol/grad_mode.h"
#include "graph/making.h"
#include "graph/passes/passes.h"
#include "graph/spec.h"
#include "graph/specialise.h"
#include "graph/states.h"
#include "graph/walk.h"
#include "runtime/capture/capture.h"
#include "runtime/memory/stored_block.h"
#include "runtime/program/idle_programs.h"
#include "tensor/capture_planned.h"
#include "tensor/impl.h"
#include "tensor/trace.h"

namespace crisol::graph {

namespace {

constexpr std::size_t max_programs = 8;  // Each program keeps the memory of one run.
constexpr std::size_t max_refused = 4;   // Finding out that there is no program takes as long as a run.

Data data_of(const std::vector<Tensor>& tensors) { return {tensors.begin(), tensors.end()}; }

/// Releases the memory of the pool, and of the OpenCL programs that the work so far needed.
void release_unused_memory(Device device, runtime::LoadedPrograms& programs) {
  device.synchronize();  // rusticl (Mesa 22.3) does not keep a released buffer alive for queued kernels.
  device.release_cached_memory();
  programs.release();
}

}  // namespace

std::optional<Graph> optimise(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device,
                              PassChanges* changes) {
  const runtime::BorrowedBlocks borrowed;  // Passes read weights to compute other weights.
  std::size_t folded = 0;
  std::optional<Graph> fixed = specialise(graph, inputs, weights, device, &folded);
  if (!fixed) return {};
  if (checks_graphs) check_graph(*fixed, folding);
  if (changes != nullptr && is_enabled(folding)) changes->emplace_back(folding, folded);
  for (const Pass& pass : all_passes()) {
    if (!is_enabled(pass.name)) continue;
    const std::size_t count = pass.apply(*fixed, device);
    if (checks_graphs) check_graph(*fixed, pass.name);
    if (changes != nullptr) changes->emplace_back(pass.name, count);
  }
  write_states_in_place(*fixed);
  return fixed;
}

Program::Program(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device, Runs runs)
    : device_(device), states_(graph.states) {
  const NoGrad no_grad;
  for (const Tensor& weight : weights) weights_.push_back(weight_of(weight));
  for (const Tensor& state : states_) places_.push_back(weight_of(state));
  for (const Datum& input : inputs)
    inputs_.push_back(input.on_host() ? input : Datum(input.tensor(device).detach().clone()));
  runtime::LoadedPrograms programs(device.state());
  std::optional<Graph> fixed = optimise(graph, with_states(inputs_, states_), weights, device);
  if (!fixed) return;
  // The passes computed new weights. The pool still holds the memory of the old weights.
  release_unused_memory(device, programs);
  try {
    capture_run(*fixed, runs);
    release_unused_memory(device, programs);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    captured_.reset();
    return;
  }
  if (!is_enabled(capturing)) {
    captured_.reset();
    graph_ = std::move(fixed);
  }
}

void Program::capture_run(Graph& graph, Runs runs) {
  const Making making;
  runtime::BorrowedBlocks borrowed;
  // A weight that kernels read in another layout is released as soon as this layout is made.
  std::vector<std::pair<int, Datum>> constants;
  if (is_enabled(capturing)) constants.swap(graph.constants);
  const std::size_t packed_before = thread_context().program.packed_reads;
  runtime::Capturer* commands = nullptr;
  std::vector<std::uint64_t> versions;
  captured_ = capture_planned(
      [&] {
        commands = runtime::current_capturer();
        // Each run writes the inputs, so copies of them in other layouts must be made in each run.
        for (const Datum& input : inputs_)
          if (!input.on_host()) input.tensor(device_).impl()->storage->written();
        for (const Tensor& state : states_) state.impl()->storage->written();
        versions = versions_of(inputs_, device_);
        outputs_ = walk(graph, with_states(inputs_, states_), {}, device_, std::move(constants),
                        [&](const Node&, const Data&, const std::function<Data()>& compute) {
                          Data results = compute();
                          borrowed.give_back_unused();
                          return results;
                        });
        update_states(states_, outputs_, device_);
      },
      device_);
  packed_ = thread_context().program.packed_reads - packed_before;
  borrowed_ = borrowed.take();
  memory_.emplace(*commands, device_, inputs_, versions, outputs_);
  new_code_ = runtime::new_code_in(*commands);
  if (runs == Runs::at_once || new_code_ > 0) captured_->replay();
}

bool Program::fits_inputs(const Data& inputs) const {
  return std::equal(inputs.begin(), inputs.end(), inputs_.begin(), inputs_.end(), are_alike);
}

Program::Weight Program::weight_of(const Tensor& x) {
  const std::shared_ptr<Storage>& storage = x.impl()->storage;
  return {storage, storage->version.load(), storage->moves};
}

bool Program::fits_weights(const std::vector<Tensor>& weights) const {
  const auto is_there = [](const Tensor& x, const Weight& then) {
    const Storage& storage = *x.impl()->storage;
    return &storage == then.storage.get() && storage.moves == then.moves;
  };
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (!is_there(weights[i], weights_[i]) || weights[i].impl()->storage->version.load() != weights_[i].version)
      return false;
  return std::equal(states_.begin(), states_.end(), places_.begin(), is_there);
}

Data Program::run(const Data& inputs, const OutputMemory& memory) {
  const NoGrad no_grad;
  const std::lock_guard lock(mutex_);
  // Without a capture, a result may be a constant or an input.
  if (!captured_) {
    Data outputs = graph::run(*graph_, with_states(inputs, states_), {}, device_);
    update_states(states_, outputs, device_);
    return copies_of(std::move(outputs), device_);
  }
  memory_->set_inputs(inputs, inputs_);
  Data results = memory_->new_outputs(outputs_, memory);
  captured_->replay();
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!results[i].defined()) results[i] = copies_of({outputs_[i]}, device_).front();
  return results;
}

Data Program::outputs() const {
  Data results;
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    results.push_back(captured_ && memory_->takes_output(i) ? outputs_[i] : copies_of({outputs_[i]}, device_).front());
  return results;
}

namespace {

bool needs_nodes(const std::vector<Tensor>& inputs, const std::vector<Tensor>& weights) {
  return autograd::observed(inputs) || autograd::observed(weights) || runtime::current_capturer() != nullptr;
}

}  // namespace

Data Programs::known(const std::vector<Tensor>& inputs) {
  return by_numbers_ ? numbers_.read(inputs) : data_of(inputs);
}

std::optional<Graph> Programs::graph_of(const Graph& graph, const std::vector<Tensor>& inputs,
                                        const std::vector<Tensor>& weights, Device device, PassChanges* changes) {
  if (!run(graph, inputs, weights, device)) return {};
  const NoGrad no_grad;
  std::unique_lock lock(mutex_);
  const Data data = known(inputs);
  const std::shared_ptr<Program> program = find(data, weights);
  lock.unlock();
  std::optional<Graph> fixed = optimise(graph, data, weights, device, changes);
  if (changes == nullptr || !fixed || !program) return fixed;
  if (is_enabled(packing)) changes->emplace_back(packing, program->packed());
  if (is_enabled(capturing)) changes->emplace_back(capturing, fixed->nodes.size());
  return fixed;
}

std::optional<Data> Programs::run(const Graph& graph, const std::vector<Tensor>& inputs,
                                  const std::vector<Tensor>& weights, Device device, const OutputMemory& memory) {
  if (needs_nodes(inputs, weights) || autograd::observed(graph.states)) return {};
  std::unique_lock lock(mutex_);
  if (!has_programs_) return {};
  const Data data = known(inputs);
  if (const std::shared_ptr<Program> program = find(data, weights)) {
    lock.unlock();
    return program->run(data, memory);
  }
  Layouts layouts;
  for (const Tensor& input : inputs) layouts.emplace_back(input.dtype(), input.shape());
  if (is_refused(layouts) || (by_numbers_ && !numbers_.admit(data))) return {};
  const std::shared_ptr<Program> program = make(graph, inputs, weights, device);
  if (!program) {
    refuse(std::move(layouts));
    return {};
  }
  ++made_;
  if (programs_.size() == max_programs) programs_.pop_back();
  programs_.insert(programs_.begin(), program);
  return program->outputs();
}

std::size_t Programs::prepare(const Graph& graph, const std::vector<Tensor>& inputs, const std::vector<Tensor>& weights,
                              Device device) {
  if (needs_nodes(inputs, weights) || !graph.states.empty()) return 0;  // A run would write the states.
  std::unique_lock lock(mutex_);
  if (!has_programs_) return 0;
  const Data data = known(inputs);
  lock.unlock();
  return Program(graph, data, weights, device, Program::Runs::for_new_code).new_code();
}

std::shared_ptr<Program> Programs::make(const Graph& graph, const std::vector<Tensor>& inputs,
                                        const std::vector<Tensor>& weights, Device device) {
  const auto made_for = [&](const Data& data) {
    auto program = std::make_shared<Program>(graph, data, weights, device);
    return program->can_run() ? program : nullptr;
  };
  if (auto program = made_for(known(inputs))) return program;
  if (by_numbers_) return nullptr;
  const Data data = numbers_.read(inputs);
  if (!has_numbers(data) || !numbers_.admit(data)) return nullptr;
  auto program = made_for(data);
  by_numbers_ = program != nullptr;
  return program;
}

bool Programs::is_refused(const Layouts& layouts) const {
  return std::find(refused_.begin(), refused_.end(), layouts) != refused_.end();
}

void Programs::refuse(Layouts layouts) {
  refused_.push_back(std::move(layouts));
  if (refused_.size() <= max_refused) return;
  has_programs_ = !programs_.empty();
  refused_.erase(refused_.begin());
}

std::shared_ptr<Program> Programs::find(const Data& inputs, const std::vector<Tensor>& weights) {
  const auto at = std::find_if(programs_.begin(), programs_.end(), [&](const auto& program) {
    return program->fits_inputs(inputs) && program->fits_weights(weights);
  });
  if (at == programs_.end()) {
    // Programs for other values of the weights will not be used again.
    std::erase_if(programs_, [&](const auto& old) { return !old->fits_weights(weights); });
    return nullptr;
  }
  std::rotate(programs_.begin(), at, at + 1);
  return programs_.front();
}

}  // namespace crisol::graph
