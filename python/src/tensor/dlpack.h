// The structs of DLPack 1.0 (https://dmlc.github.io/dlpack), by which libraries exchange arrays.
#pragma once

#include <cstdint>

namespace crisol::python::dlpack {

enum DeviceType : std::int32_t { cpu = 1, opencl = 4 };
enum TypeCode : std::uint8_t { whole = 0, natural = 1, floating = 2, boolean = 6 };

struct Device {
  std::int32_t type, id;
};

struct Type {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};

struct Array {
  void* data;  ///< For OpenCL a cl_mem.
  Device device;
  std::int32_t rank;
  Type type;
  std::int64_t* shape;
  std::int64_t* strides;  ///< In elements; null if the elements lie one after another.
  std::uint64_t byte_offset;
};

/// An array whose owner is told when nobody uses it any more.
struct Managed {
  Array array;
  void* context;
  void (*deleter)(Managed* self);
};

/// The same with a version, since 1.0.
struct Versioned {
  struct {
    std::uint32_t major, minor;
  } version;
  void* context;
  void (*deleter)(Versioned* self);
  std::uint64_t flags;
  Array array;
};

constexpr std::uint64_t is_copied = 2;

}  // namespace crisol::python::dlpack
