#include "runtime/profiler.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <ostream>

#include "runtime/device/device_state.h"

namespace crisol {

namespace runtime {

void Profiler::record(const std::string& kernel, cl::Event event) {
  const std::lock_guard lock(mutex_);
  pending_.push_back({kernel, std::move(event)});
}

void Profiler::drain() {
  const std::lock_guard lock(mutex_);
  for (const Pending& p : pending_) {
    // The queue is empty, but rusticl marks events as complete a little later.
    p.event.wait();
    cl_int start_error = CL_SUCCESS, end_error = CL_SUCCESS;
    const cl_ulong start = p.event.getProfilingInfo<CL_PROFILING_COMMAND_START>(&start_error);
    const cl_ulong end = p.event.getProfilingInfo<CL_PROFILING_COMMAND_END>(&end_error);
    if (start_error == CL_SUCCESS && end_error == CL_SUCCESS)
      timed_.push_back({p.kernel, static_cast<double>(end - start) * 1e-6});
  }
  pending_.clear();
}

std::size_t Profiler::count() const {
  const std::lock_guard lock(mutex_);
  return timed_.size();
}

std::vector<ProfileRow> Profiler::rows_since(std::size_t first) const {
  std::map<std::string, ProfileRow> by_kernel;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = first; i < timed_.size(); ++i) {
      ProfileRow& row = by_kernel[timed_[i].kernel];
      row.min_ms = row.launches == 0 ? timed_[i].ms : std::min(row.min_ms, timed_[i].ms);
      row.max_ms = std::max(row.max_ms, timed_[i].ms);
      row.total_ms += timed_[i].ms;
      ++row.launches;
    }
  }
  std::vector<ProfileRow> rows;
  for (auto& [kernel, row] : by_kernel) {
    row.kernel = kernel;
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.total_ms > b.total_ms; });
  return rows;
}

void print_profile(std::ostream& out, const std::vector<ProfileRow>& rows) {
  double total = 0;
  std::size_t width = 6;
  for (const ProfileRow& row : rows) {
    total += row.total_ms;
    width = std::max(width, row.kernel.size());
  }
  const auto flags = out.flags();
  const auto precision = out.precision();
  out << std::left << std::setw(static_cast<int>(width)) << "kernel" << std::right << std::setw(10) << "launches"
      << std::setw(12) << "total ms" << std::setw(11) << "mean us" << std::setw(9) << "share" << '\n'
      << std::fixed;
  for (const ProfileRow& row : rows)
    out << std::left << std::setw(static_cast<int>(width)) << row.kernel << std::right << std::setw(10) << row.launches
        << std::setw(12) << std::setprecision(3) << row.total_ms << std::setw(11) << std::setprecision(1)
        << row.total_ms * 1e3 / static_cast<double>(row.launches) << std::setw(8) << std::setprecision(1)
        << (total > 0 ? 100 * row.total_ms / total : 0) << "%\n";
  out.flags(flags);
  out.precision(precision);
}

}  // namespace runtime

Profile::Profile(Device device) : device_(device) {
  runtime::DeviceState& state = device_.state();
  try {
    if (state.profiler().start())
      state.set_profiling(true);
    else
      state.finish();  // Work that was queued before belongs only to the outer profile.
  } catch (...) {
    state.profiler().stop();
    throw;
  }
  first_ = state.profiler().count();
}

Profile::~Profile() {
  runtime::DeviceState& state = device_.state();
  try {
    if (state.profiler().stop()) state.set_profiling(false);
  } catch (const std::exception&) {
    // The device failed. The next use of the device reports the error.
  }
}

std::vector<ProfileRow> Profile::rows() const {
  device_.state().finish();
  return device_.state().profiler().rows_since(first_);
}

std::ostream& operator<<(std::ostream& out, const Profile& profile) {
  runtime::print_profile(out, profile.rows());
  return out;
}

}  // namespace crisol
