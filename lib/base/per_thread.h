// A value for each thread.
#pragma once

#if defined(__MINGW32__) && !defined(__clang__)
#define CRISOL_FREES_THREAD_STORAGE_EARLY
#include <pthread.h>

#include <memory>
#include <new>
#endif

namespace crisol {

/// The calling thread's T. The thread's first call makes it, and it is deleted when the thread ends. There is one T for
/// each type and thread, so each user needs a type of its own.
///
/// The library has no other thread_local object with a destructor. GCC for Windows frees the storage of all such
/// objects before it calls their destructors (GCC's bug 80816). So on Windows, the T lives on the heap, under a key of
/// the thread. The main thread's T is not deleted there.
template <class T>
T& per_thread() {
#ifdef CRISOL_FREES_THREAD_STORAGE_EARLY
  static const pthread_key_t key = [] {
    pthread_key_t made;
    if (pthread_key_create(&made, [](void* value) { delete static_cast<T*>(value); }) != 0) throw std::bad_alloc();
    return made;
  }();
  void* value = pthread_getspecific(key);
  if (value == nullptr) {
    auto made = std::make_unique<T>();
    if (pthread_setspecific(key, made.get()) != 0) throw std::bad_alloc();
    value = made.release();
  }
  return *static_cast<T*>(value);
#else
  thread_local T value;
  return value;
#endif
}

}  // namespace crisol
