// How a test steers the driver of faults (driver.cpp), which runs in the same process.
#pragma once

#include <atomic>

namespace crisol::testing {

/// Groups of OpenCL calls that can be made to fail.
enum class Call : int { allocate, create, build, argument, launch, transfer, wait };
constexpr int call_kinds = 7;

struct FaultControl {
  std::atomic<long> calls[call_kinds]{};  ///< So far, the failed ones included.
  std::atomic<long> live_buffers{0};      ///< Made and not yet given back as often as they were kept.

  std::atomic<int> kind{-1};         ///< The group that fails, as a number of Call; -1 for none; call_kinds for all.
  std::atomic<long> countdown{0};    ///< Calls until it fails.
  std::atomic<int> code{0};          ///< What the failing call returns.
  std::atomic<bool> lasting{false};  ///< All later calls of the group fail as well.
  std::atomic<int> delay_us{0};      ///< Each call waits so long first.
};

/// The driver's one symbol for tests, found by dlsym.
constexpr const char* fault_control_symbol = "crisol_fault_control";
using FaultControlFunction = FaultControl* (*)();

}  // namespace crisol::testing
