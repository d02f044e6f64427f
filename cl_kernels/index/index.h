// Indices of type INDEX into elements of type ELEMENT, which are moved without being looked at.
#ifndef INDEX
#define INDEX long
#endif
#ifndef ELEMENT
#define ELEMENT uint
#endif

// Whether an index lies in [0, size).
#define IS_INDEX(index, size) ((ulong)(long)(index) < (ulong)(size))
