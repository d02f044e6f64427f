// from_dlpack(): tensors over the memory of other libraries' arrays, or copies of their elements.
#include <CL/cl.h>

#include <map>
#include <mutex>

#include "arguments.h"
#include "bindings.h"
#include "crisol/opencl_interop.h"
#include "tensor/dlpack.h"

namespace crisol::python {

namespace {

/// An array of another library. This library keeps the array until give_back().
struct Import {
  dlpack::Array array;
  bool read_only;
  void* managed;
  void (*give_back)(void* managed);
};

/// Arrays whose OpenCL buffers were destroyed. A driver reports this on any thread, perhaps while it holds a lock, and
/// must not wait for the interpreter's lock. So Python's main thread gives the arrays back.
class Unused {
 public:
  static void CL_CALLBACK add(cl_mem, void* import) {
    {
      const std::lock_guard<std::mutex> lock(mutex());
      list().emplace_back(static_cast<Import*>(import));
    }
    if (Py_IsInitialized() != 0) Py_AddPendingCall(&give_back, nullptr);
  }

  /// The caller must hold the interpreter's lock.
  static int give_back(void*) {
    std::vector<std::unique_ptr<Import>> imports;
    {
      const std::lock_guard<std::mutex> lock(mutex());
      imports.swap(list());
    }
    for (const auto& import : imports) import->give_back(import->managed);
    return 0;
  }

 private:
  // The mutex and the list are never destroyed, because threads of a driver may outlive static objects.
  static std::mutex& mutex() {
    static auto* const the = new std::mutex;
    return *the;
  }
  static std::vector<std::unique_ptr<Import>>& list() {
    static auto* const the = new std::vector<std::unique_ptr<Import>>;
    return *the;
  }
};

/// The number of bytes to which the start of a buffer must be aligned. Kernels rely on it.
std::size_t alignment_of(Device device) {
  cl_uint bits = 0;
  clGetDeviceInfo(opencl_device(device), CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, nullptr);
  return std::max<std::size_t>(bits / 8, 1);
}

/// Tests whether device and host see each other's writes to host memory, without the calls that would copy.
bool sees_memory_of_host(Device device) {
  constexpr std::size_t page = 4096;
  const std::unique_ptr<cl_int, void (*)(void*)> host(static_cast<cl_int*>(std::aligned_alloc(page, page)), &std::free);
  cl_int error = CL_SUCCESS, first = 1, second = 2, read = 0;
  volatile cl_int* const seen = host.get();
  *seen = 0;
  cl_mem memory =
      clCreateBuffer(opencl_context(device), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, page, host.get(), &error);
  if (error != CL_SUCCESS) return false;
  cl_command_queue queue = opencl_queue(device);
  bool shared =
      clEnqueueFillBuffer(queue, memory, &first, sizeof first, 0, sizeof first, 0, nullptr, nullptr) == CL_SUCCESS &&
      clFinish(queue) == CL_SUCCESS && *seen == first;
  *seen = second;
  shared = shared &&
           clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof read, &read, 0, nullptr, nullptr) == CL_SUCCESS &&
           read == second;
  clReleaseMemObject(memory);
  return shared;
}

/// Whether kernels of the device can use host memory in place.
bool uses_memory_of_host(Device device) {
  static auto& known = *new std::map<int, bool>;
  const auto found = known.find(device.index());
  if (found != known.end()) return found->second;
  const DeviceInfo& info = device.info();
  const bool uses = info.type == DeviceType::cpu && info.unified_memory &&
                    unlocked([&] { return sees_memory_of_host(device); });  // The test waits for the queued work.
  return known[device.index()] = uses;
}

DType dtype_of(const dlpack::Type& type) {
  for (const DType dtype : all_dtypes) {
    const dlpack::Type own = dlpack::type_of(dtype);
    if (own.code == type.code && own.bits == type.bits && own.lanes == type.lanes) return dtype;
  }
  dlpack::refuse("there is no dtype for elements of code " + std::to_string(type.code) + " with " +
                 std::to_string(type.bits) + " bits");
}

/// Whether a buffer is a sub-buffer. OpenCL allows no sub-buffers of a sub-buffer.
bool is_part(cl_mem buffer) {
  cl_mem whole = nullptr;
  clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, static_cast<void*>(&whole), nullptr);
  return whole != nullptr;
}

/// The result of from_dlpack() for an array.
class Reader {
 public:
  Reader(std::unique_ptr<Import> import, Device device)
      : import_(std::move(import)), array_(import_->array), device_(device) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (import_ != nullptr) import_->give_back(import_->managed);
  }

  /// A tensor over the memory of the array if this is possible, otherwise a copy. `copy` may demand or forbid a copy.
  Tensor read(const std::optional<bool>& copy) {
    if (array_.rank > Shape::max_rank) dlpack::refuse("the array has more than 25 axes");
    dtype_ = dtype_of(array_.type);
    shape_ = Shape(array_.shape, static_cast<std::size_t>(array_.rank));
    const char* const obstacle = why_not_shared();
    if (copy == false && obstacle != nullptr) dlpack::refuse(std::string("copy=False, but ") + obstacle);
    if (copy == true || obstacle != nullptr) return copied();
    return is_opencl() ? over_buffer() : over_host_memory();
  }

 private:
  bool is_opencl() const { return array_.device.type == dlpack::opencl; }

  bool is_contiguous() const {
    std::int64_t stride = 1;
    for (int axis = array_.rank - 1; axis >= 0 && array_.strides != nullptr; --axis) {
      if (shape_[axis] != 1 && array_.strides[axis] != stride) return false;
      stride *= shape_[axis];
    }
    return true;
  }

  std::byte* first() const { return static_cast<std::byte*>(array_.data) + array_.byte_offset; }
  std::size_t bytes() const { return static_cast<std::size_t>(shape_.numel()) * size_of(dtype_); }
  /// The bytes from the last aligned address to the first element.
  std::size_t bytes_ahead() const {
    const std::size_t at = is_opencl() ? array_.byte_offset : reinterpret_cast<std::uintptr_t>(first());
    return at % alignment_of(device_);
  }

  const char* why_not_shared() const {
    if (import_->read_only) return "the array is read-only";
    if (shape_.numel() == 0) return "the array has no elements";
    if (!is_contiguous()) return "the elements do not lie one after another";
    if (bytes_ahead() % size_of(dtype_) != 0) return "the elements do not lie at multiples of their size";
    if (is_opencl()) return is_part(static_cast<cl_mem>(array_.data)) ? "the buffer is a part of another one" : nullptr;
    return uses_memory_of_host(device_) ? nullptr : "the memory of the device is not the host's";
  }

  /// A tensor over a new buffer. When the buffer is destroyed, the array goes back to its owner.
  Tensor over(cl_mem buffer, cl_int error, const char* what) {
    const std::unique_ptr<_cl_mem, decltype(&clReleaseMemObject)> own(buffer, &clReleaseMemObject);
    if (error == CL_SUCCESS) error = clSetMemObjectDestructorCallback(buffer, &Unused::add, import_.get());
    if (error != CL_SUCCESS) dlpack::refuse(std::string(what) + " failed with error " + std::to_string(error));
    static_cast<void>(import_.release());
    return from_opencl(buffer, shape_, dtype_, device_, bytes_ahead());
  }

  Tensor over_host_memory() {
    cl_int error = CL_SUCCESS;
    const std::size_t ahead = bytes_ahead();
    cl_mem buffer = clCreateBuffer(opencl_context(device_), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, ahead + bytes(),
                                   first() - ahead, &error);
    return over(buffer, error, "a buffer over the array");
  }

  Tensor over_buffer() {
    cl_int error = CL_SUCCESS;
    const std::size_t ahead = bytes_ahead();
    const cl_buffer_region region{array_.byte_offset - ahead, ahead + bytes()};
    cl_mem buffer =
        clCreateSubBuffer(static_cast<cl_mem>(array_.data), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    return over(buffer, error, "a part of the OpenCL buffer");
  }

  Tensor copied() const {
    const nb::gil_scoped_release free;
    if (is_opencl()) {
      if (!is_contiguous()) dlpack::refuse("an OpenCL array is not contiguous");
      const Tensor x =
          from_opencl(static_cast<cl_mem>(array_.data), shape_, dtype_, device_, array_.byte_offset).clone();
      device_.synchronize();  // Waits, because the owner may change the array once it has the array back.
      return x;
    }
    if (is_contiguous()) return from_bytes(first(), shape_, dtype_, device_);
    std::vector<std::byte> elements(bytes());
    std::byte* to = elements.data();
    gather(first(), 0, to);
    return from_bytes(elements.data(), shape_, dtype_, device_);
  }

  void gather(const std::byte* at, int axis, std::byte*& to) const {
    const std::size_t size = size_of(dtype_);
    if (axis == array_.rank) {
      to = std::copy_n(at, size, to);
      return;
    }
    for (std::int64_t i = 0; i < array_.shape[axis]; ++i)
      gather(at + i * array_.strides[axis] * static_cast<std::int64_t>(size), axis + 1, to);
  }

  std::unique_ptr<Import> import_;
  const dlpack::Array array_;
  Device device_;
  DType dtype_{};
  Shape shape_;
};

template <class Struct>
std::unique_ptr<Import> import_of(nb::handle capsule, const char* name, const char* used_name) {
  auto* managed = static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (managed == nullptr) throw nb::python_error();
  auto import = std::make_unique<Import>(Import{managed->array, false, managed, [](void* self) {
                                                  auto* its = static_cast<Struct*>(self);
                                                  if (its->deleter != nullptr) its->deleter(its);
                                                }});
  if constexpr (std::is_same_v<Struct, dlpack::Versioned>)
    import->read_only = (managed->flags & dlpack::is_read_only) != 0;
  PyCapsule_SetName(capsule.ptr(), used_name);
  return import;
}

nb::object capsule_of(nb::handle source, const std::optional<bool>& copy) {
  const nb::object own = source.attr("__dlpack_device__")();
  const bool on_device = nb::cast<int>(own[0]) == dlpack::opencl;
  // The owner need not copy, because this function copies the elements if they must be copied.
  const nb::object its_copy = copy == false ? nb::object(nb::bool_(false)) : nb::none();
  try {
    return source.attr("__dlpack__")("max_version"_a = nb::make_tuple(1, 0),
                                     "dl_device"_a = on_device ? own : nb::object(nb::make_tuple(1, 0)),
                                     "copy"_a = its_copy);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    return source.attr("__dlpack__")();  // The other library is older than DLPack 1.0.
  }
}

Tensor from_own(const Tensor& x, const std::optional<Device>& device, const std::optional<bool>& copy) {
  const bool moves = device && *device != x.device();
  if (moves && copy == false) dlpack::refuse("copy=False, but the tensor is on another device");
  if (!moves && copy != true) return x.detach();
  return unlocked([&] { return moves ? x.to(*device) : x.clone(); });
}

Tensor from_dlpack(nb::handle source, const std::optional<Device>& device, const std::optional<bool>& copy) {
  if (nb::isinstance<Tensor>(source)) return from_own(nb::cast<const Tensor&>(source), device, copy);
  if (is_on_torch_device(source)) return from_own(from_torch(source), device, copy);
  Unused::give_back(nullptr);  // Gives back arrays for which Python's list of pending calls was full.
  const nb::object capsule = capsule_of(source, copy);
  const bool versioned = PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0;
  auto import = versioned ? import_of<dlpack::Versioned>(capsule, "dltensor_versioned", "used_dltensor_versioned")
                          : import_of<dlpack::Managed>(capsule, "dltensor", "used_dltensor");
  return Reader(std::move(import), device ? *device : Device()).read(copy);
}

}  // namespace

void bind_from_dlpack(nb::module_& m) {
  m.def(
      "from_dlpack", &from_dlpack, "x"_a, nb::kw_only(), "device"_a = nb::none(), "copy"_a = nb::none(),
      "A tensor of the elements of another library's array. It uses the array's memory where the device's memory is "
      "the host's and the elements lie one after another, and otherwise is a copy. copy=True copies always, and "
      "copy=False raises BufferError instead of copying. In shared memory, call device.synchronize() before the other "
      "library reads what crisol wrote, or writes what crisol may still read.");
}

}  // namespace crisol::python
