// The interface by which a test controls the fault driver (driver.cpp). Both run in the same process.
#pragma once

#include <atomic>

namespace crisol::testing {

/// Groups of OpenCL calls that can be made to fail.
enum class Call : int { allocate, create, build, argument, launch, transfer, wait };
constexpr int call_kinds = 7;

struct FaultControl {
  std::atomic<long> calls[call_kinds]{};  ///< Calls so far, including failed ones.
  std::atomic<long> live_buffers{0};      ///< Buffers that exist: created or retained, and not yet released.

  std::atomic<int> kind{-1};         ///< The group that fails, as a number of Call: -1 for none, call_kinds for all.
  std::atomic<long> countdown{0};    ///< Calls until the failure.
  std::atomic<int> code{0};          ///< The error code of the failing call.
  std::atomic<bool> lasting{false};  ///< All later calls of the group fail too.
  std::atomic<int> delay_us{0};      ///< Each call first waits for this time.
};

/// The driver's only symbol for tests. dlsym finds it.
constexpr const char* fault_control_symbol = "crisol_fault_control";
using FaultControlFunction = FaultControl* (*)();

}  // namespace crisol::testing
