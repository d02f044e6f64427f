#include "dispatch/target.h"

#include "crisol/ops/workspace.h"
#include "dispatch/persistent.h"

namespace crisol::dispatch {

Target target_of(runtime::DeviceState& device) {
  const DeviceInfo& info = runtime::info_of(device);
  return {info, runtime::vector_width(device), ops::loop_budget(info), ops::workspace_limit(),
          probe_nvidia_shuffles(device)};
}

}  // namespace crisol::dispatch
