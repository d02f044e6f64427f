// Indices have the type INDEX, and elements have the type ELEMENT. Elements are only moved.
#ifndef INDEX
#define INDEX long
#endif
#ifndef ELEMENT
#define ELEMENT uint
#endif

#include "common/fault.h"

// The words in which a kernel notes a wrong index, and the number of the op.
#define FAULT_PARAMETERS __global long *fault, const ulong fault_offset, const int fault_op
#define FAULT_ARGUMENTS fault, fault_offset, fault_op
#define NOTE_WRONG(index, size) note_wrong_index(fault + fault_offset, fault_op, index, size)

// True if the index is in [0, size).
#define IS_INDEX(index, size) ((ulong)(long)(index) < (ulong)(size))
