// Element 0 of row (t, b) in a buffer (T, B, columns). It has 64 bits, because buffers may hold more than 2^31
// elements.
#define ROW_AT(t, batch, b, columns) (((long)(t) * (batch) + (b)) * (columns))
