#include "dist/device_choice.h"

#include <sstream>
#include <vector>

namespace crisol::dist {

namespace {

// The number of devices that fit a type or a part of a name. Zero for a text that names one device by its number.
int count_devices(const std::string& spec, const std::function<bool(const std::string&)>& fits) {
  int count = 0;
  while (spec.find(':') == std::string::npos && fits(spec + ":" + std::to_string(count))) ++count;
  return count;
}

}  // namespace

std::string device_of_rank(const std::string& wanted, int local_rank,
                           const std::function<bool(const std::string&)>& fits) {
  std::vector<std::string> list;
  std::istringstream in(wanted);
  for (std::string spec; std::getline(in, spec, ',');) list.push_back(spec);
  if (list.size() > 1) return list[static_cast<std::size_t>(local_rank) % list.size()];
  const std::string spec = wanted.empty() ? "gpu" : wanted;
  const int count = count_devices(spec, fits);
  return count > 1 ? spec + ":" + std::to_string(local_rank % count) : wanted;
}

}  // namespace crisol::dist
