// Box-Muller: makes two normal numbers from two uniform words.
//
//   z0 = sqrt(-2 ln u) cos(2 pi v)    u = float(word 0) 2^-32 + 2^-33 in (0, 1]
//   z1 = sqrt(-2 ln u) sin(2 pi v)    v = the upper 24 bits of word 1, times 2^-24
//
// Every product that is added to something is an explicit fma, so that no compiler chooses what to contract. Logarithm,
// sine and cosine are polynomials in a fixed order, because the last bits of the builtins differ between
// implementations. Only sqrt and one division come from the device, and a Newton step removes their error.

// ln(x) for normal numbers with 0 < x <= 1, by the polynomial of Cephes' logf (Moshier). The error is at most 1 ulp.
static inline float fixed_log(float x) {
  int bits = as_int(x);
  const int exponent = (bits - 0x3f3504f3) >> 23;  // x = m 2^exponent, m in [sqrt(1/2), sqrt(2)).
  const float e = (float)exponent;
  const float f = as_float(bits - (exponent << 23)) - 1.0f;
  float p = 7.0376836292e-2f;
  p = fma(p, f, -1.1514610310e-1f);
  p = fma(p, f, 1.1676998740e-1f);
  p = fma(p, f, -1.2420140846e-1f);
  p = fma(p, f, 1.4249322787e-1f);
  p = fma(p, f, -1.6668057665e-1f);
  p = fma(p, f, 2.0000714765e-1f);
  p = fma(p, f, -2.4999993993e-1f);
  p = fma(p, f, 3.3333331174e-1f);
  p = fma(p, f, -0.5f);
  const float square = f * f;
  float tail = e * -2.12194440e-4f;  // ln 2 = 0.693359375 - 2.12194440e-4.
  tail = fma(p, square, tail);
  return fma(e, 0.693359375f, f + tail);
}

// Correctly rounded except for rare ties, on every device.
static inline float fixed_sqrt(float x) {
  const float s = sqrt(x);
  return s > 0.0f ? fma(fma(-s, s, x), 0.5f / s, s) : 0.0f;
}

// (cos, sin) of 2 pi v, where v is the upper 24 bits of a word as a fraction. The angle is first reduced to its
// distance from the nearest quarter turn. This reduction is exact. Then Taylor series give sin(pi t) and cos(pi t) for
// |t| <= 1/4.
static inline float2 fixed_cos_sin(uint word) {
  const uint turn = word & 0xffffff00u;
  const uint quarter = (turn + 0x20000000u) >> 30;
  const float t = (float)((int)(turn - (quarter << 30))) * 4.656612873077393e-10f;  // 2^-31; exact.
  const float t2 = t * t;
  float s = 8.2145886611e-2f;
  s = fma(s, t2, -5.9926452932e-1f);
  s = fma(s, t2, 2.5501640399f);
  s = fma(s, t2, -5.1677127800f);
  s = fma(s, t2, -8.7422777e-8f);  // pi = 3.14159274 - 8.7422777e-8.
  const float small = s * t;
  const float sine = fma(t, 3.14159274f, small);
  float c = -2.5806891390e-2f;
  c = fma(c, t2, 2.3533063036e-1f);
  c = fma(c, t2, -1.3352627689f);
  c = fma(c, t2, 4.0587121264f);
  c = fma(c, t2, -4.9348022005f);
  const float cosine = fma(c, t2, 1.0f);
  const float2 pair = (quarter & 1u) ? (float2)(-sine, cosine) : (float2)(cosine, sine);
  return (quarter & 2u) ? -pair : pair;
}

static inline float2 box_muller(uint word_0, uint word_1) {
  const float u = fma(convert_float_rte(word_0), 2.3283064365386963e-10f, 1.1641532182693481e-10f);
  return fixed_sqrt(-2.0f * fixed_log(u)) * fixed_cos_sin(word_1);
}
