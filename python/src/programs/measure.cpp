// Timelines, times of kernels, and the precision of products.
#include <nanobind/stl/filesystem.h>

#include <array>
#include <sstream>

#include "arguments.h"
#include "programs/topics.h"

namespace crisol::python {

namespace {

constexpr std::array<Precision, 4> precisions{Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16};

Precision precision_of(const std::string& name) {
  for (const Precision p : precisions)
    if (name == name_of(p)) return p;
  throw nb::value_error(("the precision is \"fp32\", \"tf32\", \"fp16\" or \"bf16\", not \"" + name + "\"").c_str());
}

/// A part of a program that runs with another precision.
class PrecisionScope {
 public:
  explicit PrecisionScope(const std::string& name) : precision_(precision_of(name)) {}
  void enter() { scope_.emplace(precision_); }
  void leave() { scope_.reset(); }

 private:
  Precision precision_;
  std::optional<WithPrecision> scope_;
};

/// Measures kernels while a with statement runs.
class Measured {
 public:
  explicit Measured(const std::optional<Device>& device) : device_(device) {}
  void enter() { profile_.emplace(or_default(device_)); }
  void leave() {
    rows_ = profile_->rows();
    std::ostringstream text;
    text << *profile_;
    text_ = text.str();
    profile_.reset();
  }
  const std::vector<ProfileRow>& rows() const { return rows_; }
  const std::string& text() const { return text_; }

 private:
  std::optional<Device> device_;
  std::optional<Profile> profile_;
  std::vector<ProfileRow> rows_;
  std::string text_;
};

/// A named part of a timeline.
class Part {
 public:
  explicit Part(std::string name) : name_(std::move(name)) {}
  void enter() { scope_.emplace(name_); }
  void leave() { scope_.reset(); }

 private:
  std::string name_;
  std::optional<trace::Scope> scope_;
};

/// A scope as a context manager. A Python class enters and leaves it (crisol/_mode.py).
template <class Scope>
void bind_scope(nb::module_& m, const char* name) {
  nb::class_<Scope>(m, name)
      .def(nb::init<const std::string&>())
      .def("enter", &Scope::enter, Unlocked())
      .def("leave", &Scope::leave, Unlocked());
}

void bind_profile(nb::module_& m) {
  nb::class_<ProfileRow>(m, "ProfileRow", "The times of one kernel in milliseconds.")
      .def_ro("kernel", &ProfileRow::kernel, "The name of the kernel.")
      .def_ro("launches", &ProfileRow::launches, "Number of launches.")
      .def_ro("total_ms", &ProfileRow::total_ms, "The sum over all launches.")
      .def_ro("min_ms", &ProfileRow::min_ms, "The shortest launch.")
      .def_ro("max_ms", &ProfileRow::max_ms, "The longest launch.");
  nb::class_<Measured>(m, "Profile",
                       "Measures every launch on a device: `with crisol.Profile() as p: …`, then print(p).")
      .def(nb::init<std::optional<Device>>(), "device"_a = nb::none())
      .def_prop_ro("rows", &Measured::rows, "A row for each kernel, the longest total time first.")
      .def("__str__", &Measured::text)
      .def(
          "__enter__", [](Measured& self) -> Measured& { return unlocked([&] { self.enter(); }), self; }, itself)
      .def("__exit__", [](Measured& self, const nb::args&) { unlocked([&] { self.leave(); }); });
}

}  // namespace

void bind_measurements(nb::module_& m) {
  bind_profile(m);
  nb::module_ t = m.def_submodule("_trace", "Timelines.");
  t.def(
      "start", [](const std::filesystem::path& path) { trace::start(path.string()); }, "path"_a, Unlocked(),
      "Starts a timeline of this process in a file, for Perfetto or chrome://tracing.");
  t.def("stop", &trace::stop, Unlocked(), "Waits for the queued work and completes the file.");
  t.def("active", &trace::active, "Whether a timeline is being written now.");
  bind_scope<Part>(t, "Part");
  m.def(
      "set_precision", [](const std::string& name) { set_precision(precision_of(name)); }, "precision"_a,
      "Allows products and convolutions a precision, on every thread: \"fp32\", \"tf32\", \"fp16\" or \"bf16\".");
  m.def(
      "get_precision", [] { return std::string(name_of(precision())); }, "The precision of this thread.");
  bind_scope<PrecisionScope>(m, "_PrecisionScope");
}

}  // namespace crisol::python
