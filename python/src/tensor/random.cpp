// Random tensors.
#include "arguments.h"

namespace crisol::python {

namespace {

using OptionalDevice = std::optional<Device>;
using OptionalGenerator = std::optional<Generator>;

Generator chosen(const OptionalGenerator& generator, const OptionalDevice& device) {
  if (generator) return *generator;
  return default_generator(device ? *device : Device());
}

/// The seed of PyTorch's generators.
constexpr std::uint64_t usual_seed = 67280421310721;

void bind_generator(nb::module_& m) {
  nb::class_<Generator>(m, "Generator", "A source of random numbers on one device: Philox 4x32-10.")
      .def(
          "__init__",
          [](Generator* self, const std::variant<std::uint64_t, Device>& seed, const OptionalDevice& device) {
            // PyTorch's first argument is the device.
            const Device* const first = std::get_if<Device>(&seed);
            new (self)
                Generator(first != nullptr ? usual_seed : std::get<std::uint64_t>(seed), first != nullptr ? *first
                                                                                         : device         ? *device
                                                                                                          : Device());
          },
          "seed"_a = usual_seed, "device"_a = nb::none())
      .def_prop_ro("device", &Generator::device, "The device of the generator.")
      .def("manual_seed", &Generator::manual_seed, "seed"_a, Unlocked(), "Restarts with another seed.")
      .def(
          "get_state",
          [](const Generator& self) {
            const GeneratorState state = self.state();
            return std::pair(state.seed, state.counter);
          },
          Unlocked(), "The state as (seed, counter). Waits.")
      .def(
          "set_state",
          [](Generator& self, const std::pair<std::uint64_t, std::uint64_t>& state) {
            self.set_state({state.first, state.second});
          },
          "state"_a, Unlocked(), "Continues from a state.");
  m.def(
      "default_generator", [](const OptionalDevice& device) { return chosen({}, device); }, "device"_a = nb::none(),
      Unlocked(), "This thread's generator on a device.");
  m.def("manual_seed", &manual_seed, "seed"_a, Unlocked(), "Seeds this thread's default generators on all devices.");
}

void bind_in_place(TensorClass& tensor) {
  tensor
      .def(
          "uniform_",
          [](Tensor& x, double low, double high, const OptionalGenerator& generator) -> Tensor& {
            return uniform_(x, low, high, chosen(generator, x.device()));
          },
          "low"_a = 0.0, "high"_a = 1.0, nb::kw_only(), "generator"_a = nb::none(), Unlocked(), itself,
          "Overwrites a tensor with uniform numbers in [low, high). Returns this tensor.")
      .def(
          "normal_",
          [](Tensor& x, double mean, double std, const OptionalGenerator& generator) -> Tensor& {
            return normal_(x, mean, std, chosen(generator, x.device()));
          },
          "mean"_a = 0.0, "std"_a = 1.0, nb::kw_only(), "generator"_a = nb::none(), Unlocked(), itself,
          "Overwrites a tensor with normal numbers. Returns this tensor.");
}

using Fill = Tensor& (*)(Tensor&, double, double, const Generator&);

/// Defines f(shape, *, dtype, device, generator) and f(*sizes, dtype, device, generator): a tensor that fill(x, 0, 1)
/// has filled. Without a dtype it is float32, because many functions of Python compute with these numbers.
void define(nb::module_& m, const char* name, Fill fill, const char* text) {
  const auto drawn = [fill](const Shape& shape, const std::optional<DType>& dtype, const OptionalDevice& device,
                            const OptionalGenerator& given) {
    const Generator generator = chosen(given, device);
    Tensor x = empty(shape, dtype.value_or(DType::f32), generator.device());
    return fill(x, 0, 1, generator);
  };
  const auto none = nb::none();
  m.def(name, drawn, "shape"_a, nb::kw_only(), "dtype"_a = none, "device"_a = none, "generator"_a = none, Unlocked(),
        text);
  const std::string signature = "def " + std::string(name) +
                                "(*sizes: int, dtype: dtype | None = None, device: device | None = None, generator: "
                                "Generator | None = None) -> Tensor";
  m.def(
      name,
      [drawn](const nb::args& sizes, const std::optional<DType>& dtype, const OptionalDevice& device,
              const OptionalGenerator& generator) {
        const Shape shape = shape_of_sizes(sizes);
        return unlocked([&] { return drawn(shape, dtype, device, generator); });
      },
      "sizes"_a, "dtype"_a = none, "device"_a = none, "generator"_a = none, nb::sig(signature.c_str()),
      "The same with the sizes as separate arguments.");
}

}  // namespace

void bind_random(nb::module_& m, TensorClass& tensor) {
  bind_generator(m);
  bind_in_place(tensor);
  const auto none = nb::none();
  define(m, "rand", &uniform_, "Uniform numbers in [0, 1), float32 unless a dtype is given.");
  define(m, "randn", &normal_, "Normal numbers with mean 0 and standard deviation 1, float32 unless a dtype is given.");
  m.def(
      "randint",
      [](std::int64_t low, std::int64_t high, const Shape& shape, DType dtype, const OptionalDevice& device,
         const OptionalGenerator& generator) { return randint(low, high, shape, chosen(generator, device), dtype); },
      "low"_a, "high"_a, "shape"_a, nb::kw_only(), "dtype"_a = DType::i64, "device"_a = none, "generator"_a = none,
      Unlocked(), "Whole numbers in [low, high), int64 or int32.");
  m.def(
      "randint",
      [](std::int64_t high, const Shape& shape, DType dtype, const OptionalDevice& device,
         const OptionalGenerator& generator) { return randint(0, high, shape, chosen(generator, device), dtype); },
      "high"_a, "shape"_a, nb::kw_only(), "dtype"_a = DType::i64, "device"_a = none, "generator"_a = none, Unlocked(),
      "Whole numbers in [0, high).");
  m.def(
      "bernoulli",
      [](double p, const Shape& shape, const OptionalDevice& device, const OptionalGenerator& generator) {
        return bernoulli(p, shape, chosen(generator, device));
      },
      "p"_a, "shape"_a, nb::kw_only(), "device"_a = none, "generator"_a = none, Unlocked(),
      "1 with probability p, else 0, of the default dtype.");
  m.def(
      "randperm",
      [](std::int64_t n, const OptionalDevice& device, const OptionalGenerator& generator) {
        return randperm(n, chosen(generator, device));
      },
      "n"_a, nb::kw_only(), "device"_a = none, "generator"_a = none, Unlocked(),
      "A random permutation of 0 … n-1, int64.");
  m.def(
      "multinomial",
      [](const Tensor& weights, std::int64_t num_samples, bool replacement, const OptionalGenerator& generator) {
        return multinomial(weights, num_samples, replacement, chosen(generator, weights.device()));
      },
      "weights"_a, "num_samples"_a, "replacement"_a = false, nb::kw_only(), "generator"_a = none, Unlocked(),
      "Draws categories from each row of weights (N, C), as int64 (N, num_samples). A row without a choice gives -1.");
  m.def(
      "sample_logits",
      [](const Tensor& logits, double temperature, std::int64_t top_k, const OptionalGenerator& generator) {
        return sample_logits(logits, temperature, top_k, chosen(generator, logits.device()));
      },
      "logits"_a, "temperature"_a = 1.0, "top_k"_a = 0, nb::kw_only(), "generator"_a = none, Unlocked(),
      "Draws one class from each row of logits (N, C), as int64 (N). temperature 0 takes the largest.");
}

}  // namespace crisol::python
