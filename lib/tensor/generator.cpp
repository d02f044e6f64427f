// Generators: their state, and the default generators of each thread.
#include "tensor/generator.h"

#include <array>
#include <atomic>
#include <map>
#include <optional>

#include "base/per_thread.h"
#include "runtime/capture/capture.h"
#include "runtime/memory/transfer.h"
#include "tensor/impl.h"

namespace crisol {

namespace {

struct ThreadGenerators {
  std::optional<std::uint64_t> seed;
  std::map<int, Generator> by_device;
};

// A seed that differs between threads, so that threads do not draw the same numbers.
std::uint64_t unseeded() {
  static std::atomic<std::uint64_t> threads{0};
  return 67280421310721u + threads.fetch_add(1);
}

}  // namespace

Generator::Generator(std::uint64_t seed, Device device) : impl_(std::make_shared<GeneratorImpl>(device)) {
  manual_seed(seed);
}

Device Generator::device() const { return impl_->state.device(); }

GeneratorState Generator::state() const {
  std::array<std::uint64_t, 2> words;
  impl_->state.read_bytes(words.data());
  return {words[0], words[1]};
}

void Generator::set_state(const GeneratorState& state) {
  const std::array<std::uint64_t, 2> words{state.seed, state.counter};
  const Storage& storage = *impl_->state.impl()->storage;
  const std::lock_guard lock(impl_->mutex);
  runtime::write(*storage.block, storage.base, words.data(), sizeof words);
}

Generator started_anew(std::uint64_t seed, Device device) {
  if (runtime::current_capturer() == nullptr) return Generator(seed, device);
  const Generator generator = [&] {
    const runtime::PauseCapture pause;  // Not captured, because the constructor copies values of the host.
    return Generator(seed, device);
  }();
  const std::array<std::uint64_t, 2> words{seed, 0};
  const Storage& storage = *generator.impl().state.impl()->storage;
  for (std::size_t i = 0; i < words.size(); ++i)
    runtime::fill(*storage.block, storage.base + i * sizeof words[i], sizeof words[i], &words[i], sizeof words[i]);
  return generator;
}

Generator& default_generator(Device device) {
  ThreadGenerators& generators = per_thread<ThreadGenerators>();
  const auto found = generators.by_device.find(device.index());
  if (found != generators.by_device.end()) return found->second;
  if (!generators.seed) generators.seed = unseeded();
  return generators.by_device.emplace(device.index(), Generator(*generators.seed, device)).first->second;
}

void manual_seed(std::uint64_t seed) {
  ThreadGenerators& generators = per_thread<ThreadGenerators>();
  generators.seed = seed;
  for (auto& [index, generator] : generators.by_device) generator.manual_seed(seed);
}

}  // namespace crisol
