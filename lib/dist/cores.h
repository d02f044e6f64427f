// The cores that the ranks of one machine compute on.
#pragma once

#include <bitset>
#include <vector>

namespace crisol::dist {

using CoreSet = std::bitset<4096>;

/// The cores that this process may use. Empty if the system does not report them.
CoreSet own_cores();

/// The cores for one rank of a machine. If no other rank has a core of the rank's set, it is the whole set. Otherwise
/// the ranks with this set divide its cores. If there are more ranks than cores, ranks share a core.
CoreSet share_of_cores(const std::vector<CoreSet>& sets, int local_rank);

/// Lets this process, and the threads that it starts, use only these cores. PoCL starts one thread for each core of the
/// machine, unless a variable says otherwise. So this function sets the variable, unless the user did. Call it before a
/// driver is loaded.
void use_cores(const CoreSet& cores);

}  // namespace crisol::dist
