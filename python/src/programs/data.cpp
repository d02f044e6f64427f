// The DataLoader, and data sets that are Python objects.
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>

#include "arguments.h"
#include "callback.h"
#include "collector.h"
#include "crisol/dtype_table.h"
#include "option_casters.h"
#include "programs/data.h"
#include "programs/topics.h"

namespace crisol::python {

namespace {

using io::DataLoader;

/// Turns a sample of a Python object into arrays of NumPy, one for each field.
std::vector<nb::object> arrays_of(nb::handle sample) {
  const nb::object asarray = nb::module_::import_("numpy").attr("asarray");
  std::vector<nb::object> arrays;
  const auto add = [&](nb::handle field) {
    nb::object array = asarray(nb::isinstance<Tensor>(field) ? field.attr("numpy")() : nb::borrow(field));
    if (PyFloat_Check(field.ptr()))
      array = array.attr("astype")(name_in_python(promote_types(DType::f32, default_dtype())));
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
  std::string allowed;
  for (const DType dtype : all_dtypes) {
    if (name == name_in_python(dtype)) return {nb::cast<Shape>(array.attr("shape")), dtype};
    allowed += (allowed.empty() ? "" : dtype == all_dtypes.back() ? " and " : ", ") + name_in_python(dtype);
  }
  throw nb::type_error(("[DataLoader] a sample has elements of the type " + name + ", allowed are " + allowed).c_str());
}

/// The samples object[0], object[1], …, each a tuple of arrays and numbers. The first sample determines the fields. The
/// Python objects of a loader and of its loops keep the object alive.
class PythonDataset : public io::Dataset {
 public:
  explicit PythonDataset(nb::handle object) : object_(object), size_(static_cast<std::int64_t>(nb::len(object))) {
    for (const nb::object& array : arrays_of(object[nb::int_(0)])) fields_.push_back(field_of(array));
  }
  std::int64_t size() const override { return size_; }
  std::vector<io::Field> fields() const override { return fields_; }
  void read(std::int64_t index, const io::Sample& sample) const override {
    with_python([&] { copy(index, arrays_of(nb::borrow(object_)[nb::int_(index)]), sample); });
  }

 private:
  void copy(std::int64_t index, const std::vector<nb::object>& arrays, const io::Sample& sample) const {
    if (arrays.size() != fields_.size()) refuse(index, "has " + std::to_string(arrays.size()) + " fields");
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const io::Field field = field_of(arrays[i]);
      if (field.shape != fields_[i].shape || field.dtype != fields_[i].dtype)
        refuse(index, "has a field of shape " + to_string(field.shape) + " and type " + name_in_python(field.dtype));
      const nb::object bytes = arrays[i].attr("tobytes")();
      std::memcpy(sample.bytes(static_cast<int>(i)), PyBytes_AsString(bytes.ptr()),
                  static_cast<std::size_t>(PyBytes_Size(bytes.ptr())));
    }
  }
  [[noreturn]] static void refuse(std::int64_t index, const std::string& text) {
    raise("InvalidArgumentError", "[DataLoader] sample " + std::to_string(index) + " " + text +
                                      ", unlike sample 0; a collate_fn makes batches of such samples");
  }

  const nb::handle object_;
  std::int64_t size_;
  std::vector<io::Field> fields_;
};

/// A data set without elements: the library only orders the numbers of the samples.
class Numbers : public io::Dataset {
 public:
  explicit Numbers(std::int64_t size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  std::vector<io::Field> fields() const override { return {{{}, DType::u8}}; }
  void read(std::int64_t, const io::Sample& sample) const override { *sample.data<std::uint8_t>(0) = 0; }

 private:
  const std::int64_t size_;
};

/// An order of samples from a Python object, by order(epoch) or by its next iterator. The library may ask several times
/// for the same epoch.
class PythonSampler : public io::Sampler {
 public:
  explicit PythonSampler(nb::handle object) : object_(object), size_(static_cast<std::int64_t>(nb::len(object))) {}
  std::int64_t size() const override { return size_; }
  std::vector<std::int64_t> order(std::int64_t epoch) const override {
    return with_python([&] {
      const auto found = orders_.find(epoch);
      if (found != orders_.end()) return found->second;
      const nb::object object = nb::borrow(object_);
      const nb::object drawn = nb::hasattr(object, "order") ? object.attr("order")(epoch) : object;
      std::vector<std::int64_t> order;
      for (const nb::handle index : drawn) order.push_back(nb::cast<std::int64_t>(index));
      if (orders_.size() == kept) orders_.erase(orders_.begin());
      orders_.emplace(epoch, order);
      return order;
    });
  }

 private:
  static constexpr std::size_t kept = 4;  ///< Epochs that are in use: by loops that run at the same time, and by the
                                          /// next loop.
  const nb::handle object_;
  const std::int64_t size_;
  mutable std::map<std::int64_t, std::vector<std::int64_t>> orders_;  ///< Guarded by the interpreter's lock.
};

/// A PythonSampler that also keeps its object alive.
class OwningSampler : public PythonSampler {
 public:
  explicit OwningSampler(nb::handle object) : PythonSampler(object), kept_(object) {}

 private:
  Kept kept_;
};

/// Reads a data set. A data set of the library keeps itself alive.
io::SharedDataset dataset_of(nb::handle object) {
  if (nb::isinstance<io::Dataset>(object)) return nb::cast<std::shared_ptr<io::Dataset>>(object);
  if (PyLong_Check(object.ptr())) return Numbers(nb::cast<std::int64_t>(object));
  return std::shared_ptr<const io::Dataset>(std::make_shared<PythonDataset>(object));
}

/// A DataLoader, and the Python objects that it uses.
class Loader {
 public:
  Loader(nb::object dataset, io::DataLoaderOptions options, nb::object sampler, Device device)
      : dataset_(std::move(dataset)), sampler_(std::move(sampler)), batch_size_(options.batch_size) {
    if (nb::isinstance<io::Sampler>(sampler_))
      options.sampler = nb::cast<std::shared_ptr<io::Sampler>>(sampler_);
    else if (!sampler_.is_none())
      options.sampler = std::make_shared<PythonSampler>(sampler_);
    const io::SharedDataset shared = dataset_of(dataset_);
    loader_ = std::make_unique<DataLoader>(shared, options, device);
    if (!numbers()) return;
    order_ = options.sampler;
    if (order_ == nullptr && options.shuffle)
      order_ = std::make_shared<io::RandomSampler>(shared->size(), options.seed);
    else if (order_ == nullptr)
      order_ = std::make_shared<io::SequentialSampler>(shared->size());
  }

  DataLoader& get() const {
    if (loader_ == nullptr) throw nb::value_error("[DataLoader] the loader is closed");
    return *loader_;
  }
  /// Whether the loader only gives numbers of samples.
  bool numbers() const { return PyLong_Check(dataset_.ptr()); }
  /// The numbers of a batch's samples.
  nb::list numbers_of(const io::DataPosition& position) const {
    const std::vector<std::int64_t> order = order_->order(position.epoch);
    const auto size = static_cast<std::int64_t>(order.size()), first = position.batch * batch_size_;
    nb::list numbers;
    for (std::int64_t i = first; i < std::min(first + batch_size_, size); ++i)
      numbers.append(order[static_cast<std::size_t>(i)]);
    return numbers;
  }
  std::vector<PyObject*> references() const { return {dataset_.ptr(), sampler_.ptr()}; }
  void forget() {
    loader_.reset();
    dataset_.reset();
    sampler_.reset();
  }
  nb::object dataset() const { return dataset_; }

 private:
  nb::object dataset_, sampler_;
  std::int64_t batch_size_;
  std::shared_ptr<const io::Sampler> order_;
  std::unique_ptr<DataLoader> loader_;
};

/// One loop over the batches of an epoch. Its threads use the data set, so the loop also keeps the data set alive.
class Loop {
 public:
  explicit Loop(nb::object owner)
      : owner_(std::move(owner)), loader_(nb::cast<Loader&>(owner_)), dataset_(loader_.dataset()) {
    DataLoader& loader = loader_.get();
    unlocked([&] {
      try {
        at_.emplace(loader.begin());
      } catch (...) {
        error_ = std::current_exception();
      }
    });
  }
  ~Loop() { close(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// The tensors of the next batch, or the numbers of its samples. None after the last batch.
  nb::object next() {
    if (error_ != nullptr) std::rethrow_exception(error_);
    if (!at_) throw nb::value_error("[DataLoader] the loader is closed");
    const bool more = unlocked([&] {
      if (begun_) ++*at_;
      begun_ = true;
      return *at_ != DataLoader::End();
    });
    if (!more) return nb::none();
    return loader_.numbers() ? nb::object(loader_.numbers_of(at_->position())) : nb::cast((*at_)->tensors);
  }
  /// Ends the threads.
  void close() {
    const nb::gil_scoped_release free;
    at_.reset();
  }
  std::vector<PyObject*> references() const { return {owner_.ptr(), dataset_.ptr()}; }
  void forget() {
    close();
    dataset_.reset();
    owner_.reset();
  }

 private:
  nb::object owner_;
  Loader& loader_;
  nb::object dataset_;
  std::optional<DataLoader::Iterator> at_;
  std::exception_ptr error_;  ///< An error of the first batch.
  bool begun_ = false;
};

}  // namespace

std::shared_ptr<const io::Sampler> sampler_of(nb::handle object) {
  if (nb::isinstance<io::Sampler>(object)) return nb::cast<std::shared_ptr<io::Sampler>>(object);
  return std::make_shared<OwningSampler>(object);
}

void bind_data(nb::module_& extension) {
  nb::module_ m = extension.def_submodule("_data", "Data sets and loaders.");
  bind_datasets(m);
  nb::class_<Loader>(m, "DataLoader", nb::type_slots(reference_slots<Loader>))
      .def(
          "__init__",
          [](Loader* self, const nb::object& dataset, std::int64_t batch_size, bool shuffle, bool drop_last,
             std::uint64_t seed, int threads, const nb::object& sampler, const std::optional<Device>& device) {
            const io::DataLoaderOptions options{batch_size, shuffle, drop_last, seed, threads, nullptr};
            new (self) Loader(dataset, options, sampler, or_default(device));
          },
          "dataset"_a, "batch_size"_a, "shuffle"_a, "drop_last"_a, "seed"_a, "threads"_a, "sampler"_a.none(),
          "device"_a.none())
      .def("batches", [](const Loader& self) { return self.get().batches(); })
      .def("numbers", &Loader::numbers)
      .def("position",
           [](const Loader& self) {
             const io::DataPosition position = self.get().position();
             return std::make_pair(position.epoch, position.batch);
           })
      .def(
          "state_dict", [](const Loader& self) { return self.get().state_dict(); }, Unlocked())
      .def(
          "load_state_dict", [](Loader& self, const NamedTensors& state) { self.get().load_state_dict(state); },
          Unlocked());
  nb::class_<Loop>(m, "Loop", nb::is_weak_referenceable(), nb::type_slots(reference_slots<Loop>))
      .def("__init__", [](Loop* self, nb::handle_t<Loader> loader) { new (self) Loop(nb::borrow(loader)); })
      .def("next", &Loop::next)
      .def("close", &Loop::close);
}

}  // namespace crisol::python
