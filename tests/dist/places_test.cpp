// The device and the cores of each rank of a machine.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/dist.h"
#include "dist/cores.h"
#include "dist/device_choice.h"
#include "doctest/doctest.h"

using namespace crisol::dist;

namespace {

std::string choice(const std::string& wanted, int local_rank, const std::set<std::string>& there) {
  return device_of_rank(wanted, local_rank, [&](const std::string& spec) { return there.count(spec) != 0; });
}

CoreSet cores(const std::vector<std::size_t>& numbers) {
  CoreSet set;
  for (const std::size_t number : numbers) set[number] = true;
  return set;
}

/// Before main(), and so before init().
const CoreSet cores_at_start = own_cores();

/// By core: the number of ranks that may use it.
std::vector<std::int32_t> ranks_by_core(const CoreSet& own) {
  std::vector<std::int32_t> counts;
  for (std::size_t core = 0; core < own.size(); ++core) counts.push_back(own[core] ? 1 : 0);
  crisol::Tensor sums = crisol::from_vector(counts);
  all_reduce(sums);
  return sums.to_vector<std::int32_t>();
}

}  // namespace

TEST_CASE("dist: the n-th rank of a machine takes the n-th device") {
  const std::set<std::string> gpus{"gpu:0", "gpu:1", "gpu:2", "nvidia:0", "nvidia:1", "cpu:0"};
  CHECK(choice("", 0, gpus) == "gpu:0");
  CHECK(choice("", 2, gpus) == "gpu:2");
  CHECK(choice("", 3, gpus) == "gpu:0");
  CHECK(choice("gpu", 1, gpus) == "gpu:1");
  CHECK(choice("nvidia", 1, gpus) == "nvidia:1");
  CHECK(choice("cpu", 1, gpus) == "cpu");
  CHECK(choice("gpu:2", 1, gpus) == "gpu:2");
  CHECK(choice("gpu:2,nvidia:0", 0, gpus) == "gpu:2");
  CHECK(choice("gpu:2,nvidia:0", 1, gpus) == "nvidia:0");
  CHECK(choice("gpu:2,nvidia:0", 2, gpus) == "gpu:2");
  CHECK(choice("", 1, {"cpu:0"}).empty());
  CHECK(choice("", 1, {"gpu:0", "cpu:0"}).empty());
}

TEST_CASE("dist: the ranks of this run compute on different cores") {
  if (cores_at_start.none()) return;  // The system does not tell.
  const std::vector<std::int32_t> now = ranks_by_core(own_cores()), at_start = ranks_by_core(cores_at_start);
  const auto unused = std::count(at_start.begin(), at_start.end(), 0);
  CHECK(*std::max_element(now.begin(), now.end()) >= 1);
  if (static_cast<std::ptrdiff_t>(at_start.size()) - unused >= world())
    CHECK(*std::max_element(now.begin(), now.end()) == 1);
}

TEST_CASE("dist: the ranks of a machine share out the cores without overlap") {
  const CoreSet all = cores({0, 1, 2, 5, 6, 7, 9});
  for (const std::size_t ranks : {1, 2, 3, 7}) {
    CoreSet together;
    std::size_t count = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      const CoreSet own = share_of_cores(std::vector<CoreSet>(ranks, all), static_cast<int>(r));
      CHECK(own.count() >= all.count() / ranks);
      count += own.count();
      together |= own;
    }
    CHECK(together == all);
    CHECK(count == all.count());
  }
  // mpirun cut the cores.
  const std::vector<CoreSet> cut{cores({0, 1}), cores({2, 3})};
  CHECK(share_of_cores(cut, 0) == cut[0]);
  CHECK(share_of_cores(cut, 1) == cut[1]);
  // It cut them in pairs.
  const std::vector<CoreSet> pairs{cores({0, 1}), cores({0, 1}), cores({2, 3}), cores({2, 3})};
  CHECK(share_of_cores(pairs, 1) == cores({1}));
  CHECK(share_of_cores(pairs, 2) == cores({2}));
  // More ranks than cores.
  for (int r = 0; r < 3; ++r) CHECK(share_of_cores(std::vector<CoreSet>(3, cores({4})), r) == cores({4}));
  // Sets that overlap in part are left as they are.
  const std::vector<CoreSet> mixed{cores({0, 1}), cores({1, 2})};
  CHECK(share_of_cores(mixed, 0) == mixed[0]);
  CHECK(share_of_cores({CoreSet(), CoreSet()}, 1).none());
  CHECK(own_cores().count() >= 1);
}
