// mad() is not fused on PoCL, fma() is software where the device has none: the host says which.
#ifdef NO_FMA
#define FMA(a, b, c) ((a) * (b) + (c))
#else
#define FMA(a, b, c) fma(a, b, c)
#endif
