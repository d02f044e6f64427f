// The exchange by shared memory against the exchange by MPI: the same bits, whatever the sizes are.
#include <mpi.h>

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "crisol/dist.h"
#include "dist/links/link.h"
#include "doctest/doctest.h"

using namespace crisol;
using dist::ReduceOp;

namespace {

using Bytes = std::vector<std::byte>;

/// A link of its own between all ranks of the run.
class OwnLink {
 public:
  explicit OwnLink(bool shares) {
    for (MPI_Comm* const comm : {&comm_, &notes_, &beats_, &local_}) MPI_Comm_dup(MPI_COMM_WORLD, comm);
    std::string reason;
    if (shares) memory_ = dist::SharedMemory::open(local_, reason);
    CAPTURE(reason);
    REQUIRE((memory_ != nullptr) == shares);
    heartbeat_ = std::make_unique<dist::Heartbeat>(beats_, 0, nullptr);
    link_ = std::make_unique<dist::Link>(comm_, notes_, memory_.get(), *heartbeat_, urgent_);
  }
  ~OwnLink() {
    memory_.reset();
    for (MPI_Comm* const comm : {&comm_, &notes_, &beats_, &local_}) MPI_Comm_free(comm);
  }
  dist::Link* operator->() { return link_.get(); }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL, notes_ = MPI_COMM_NULL, beats_ = MPI_COMM_NULL, local_ = MPI_COMM_NULL;
  std::unique_ptr<dist::SharedMemory> memory_;
  std::unique_ptr<dist::Heartbeat> heartbeat_;
  const std::atomic<int> urgent_{0};
  std::unique_ptr<dist::Link> link_;
};

// Numbers that add up to other bits in another order.
Bytes values_of(DType dtype, std::size_t count, int rank) {
  Bytes bytes(count * size_of(dtype));
  std::uint32_t state = 17u + static_cast<std::uint32_t>(rank) * 7919u;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    const float real = static_cast<float>(state >> 8) / 65536.0f - 100.0f;
    const Half half(real);
    const std::uint64_t whole = dtype == DType::boolean ? state >> 31 : std::uint64_t{state} * 2654435761u;
    const void* const from = dtype == DType::f32   ? static_cast<const void*>(&real)
                             : dtype == DType::f16 ? static_cast<const void*>(&half)
                                                   : &whole;
    std::memcpy(bytes.data() + i * size_of(dtype), from, size_of(dtype));
  }
  return bytes;
}

// Each time another rank is late.
void be_late_in_turns() {
  static int turn = 0;
  if (++turn % dist::world() == dist::rank()) std::this_thread::sleep_for(std::chrono::microseconds(turn * 37 % 900));
}

Bytes all_reduced(OwnLink& link, DType dtype, std::size_t count, ReduceOp op, const std::vector<double>& weights) {
  Bytes data = values_of(dtype, count, dist::rank());
  be_late_in_turns();
  link->all_reduce(data.data(), count, op, dtype, weights);
  return data;
}

Bytes reduced_and_scattered(OwnLink& link, DType dtype, std::size_t count, ReduceOp op,
                            const std::vector<double>& weights) {
  const Bytes data = values_of(dtype, count * static_cast<std::size_t>(dist::world()), dist::rank());
  Bytes own(count * size_of(dtype));
  be_late_in_turns();
  link->reduce_scatter(data.data(), count, op, dtype, weights, own.data());
  return own;
}

}  // namespace

TEST_CASE("dist: ranks that share memory get the bits of ranks that exchange by MPI") {
  OwnLink shared(true), separate(false);
  std::vector<double> weights;
  for (int r = 0; r < dist::world(); ++r) weights.push_back(0.1 + 0.3 * r);
  for (const std::size_t count : {0, 1, 7, 4097, 65541, 1000003})
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::i64, DType::u8, DType::boolean})
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::max}) {
        if (op == ReduceOp::mean && !is_floating(dtype)) continue;
        CAPTURE(count);
        CAPTURE(name_of(dtype));
        const bool is_weighted = op == ReduceOp::sum && (dtype == DType::f32 || dtype == DType::f64);
        const std::vector<double> factors = is_weighted ? weights : std::vector<double>();
        CHECK(all_reduced(shared, dtype, count, op, factors) == all_reduced(separate, dtype, count, op, factors));
        CHECK(reduced_and_scattered(shared, dtype, count / 3, op, factors) ==
              reduced_and_scattered(separate, dtype, count / 3, op, factors));
      }
}

TEST_CASE("dist: ranks that share memory gather bytes, notes and texts") {
  OwnLink shared(true);
  const auto ranks = static_cast<std::size_t>(dist::world());
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{8193}, std::size_t{3000001}}) {
    CAPTURE(bytes);
    const Bytes own = values_of(DType::u8, bytes, dist::rank());
    Bytes all(bytes * ranks), expected, in_place(bytes * ranks);
    for (int r = 0; r < dist::world(); ++r) {
      const Bytes theirs = values_of(DType::u8, bytes, r);
      expected.insert(expected.end(), theirs.begin(), theirs.end());
    }
    be_late_in_turns();
    shared->all_gather(own.data(), bytes, all.data());
    CHECK(all == expected);
    std::byte* const place = in_place.data() + bytes * static_cast<std::size_t>(dist::rank());
    std::copy(own.begin(), own.end(), place);
    shared->all_gather(place, bytes, in_place.data());
    CHECK(in_place == expected);
  }
  for (int step = 0; step < 20; ++step) {
    shared->begin_note(static_cast<char>(step + dist::rank()));
    be_late_in_turns();
    const std::vector<char> notes = shared->end_note();
    REQUIRE(notes.size() == ranks);
    for (std::size_t r = 0; r < ranks; ++r) CHECK(notes[r] == static_cast<char>(step + static_cast<int>(r)));
  }
  const auto text_of = [](int rank) { return std::string(static_cast<std::size_t>(rank) * 300000, 'a') + "end"; };
  const std::vector<std::string> texts = shared->gather_text(text_of(dist::rank()));
  REQUIRE(texts.size() == ranks);
  for (int r = 0; r < dist::world(); ++r) CHECK((texts[static_cast<std::size_t>(r)] == text_of(r)));
}

#ifdef __linux__
TEST_CASE("dist: if one rank cannot share memory, no rank does, and the reason is there") {
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &local);
  const auto reason_with = [&](auto resource, rlim_t most, int rank) {
    rlimit before{};
    REQUIRE(getrlimit(resource, &before) == 0);
    rlimit limit = before;
    limit.rlim_cur = most;
    std::string reason;
    if (dist::rank() == rank) REQUIRE(setrlimit(resource, &limit) == 0);
    const auto memory = dist::SharedMemory::open(local, reason);
    REQUIRE(setrlimit(resource, &before) == 0);
    CHECK(memory == nullptr);
    return reason;
  };
  void (*const before)(int) = std::signal(SIGXFSZ, SIG_IGN);
  CHECK(reason_with(RLIMIT_FSIZE, 65536, 0) == std::generic_category().message(EFBIG));
  std::signal(SIGXFSZ, before);
  const int last = dist::world() - 1;
  const int next_file = dup(0);
  close(next_file);
  CHECK(reason_with(RLIMIT_NOFILE, static_cast<rlim_t>(next_file), last) == std::generic_category().message(EMFILE));
  std::string reason;
  CHECK(dist::SharedMemory::open(local, reason) != nullptr);
  CHECK(reason.empty());
  MPI_Comm_free(&local);
}
#endif
