#include "support/launches.h"

#include "crisol/profile.h"

namespace crisol::testing {

std::int64_t launches_of(const std::function<void()>& run) {
  const Profile profile;
  run();
  std::int64_t launches = 0;
  for (const ProfileRow& row : profile.rows()) launches += row.launches;
  return launches;
}

}  // namespace crisol::testing
