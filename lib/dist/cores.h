// The cores that the ranks of one machine compute on.
#pragma once

#include <bitset>
#include <vector>

namespace crisol::dist {

using CoreSet = std::bitset<4096>;

/// The cores that this process may use. Empty where the system does not tell.
CoreSet own_cores();

/// The cores for one rank of a machine: the rank's own set, if no other rank has a core of this set. Otherwise its part
/// of the cores that the ranks with this set have together. If there are more ranks than cores, ranks share a core.
CoreSet share_of_cores(const std::vector<CoreSet>& sets, int local_rank);

/// Lets this process, and the threads that it starts, use only these cores. PoCL starts as many threads as there are
/// cores, unless a variable says otherwise; so the variable is set, if the user did not set it. Call it before a driver
/// is loaded.
void use_cores(const CoreSet& cores);

}  // namespace crisol::dist
