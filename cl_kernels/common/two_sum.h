// Sums that keep their rounding errors (Knuth's two-sum). T is the type of the numbers, a scalar or a vector.
#define TWO_SUM(T, total, lost, v)                             \
  {                                                            \
    const T was_ = total, more_ = (v);                         \
    const T next_ = was_ + more_;                              \
    const T part_ = next_ - was_;                              \
    lost += (was_ - (next_ - part_)) + (more_ - part_);        \
    total = next_;                                             \
  }
// An infinite sum ignores `lost`, which is then NaN because it was computed as infinity - infinity.
#define WITH_LOST(total, lost) (isfinite(total) ? (total) + (lost) : (total))
