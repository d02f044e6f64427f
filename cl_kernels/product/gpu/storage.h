// How the elements of an operand are stored. They become values of the unit on their way to local memory. All calls of
// these functions pass a constant for `storage`.
#include "common/inline.h"
#include "product/gpu/units/types.h"

#define STORAGE_F32 0
#define STORAGE_F16 1
#define STORAGE_BF16 2
#define STORAGE_I8 3

// Bytes of an element.
#define STORED_BYTES(storage) ((storage) == STORAGE_F32 ? 4 : (storage) == STORAGE_I8 ? 1 : 2)

INLINE VALUE_TYPE stored_value(__global const char* from, int storage) {
  if (storage == STORAGE_F16) return vload_half(0, (__global const half*)from);
  if (storage == STORAGE_BF16) return as_float((uint)*(__global const ushort*)from << 16);
  if (storage == STORAGE_I8) return (float)*from;
  return *(__global const float*)from;
}

// Four neighbours, aligned to four elements.
INLINE VALUES(4) stored_values(__global const char* from, int storage) {
  if (storage == STORAGE_F16) return vload_half4(0, (__global const half*)from);
  if (storage == STORAGE_BF16) return as_float4(convert_uint4(*(__global const ushort4*)from) << 16);
  if (storage == STORAGE_I8) return convert_float4(*(__global const char4*)from);
  return *(__global const float4*)from;
}
