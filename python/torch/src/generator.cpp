#include "generator.h"

#include <ATen/ATen.h>
#include <c10/core/GeneratorImpl.h>

#include <cstring>
#include <mutex>
#include <vector>

#include "call.h"
#include "device.h"
#include "memory.h"

namespace crisol_torch {

namespace {

// The state is the seed and the counter of blocks, 8 bytes each, as in PyTorch's generator for CUDA.
class Generator final : public c10::GeneratorImpl {
 public:
  Generator(int device, std::uint64_t seed)
      : c10::GeneratorImpl(torch_device(device), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        generator_(seed, device_at(device)) {}

  const crisol::Generator& generator() const noexcept { return generator_; }

  void set_current_seed(std::uint64_t seed) override { generator_.manual_seed(seed); }
  void set_offset(std::uint64_t offset) override { generator_.set_state({current_seed(), offset}); }
  std::uint64_t get_offset() const override { return generator_.state().counter; }
  std::uint64_t current_seed() const override { return generator_.state().seed; }
  std::uint64_t seed() override {
    const std::uint64_t random = c10::detail::getNonDeterministicRandom(true);
    set_current_seed(random);
    return random;
  }
  void set_state(const c10::TensorImpl& state) override {
    TORCH_CHECK(state.numel() == bytes && state.dtype() == caffe2::TypeMeta::Make<std::uint8_t>() &&
                    state.device().is_cpu() && state.is_contiguous(),
                "RNG state of a crisol generator must be a contiguous CPU tensor of ", bytes, " bytes");
    crisol::GeneratorState words;
    std::memcpy(&words, state.data(), bytes);
    generator_.set_state(words);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    const at::Tensor state = at::empty({bytes}, at::TensorOptions(at::kByte).device(at::kCPU));
    const crisol::GeneratorState words = generator_.state();
    std::memcpy(state.mutable_data_ptr(), &words, bytes);
    return state.getIntrusivePtr();
  }

 private:
  Generator* clone_impl() const override {
    auto* const copy = new Generator(device().index(), 0);
    copy->generator_.set_state(generator_.state());
    return copy;
  }

  static constexpr std::int64_t bytes = sizeof(crisol::GeneratorState);
  crisol::Generator generator_;
};

}  // namespace

at::Generator make_generator(int device) { return at::make_generator<Generator>(device, c10::default_rng_seed_val); }

const at::Generator& default_generator(int device) {
  static std::mutex mutex;
  // The generators hold device memory. They live until the process ends, because statics end after the device.
  static std::vector<at::Generator>& generators = *new std::vector<at::Generator>;
  device_at(device);
  const std::lock_guard lock(mutex);
  if (generators.empty()) generators.resize(static_cast<std::size_t>(device_count()));
  at::Generator& generator = generators[static_cast<std::size_t>(device)];
  if (!generator.defined()) generator = make_generator(device);
  return generator;
}

crisol::Generator generator_of(const std::optional<at::Generator>& given, crisol::Device device) {
  const at::Generator& generator = given.has_value() && given->defined() ? *given : default_generator(index_of(device));
  TORCH_CHECK(generator.device().type() == at::kPrivateUse1,
              "Expected a 'crisol' device type for generator but found '", generator.device(), "'");
  return static_cast<const Generator*>(generator.unsafeGetGeneratorImpl())->generator();
}

}  // namespace crisol_torch
