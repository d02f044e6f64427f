// The DataLoader, and data sets that are Python objects.
#include <nanobind/stl/shared_ptr.h>

#include <cstring>
#include <memory>
#include <mutex>

#include "arguments.h"
#include "callback.h"
#include "option_casters.h"
#include "programs/data.h"
#include "programs/topics.h"

namespace crisol::python {

namespace {

using io::DataLoader;

/// A sample of a Python object as arrays of NumPy: one for each field.
std::vector<nb::object> arrays_of(nb::handle sample) {
  const nb::object asarray = nb::module_::import_("numpy").attr("asarray");
  std::vector<nb::object> arrays;
  const auto add = [&](nb::handle field) {
    nb::object array = asarray(nb::isinstance<Tensor>(field) ? field.attr("numpy")() : nb::borrow(field));
    if (nb::cast<std::string>(array.attr("dtype").attr("name")) == "float64")
      array = array.attr("astype")("float32");  // The library has no float64.
    if (PyLong_Check(field.ptr()) && !PyBool_Check(field.ptr())) array = array.attr("astype")("int64");
    arrays.push_back(array);
  };
  if (nb::isinstance<nb::tuple>(sample) || nb::isinstance<nb::list>(sample))
    for (const nb::handle field : sample) add(field);
  else
    add(sample);
  return arrays;
}

io::Field field_of(nb::handle array) {
  const std::string name = nb::cast<std::string>(array.attr("dtype").attr("name"));
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean})
    if (name == name_in_python(dtype)) return {nb::cast<Shape>(array.attr("shape")), dtype};
  throw nb::type_error(("[DataLoader] a sample has elements of the type " + name +
                        ", allowed are float64, float32, float16, int64, int32, uint8 and bool")
                           .c_str());
}

/// The samples object[0], object[1], …, each a tuple of arrays and numbers. The first one gives the fields.
class PythonDataset : public io::Dataset {
 public:
  explicit PythonDataset(nb::handle object) : object_(object), size_(static_cast<std::int64_t>(nb::len(object))) {
    if (size_ == 0) throw nb::value_error("[DataLoader] the data set is empty");
    for (const nb::object& array : arrays_of(object[nb::int_(0)])) fields_.push_back(field_of(array));
  }
  std::int64_t size() const override { return size_; }
  std::vector<io::Field> fields() const override { return fields_; }
  void read(std::int64_t index, const io::Sample& sample) const override {
    with_python([&] { copy(index, arrays_of(object_.get()[nb::int_(index)]), sample); });
  }

 private:
  void copy(std::int64_t index, const std::vector<nb::object>& arrays, const io::Sample& sample) const {
    if (arrays.size() != fields_.size()) refuse(index, "has " + std::to_string(arrays.size()) + " fields");
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const io::Field field = field_of(arrays[i]);
      if (field.shape != fields_[i].shape || field.dtype != fields_[i].dtype)
        refuse(index, "has a field of shape " + to_string(field.shape) + " and type " + name_of(field.dtype));
      const nb::object bytes = arrays[i].attr("tobytes")();
      std::memcpy(sample.bytes(static_cast<int>(i)), PyBytes_AsString(bytes.ptr()),
                  static_cast<std::size_t>(PyBytes_Size(bytes.ptr())));
    }
  }
  [[noreturn]] static void refuse(std::int64_t index, const std::string& text) {
    raise("InvalidArgumentError", "[DataLoader] sample " + std::to_string(index) + " " + text + ", unlike sample 0");
  }

  Kept object_;
  std::int64_t size_;
  std::vector<io::Field> fields_;
};

/// An order of samples that a Python object gives: a new one for each epoch.
class PythonSampler : public io::Sampler {
 public:
  explicit PythonSampler(nb::handle object) : object_(object), size_(static_cast<std::int64_t>(nb::len(object))) {}
  std::int64_t size() const override { return size_; }
  std::vector<std::int64_t> order(std::int64_t epoch) const override {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (epoch != epoch_) {
      order_ = with_python([&] {
        std::vector<std::int64_t> indices;
        for (const nb::handle index : object_.get()) indices.push_back(nb::cast<std::int64_t>(index));
        return indices;
      });
      epoch_ = epoch;
    }
    return order_;
  }

 private:
  Kept object_;
  std::int64_t size_;
  mutable std::mutex mutex_;
  mutable std::int64_t epoch_ = -1;  ///< The epoch of `order_`. The library asks several times for one epoch.
  mutable std::vector<std::int64_t> order_;
};

/// A DataLoader whose threads may need the lock of the interpreter while it is destroyed.
class Loader {
 public:
  Loader(const io::SharedDataset& dataset, const io::DataLoaderOptions& options, Device device)
      : loader_(std::make_unique<DataLoader>(dataset, options, device)) {}
  ~Loader() { close(); }

  DataLoader& get() const {
    if (loader_ == nullptr) throw nb::value_error("[DataLoader] the loader is closed");
    return *loader_;
  }
  void close() {
    const nb::gil_scoped_release free;
    loader_.reset();
  }

 private:
  std::unique_ptr<DataLoader> loader_;
};

/// One loop over the batches of an epoch.
class Loop {
 public:
  explicit Loop(Loader& loader) : loader_(loader) {}

  /// The tensors of the next batch, or None after the last one.
  nb::object next() {
    DataLoader& loader = loader_.get();
    const bool more = unlocked([&] {
      if (at_)
        ++*at_;
      else
        at_.emplace(loader.begin());
      return *at_ != loader.end();
    });
    return more ? nb::cast((*at_)->tensors) : nb::none();
  }

 private:
  Loader& loader_;
  std::optional<DataLoader::Iterator> at_;
};

}  // namespace

io::SharedDataset dataset_of(nb::handle object) {
  if (nb::isinstance<io::Dataset>(object)) return nb::cast<std::shared_ptr<io::Dataset>>(object);
  if (!nb::hasattr(object, "__getitem__") || !nb::hasattr(object, "__len__"))
    throw nb::type_error("a data set has __len__() and __getitem__()");
  return std::shared_ptr<const io::Dataset>(std::make_shared<PythonDataset>(object));
}

void bind_data(nb::module_& extension) {
  nb::module_ m = extension.def_submodule("_data", "Data sets and loaders.");
  bind_datasets(m);
  nb::class_<Loader>(m, "Loader", nb::is_weak_referenceable())
      .def(
          "__init__",
          [](Loader* self, nb::handle dataset, std::int64_t batch_size, bool shuffle, bool drop_last,
             std::uint64_t seed, int threads, const nb::object& sampler, const std::optional<Device>& device) {
            io::DataLoaderOptions options{batch_size, shuffle, drop_last, seed, threads, nullptr};
            if (nb::isinstance<io::Sampler>(sampler))
              options.sampler = nb::cast<std::shared_ptr<io::Sampler>>(sampler);
            else if (!sampler.is_none())
              options.sampler = std::make_shared<PythonSampler>(sampler);
            new (self) Loader(dataset_of(dataset), options, or_default(device));
          },
          "dataset"_a, "batch_size"_a, "shuffle"_a, "drop_last"_a, "seed"_a, "threads"_a, "sampler"_a.none(),
          "device"_a.none())
      .def("batches", [](const Loader& self) { return self.get().batches(); })
      .def("samples", [](const Loader& self) { return self.get().dataset().size(); })
      .def("position",
           [](const Loader& self) {
             const io::DataPosition position = self.get().position();
             return std::make_pair(position.epoch, position.batch);
           })
      .def(
          "state_dict", [](const Loader& self) { return self.get().state_dict(); }, Unlocked())
      .def(
          "load_state_dict", [](Loader& self, const NamedTensors& state) { self.get().load_state_dict(state); },
          Unlocked())
      .def("close", &Loader::close);
  nb::class_<Loop>(m, "Loop").def(nb::init<Loader&>(), nb::keep_alive<1, 2>()).def("next", &Loop::next);
}

}  // namespace crisol::python
