// OVER_LANES(name, combine, type) defines a function that combines the VW lanes of a vector of `type`.
#include "common/inline.h"
#include "common/real.h"

#define PLUS(x, y) ((x) + (y))
#define GREATER(x, y) ((x) > (y) ? (x) : (y))

#if VW == 1
#define OVER_LANES(name, combine, type) \
  INLINE REAL name(const type v) { return v; }
#elif VW == 4
#define OVER_LANES(name, combine, type) \
  INLINE float name(const type v) { return combine(combine(v.x, v.z), combine(v.y, v.w)); }
#else
#if VW == 8
#define LOW_EIGHT(combine, v) v
#else
#define LOW_EIGHT(combine, v) combine(v.lo, v.hi)
#endif
#define OVER_LANES(name, combine, type)                       \
  INLINE float name(const type v) {                           \
    const float8 a = LOW_EIGHT(combine, v);                   \
    const float4 b = combine(a.lo, a.hi);                     \
    return combine(combine(b.x, b.z), combine(b.y, b.w));     \
  }
#endif
