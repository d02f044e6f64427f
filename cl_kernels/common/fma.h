// mad() is not fused on PoCL, and fma() is software on devices without the instruction. The host sets NO_FMA for such
// devices.
#ifdef NO_FMA
#define FMA(a, b, c) ((a) * (b) + (c))
#else
#define FMA(a, b, c) fma(a, b, c)
#endif
