// Marks the symbols that the shared library exports. A static build defines CRISOL_STATIC for itself and its users.
#pragma once

#if defined(CRISOL_STATIC)
#define CRISOL_API
#elif defined(_WIN32)
#if defined(CRISOL_BUILDING)
#define CRISOL_API __declspec(dllexport)
#else
#define CRISOL_API __declspec(dllimport)
#endif
#else
#define CRISOL_API __attribute__((visibility("default")))
#endif
