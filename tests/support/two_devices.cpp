#include "support/two_devices.h"

#include "crisol/device.h"
#include "support/processes/run_process.h"

namespace crisol::testing {

std::string why_one_device() {
  if (Device().info().platform != "Portable Computing Language") return "only PoCL shows two devices when asked";
  return drivers_see_variables() ? "" : "PoCL does not see a child's variables under Wine, so it shows one device";
}

}  // namespace crisol::testing
