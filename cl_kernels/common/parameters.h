// Structs that a kernel gets by value. C++ includes their headers too, so that host and kernel share one description.
//
// Members are only Longs and Ints, and the Longs come first. So both sides have the same layout. CHECK_PARAMETERS
// asserts on both sides that the size is the sum of the members' sizes, so there is no padding. A struct has at most 64
// bytes.
#ifndef CRISOL_COMMON_PARAMETERS_H
#define CRISOL_COMMON_PARAMETERS_H
#ifdef __cplusplus
#include <cstdint>
#include <type_traits>
#define PARAMETERS_BEGIN namespace crisol::kernels {
#define PARAMETERS_END }
#define CHECK_PARAMETERS(type, bytes) \
  static_assert(sizeof(type) == (bytes) && (bytes) <= 64 && std::has_unique_object_representations_v<type>)
PARAMETERS_BEGIN
using Long = std::int64_t;
using Int = std::int32_t;
/// A number of the host that a kernel gets as an Int. The plan has checked that it fits.
constexpr Int number(std::int64_t value) { return static_cast<Int>(value); }
PARAMETERS_END
#else
#define PARAMETERS_BEGIN
#define PARAMETERS_END
#define CHECK_PARAMETERS(type, bytes) typedef char type##_size[sizeof(type) == (bytes) ? 1 : -1]
typedef long Long;
typedef int Int;
#endif
#endif
