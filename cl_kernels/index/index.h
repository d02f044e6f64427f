// Indices have the type INDEX, and elements have the type ELEMENT. Elements are only moved.
#ifndef INDEX
#define INDEX long
#endif
#ifndef ELEMENT
#define ELEMENT uint
#endif

// True if the index is in [0, size).
#define IS_INDEX(index, size) ((ulong)(long)(index) < (ulong)(size))
