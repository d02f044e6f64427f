// Included before a program that is compiled to PTX without NVIDIA's driver. It defines float functions by libdevice,
// as the driver does, instead of libclc's functions, which are several times as long.
#define OVERLOAD __attribute__((overloadable, const))
#define ONE_OF(name, T) \
  T OVERLOAD name(T x) { return (T)(name(x.lo), name(x.hi)); }
#define TWO_OF(name, T) \
  T OVERLOAD name(T x, T y) { return (T)(name(x.lo, y.lo), name(x.hi, y.hi)); }
#define ONE(name, code)                               \
  float __nv_##code(float);                           \
  float OVERLOAD name(float x) { return __nv_##code(x); } \
  ONE_OF(name, float2) ONE_OF(name, float4) ONE_OF(name, float8) ONE_OF(name, float16)
#define TWO(name, code)                                           \
  float __nv_##code(float, float);                                \
  float OVERLOAD name(float x, float y) { return __nv_##code(x, y); } \
  TWO_OF(name, float2) TWO_OF(name, float4) TWO_OF(name, float8) TWO_OF(name, float16)

ONE(exp, expf) ONE(exp2, exp2f) ONE(expm1, expm1f) ONE(log, logf) ONE(log2, log2f) ONE(log10, log10f) ONE(log1p, log1pf)
ONE(sin, sinf) ONE(cos, cosf) ONE(tan, tanf) ONE(asin, asinf) ONE(acos, acosf) ONE(atan, atanf)
ONE(sinh, sinhf) ONE(cosh, coshf) ONE(tanh, tanhf) ONE(asinh, asinhf) ONE(acosh, acoshf) ONE(atanh, atanhf)
ONE(erf, erff) ONE(erfc, erfcf) ONE(cbrt, cbrtf) ONE(lgamma, lgammaf) ONE(rsqrt, rsqrtf)
TWO(pow, powf) TWO(atan2, atan2f) TWO(fmod, fmodf)

#undef OVERLOAD
#undef ONE_OF
#undef TWO_OF
#undef ONE
#undef TWO
