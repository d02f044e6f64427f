// Notes an element that is not between two numbers; see common/fault.h. The note has the element's bits as a float.
#include "common/element.h"
#include "common/fault.h"
#include "common/real.h"

__kernel void check_range(__global const STORED* restrict x, const ulong x_offset, __global long* fault,
                          const ulong fault_offset, const long n, const REAL low, const REAL high, const int op) {
  REAL last = low;  // The last element that is outside, or a number that is not.
  for (long i = get_global_id(0); i < n; i += get_global_size(0)) {
    const REAL v = LOAD(STORED, x, x_offset + i);
    last = v >= low && v <= high ? last : v;
  }
  if (!(last >= low && last <= high)) note_wrong_index(fault + fault_offset, op, as_int((float)last), 0);
}
