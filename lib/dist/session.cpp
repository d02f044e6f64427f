#include "dist/session.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

#include "crisol/device.h"
#include "crisol/version.h"
#include "dist/cores.h"
#include "dist/device_choice.h"

namespace crisol::dist {

namespace {

constexpr const char* init_op = "dist::init";

/// Only finish() destroys it, because code at the end of the process looks for it.
Session* session = nullptr;

// Seconds without a sign of life after which a rank counts as dead.
int silence_limit() {
  constexpr int usual = 8;
  const char* const text = std::getenv("CRISOL_DIST_TIMEOUT");
  if (text == nullptr) return usual;
  const std::string_view digits(text);
  int seconds = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  require(error == std::errc() && end == digits.data() + digits.size() && seconds >= 0, init_op,
          "CRISOL_DIST_TIMEOUT is '", digits, "', and must be a number of seconds from 0");
  return seconds;
}

bool wants_shared_memory() {
  const char* const text = std::getenv("CRISOL_DIST_SHARED");
  if (text == nullptr) return true;
  const std::string_view choice(text);
  require(choice == "0" || choice == "1", init_op, "CRISOL_DIST_SHARED is '", choice, "', and must be 0 or 1");
  return choice == "1";
}

/// Prints and ends all ranks.
[[noreturn]] void end_run(const std::string& text) noexcept {
  std::fflush(nullptr);
  std::fprintf(stderr, "crisol: %s\n", text.c_str());
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

[[noreturn]] void end_for_uncaught_exception() noexcept {
  std::string reason = "std::terminate was called";
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::exception& error) {
    reason = std::string("an exception that nobody caught: ") + error.what();
  } catch (...) {
    reason = "an exception that nobody caught";
  }
  fail(reason);
}

void end_of_process() noexcept {
  if (session != nullptr) fail("the program ended before dist::finish()");
}

}  // namespace

Session& Session::get(const char* op) {
  require(session != nullptr, op, "there is no run: call dist::init() first");
  return *session;
}

Session::Session() {
  open();
  read_places();
  choose_resources();
  share_memory();
  const auto silent = [this](int rank, int seconds) {
    end_run(concat(name_of(rank), " has given no sign of life for ", seconds, " seconds; ", name_of(rank_),
                   " ends the run"));
  };
  const auto broken = [](const char* text) { fail(concat("an exchange with the other ranks failed: ", text)); };
  worker_ = std::make_unique<Worker>(comm_, notes_, beats_, memory_.get(), silence_limit(), silent, broken);
}

void Session::open() {
  int started = 0, ended = 0, level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Finalized(&ended), "MPI_Finalized");
  require(ended == 0, init_op, "MPI was ended before, and cannot start again in this process");
  check_mpi(MPI_Initialized(&started), "MPI_Initialized");
  if (started == 0) {
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread");
    owns_mpi_ = true;
    // MPI reports errors of requests to this communicator's handler. The default handler would end the run without our
    // message.
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  } else {
    check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  }
  require(level >= MPI_THREAD_SERIALIZED, init_op,
          "this MPI was started for one thread alone; MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE is needed");
  for (MPI_Comm* const comm : {&comm_, &notes_, &beats_}) {
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, comm), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &world_), "MPI_Comm_size");
}

// Reads the machine and the library version of each rank.
void Session::read_places() {
  constexpr std::size_t version_bytes = 32;
  struct Place {
    char host[MPI_MAX_PROCESSOR_NAME + 1], version[version_bytes];
  } own{};
  int length = 0;
  check_mpi(MPI_Get_processor_name(own.host, &length), "MPI_Get_processor_name");
  std::snprintf(own.version, version_bytes, "%s", version());
  std::vector<Place> all(static_cast<std::size_t>(world_));
  check_mpi(MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm_), "MPI_Allgather");
  for (const Place& place : all) hosts_.emplace_back(place.host);
  for (int r = 0; r < world_; ++r)
    require(std::string_view(all[static_cast<std::size_t>(r)].version) == all[0].version, init_op, name_of(r),
            " has version ", all[static_cast<std::size_t>(r)].version, " of the library, ", name_of(0), " has ",
            all[0].version);
  check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local_), "MPI_Comm_split_type");
  check_mpi(MPI_Comm_set_errhandler(local_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(local_, &local_rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(local_, &local_world_), "MPI_Comm_size");
  const CoreSet cores = own_cores();
  std::vector<CoreSet> theirs(static_cast<std::size_t>(local_world_));
  check_mpi(MPI_Allgather(&cores, sizeof cores, MPI_BYTE, theirs.data(), sizeof cores, MPI_BYTE, local_),
            "MPI_Allgather");
  // This must come before a driver starts its threads.
  use_cores(share_of_cores(theirs, local_rank_));
}

void Session::choose_resources() const {
  const auto fits = [](const std::string& spec) {
    try {
      Device device(spec);
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::device_not_found) throw;
      return false;
    }
  };
  const char* const wanted = std::getenv("CRISOL_DEVICE");
  const std::string spec = device_of_rank(wanted == nullptr ? "" : wanted, local_rank_, fits);
  if (!spec.empty()) set_default_device(Device(spec));
}

// If all ranks run on one machine, they exchange by shared memory.
void Session::share_memory() {
  int wanted = wants_shared_memory() ? 1 : 0, all_want = 0;
  check_mpi(MPI_Allreduce(&wanted, &all_want, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  if (all_want == 0 || world_ == 1 || local_world_ != world_) return;
  std::string reason;
  memory_ = SharedMemory::open(local_, reason);
  if (memory_ == nullptr && rank_ == 0)
    std::fprintf(stderr, "crisol: the ranks exchange by MPI alone, because they cannot share memory: %s\n",
                 reason.c_str());
}

std::string Session::name_of(int rank) const {
  const auto index = static_cast<std::size_t>(rank);
  return concat("rank ", rank, " of ", world_, index < hosts_.size() ? " (" + hosts_[index] + ")" : "");
}

void Session::require_same(const char* op, const char* what, const std::string& text) {
  std::vector<std::string> all;
  worker_->run([&](Link& link) { all = link.gather_text(text); });
  if (std::count(all.begin(), all.end(), all[0]) == world_) return;
  std::string ranks;
  for (int r = 0; r < world_; ++r)
    ranks += concat(r == 0 ? "" : "; ", "rank ", r, ": ", all[static_cast<std::size_t>(r)]);
  require(false, op, "the ranks differ in ", what, ": ", ranks);
}

void Session::end() {
  worker_->run([](Link& link) { link.barrier(); });
  worker_.reset();
  memory_.reset();
  for (MPI_Comm* const comm : {&comm_, &notes_, &beats_, &local_}) check_mpi(MPI_Comm_free(comm), "MPI_Comm_free");
  if (owns_mpi_) check_mpi(MPI_Finalize(), "MPI_Finalize");
}

void init() {
  require(session == nullptr, init_op, "it was called before");
  session = new Session();
  static const bool once = [] {
    std::set_terminate(end_for_uncaught_exception);
    std::atexit(end_of_process);
    return true;
  }();
  static_cast<void>(once);
}

void finish() {
  Session::get("dist::finish").end();
  delete std::exchange(session, nullptr);
}

bool initialized() noexcept { return session != nullptr; }

void fail(const std::string& reason) noexcept {
  end_run(concat(session == nullptr ? std::string("a process outside a run") : session->name_of(session->rank()),
                 " ended the run: ", reason));
}

int rank() { return Session::get("dist::rank").rank(); }
int world() { return Session::get("dist::world").world(); }
int local_rank() { return Session::get("dist::local_rank").local_rank(); }
int local_world() { return Session::get("dist::local_world").local_world(); }

void barrier() {
  constexpr const char* op = "barrier";
  Session::get(op).require_same(op, "what they call", op);  // The comparison waits for all ranks.
}

}  // namespace crisol::dist
