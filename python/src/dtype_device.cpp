// Element types and devices.
#include <sstream>

#include "bindings.h"
#include "crisol/dtype_table.h"
#include "tensor/host.h"

namespace crisol::python {

std::string name_in_python(DType dtype) { return dtype_row(dtype).python; }

namespace {

std::string repr_of(Device device) { return "crisol.device(\"" + device.name() + "\")"; }

}  // namespace

void bind_dtypes(nb::module_& m) {
  nb::class_<DTypeObject>(m, "dtype", "An element type, such as crisol.float32.")
      .def_prop_ro(
          "name", [](const DTypeObject& self) { return name_in_python(self.value); }, "The name: \"float32\".")
      .def_prop_ro(
          "itemsize", [](const DTypeObject& self) { return size_of(self.value); }, "The bytes of one element.")
      .def("__repr__", [](const DTypeObject& self) { return "crisol." + name_in_python(self.value); })
      .def("__reduce__", [](const DTypeObject& self) { return name_in_python(self.value); });
  nb::list all;
  for (const DType dtype : all_dtypes) {
    nb::object object = nb::cast(DTypeObject{dtype});
    m.attr(dtype_row(dtype).python) = object;
    all.append(object);
    dtype_objects[static_cast<std::size_t>(dtype)] = object.release().ptr();
  }
  m.attr("_dtypes") = nb::tuple(all);
  m.def("_digits_and_exponent",
        [](DType dtype) { return std::pair(dtype_row(dtype).digits, dtype_row(dtype).exponent); });
  m.def("_default_dtype", &default_dtype);
  m.def("_set_default_dtype", &set_default_dtype, "dtype"_a);
  m.def("promote_types", &promote_types, "a"_a, "b"_a,
        "The element type that both types convert to in a function: bool, then whole numbers, then floating-point "
        "numbers, and of one kind the larger type.");
}

void bind_devices(nb::module_& m) {
  nb::class_<MemoryStats>(m, "MemoryStats", "Figures of a device's memory pool, in bytes.")
      .def_ro("in_use", &MemoryStats::in_use, "Held by live tensors.")
      .def_ro("cached", &MemoryStats::cached, "Free memory that is kept for reuse.")
      .def_ro("captured", &MemoryStats::captured, "Held by captured graphs, but by no live tensor.")
      .def_ro("peak", &MemoryStats::peak, "The highest in_use since the start or the last reset_peak_memory().")
      .def_ro("allocations", &MemoryStats::allocations, "Buffers that were taken from OpenCL so far.");
  nb::class_<Device>(m, "device",
                     "A device: crisol.device(\"gpu:0\"). The text is \"gpu\", \"cpu\" or \"accelerator\", the indices "
                     "\"platform:device\", or a part of a name. A type or a name may end in \":n\" for the n-th match. "
                     "Without a text it is the default device.")
      .def(nb::init<>(), Unlocked())
      .def(nb::init<std::string_view>(), "spec"_a, Unlocked())
      .def("__init__", [](Device* self, Device other) { new (self) Device(other); })
      .def_prop_ro(
          "name", [](Device self) { return self.name(); }, "The name that the driver reports.")
      .def_prop_ro(
          "type", [](Device self) { return std::string(name_of(self.info().type)); },
          "\"gpu\", \"accelerator\" or \"cpu\".")
      .def_prop_ro("index", &Device::index, "The position in crisol.devices().")
      .def_prop_ro(
          "info", [](Device self) { return nb::module_::import_("json").attr("loads")(to_json(self.info())); },
          "What the driver reports, as a dict.")
      .def("synchronize", &wait_for_device, "Waits until all queued work of this device is done.")
      .def("memory_stats", &Device::memory_stats, Unlocked(), "Figures of this device's memory pool.")
      .def("reset_peak_memory", &Device::reset_peak_memory, Unlocked(),
           "Resets the peak to the memory that is in use now.")
      .def("release_cached_memory", &Device::release_cached_memory, Unlocked(),
           "Gives the cached buffers back to OpenCL.")
      .def("set_memory_limit", &Device::set_memory_limit, "bytes"_a, Unlocked(),
           "Limits the memory of the pool. 0 restores the default limit.")
      .def(
          "__eq__", [](Device self, Device other) { return self == other; }, nb::is_operator())
      .def("__hash__", [](Device self) { return self.index(); })
      .def("__repr__", &repr_of)
      .def("__str__", [](Device self) { return self.name(); })
      .def("__reduce__", [](nb::handle self) {
        // The pickle holds platform and name, because a name may match a device of another platform too.
        const nb::object pickle = nb::module_::import_("crisol._pickle");
        return nb::make_tuple(pickle.attr("rebuild_device"), pickle.attr("device_arguments")(self));
      });
  nb::implicitly_convertible<nb::str, Device>();
  m.def("devices", &devices, Unlocked(), "All devices of all platforms.");
  m.def("set_default_device", &set_default_device, "device"_a, Unlocked(),
        "Sets the device that new tensors are made on, on every thread.");
  m.def("default_device_reason", &default_device_reason, Unlocked(), "Why the default device was chosen.");
}

}  // namespace crisol::python
