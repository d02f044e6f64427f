#include "dist/cores.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#ifdef __linux__
#include <sched.h>
#endif

namespace crisol::dist {

#ifdef __linux__

namespace {

/// The kernel's bit mask, with a bit for each core that a CoreSet can hold.
class Mask {
 public:
  Mask() : set_(CPU_ALLOC(CoreSet().size())), bytes_(CPU_ALLOC_SIZE(CoreSet().size())) { CPU_ZERO_S(bytes_, set_); }
  ~Mask() { CPU_FREE(set_); }
  Mask(const Mask&) = delete;
  Mask& operator=(const Mask&) = delete;
  cpu_set_t* set() const noexcept { return set_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  cpu_set_t* const set_;
  const std::size_t bytes_;
};

}  // namespace

CoreSet own_cores() {
  const Mask mask;
  CoreSet cores;
  if (sched_getaffinity(0, mask.bytes(), mask.set()) != 0) return cores;
  for (std::size_t core = 0; core < cores.size(); ++core) cores[core] = CPU_ISSET_S(core, mask.bytes(), mask.set());
  return cores;
}

void use_cores(const CoreSet& cores) {
  if (cores.none()) return;
  const Mask mask;
  for (std::size_t core = 0; core < cores.size(); ++core)
    if (cores[core]) CPU_SET_S(core, mask.bytes(), mask.set());
  if (sched_setaffinity(0, mask.bytes(), mask.set()) != 0) return;
  const std::string count = std::to_string(cores.count());
  // PoCL's variable: its name until version 3, and its name since version 4.
  for (const char* variable : {"POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"}) setenv(variable, count.c_str(), 0);
}

#else

CoreSet own_cores() { return {}; }
void use_cores(const CoreSet&) {}

#endif

CoreSet share_of_cores(const std::vector<CoreSet>& sets, int local_rank) {
  const CoreSet& own = sets[static_cast<std::size_t>(local_rank)];
  std::size_t sharing = 0, before = 0;
  for (std::size_t r = 0; r < sets.size(); ++r) {
    if ((sets[r] & own).none()) continue;
    if (sets[r] != own) return own;  // Somebody gave the ranks different sets on purpose.
    ++sharing;
    if (r < static_cast<std::size_t>(local_rank)) ++before;
  }
  const std::size_t count = own.count();
  if (sharing < 2 || count == 0) return own;
  const std::size_t begin = count * before / sharing, end = std::max(count * (before + 1) / sharing, begin + 1);
  CoreSet share;
  std::size_t number = 0;
  for (std::size_t core = 0; core < own.size(); ++core) {
    if (!own[core]) continue;
    if (number >= begin && number < end) share[core] = true;
    ++number;
  }
  return share;
}

}  // namespace crisol::dist
