#include "dist/links/link.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include "dist/part.h"

namespace crisol::dist {

namespace {

// The limit for a piece: MPI takes lengths as int, and a piece needs scratch memory of its own size.
constexpr std::size_t piece_bytes = std::size_t{64} << 20;
// Below this size, one round is faster than two. In one round each rank sums everything. In two rounds each rank sums a
// part.
constexpr std::size_t small_bytes = std::size_t{32} << 10;
/// The parts of `count` elements, one for each rank, in bytes.
struct Parts {
  std::vector<int> sizes, places;
  Parts(std::size_t count, std::size_t element, int world) {
    for (int r = 0; r < world; ++r) {
      const Part part = part_of_rank(count, r, world);
      sizes.push_back(static_cast<int>(part.count * element));
      places.push_back(static_cast<int>(part.begin * element));
    }
  }
};

// Pointers to parts that follow each other in memory.
std::vector<const std::byte*> parts_from(const std::byte* first, std::size_t bytes, std::size_t ranks) {
  std::vector<const std::byte*> parts;
  for (std::size_t r = 0; r < ranks; ++r) parts.push_back(first + r * bytes);
  return parts;
}

}  // namespace

Link::Link(MPI_Comm comm, MPI_Comm notes, SharedMemory* memory, Heartbeat& heartbeat, const std::atomic<int>& urgent)
    : comm_(comm), notes_(notes), heartbeat_(heartbeat), urgent_(urgent) {
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &world_), "MPI_Comm_size");
  if (memory != nullptr) local_.emplace(*memory, heartbeat_);
  notes_of_all_.resize(static_cast<std::size_t>(world_));
}

void Link::wait(const std::function<bool()>& done) {
  using namespace std::chrono_literals;
  constexpr int eager_tests = 200;
  for (int tests = 0; !done(); ++tests) {
    heartbeat_.beat();
    if (urgent_.load(std::memory_order_relaxed) > 0 && tests < 100 * eager_tests)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(tests < eager_tests ? 20us : 200us);
  }
}

void Link::wait(MPI_Request request) {
  wait([&] {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  });
}

std::byte* Link::scratch(std::size_t bytes) {
  if (scratch_.size() < bytes) scratch_.resize(bytes);
  return scratch_.data();
}

void Link::gather_piece(const void* own, std::size_t bytes, void* all) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int size = static_cast<int>(bytes);
  const bool in_place = own == static_cast<std::byte*>(all) + bytes * static_cast<std::size_t>(rank_);
  check_mpi(MPI_Iallgather(in_place ? MPI_IN_PLACE : own, size, MPI_BYTE, all, size, MPI_BYTE, comm_, &request),
            "MPI_Iallgather");
  wait(request);
}

void Link::begin_note(char own) {
  own_note_ = own;
  if (!local_)
    check_mpi(MPI_Iallgather(&own_note_, 1, MPI_BYTE, notes_of_all_.data(), 1, MPI_BYTE, notes_, &note_),
              "MPI_Iallgather");
}

std::vector<char> Link::end_note() {
  if (local_)
    all_gather(&own_note_, 1, notes_of_all_.data());
  else
    wait(std::exchange(note_, MPI_REQUEST_NULL));
  return notes_of_all_;
}

std::vector<std::string> Link::gather_text(const std::string& own) {
  std::vector<std::size_t> sizes(static_cast<std::size_t>(world_));
  const std::size_t size = own.size();
  all_gather(&size, sizeof size, sizes.data());
  const std::size_t longest = *std::max_element(sizes.begin(), sizes.end());
  std::string padded = own, joined(longest * sizes.size(), ' ');
  padded.resize(longest);
  all_gather(padded.data(), longest, joined.data());
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < sizes.size(); ++r) texts.push_back(joined.substr(r * longest, sizes[r]));
  return texts;
}

void Link::all_reduce(std::byte* data, std::size_t count, ReduceOp op, DType dtype,
                      const std::vector<double>& weights) {
  if (world_ == 1) return;
  if (local_) return local_->all_reduce(data, count, op, dtype, weights);
  const std::size_t element = size_of(dtype), piece = piece_bytes / element;
  for (std::size_t first = 0; first < count; first += piece)
    all_reduce_piece(data + first * element, std::min(piece, count - first), op, dtype, weights);
}

// Each rank sums one part of the elements, in the order of the ranks, and gives the sums to all. So the sums depend
// neither on the MPI library nor on how the elements are cut.
void Link::all_reduce_piece(std::byte* data, std::size_t count, ReduceOp op, DType dtype,
                            const std::vector<double>& weights) {
  const std::size_t element = size_of(dtype), bytes = count * element, ranks = static_cast<std::size_t>(world_);
  if (bytes * ranks <= small_bytes) {
    std::byte* const all = scratch(bytes * ranks);
    gather_piece(data, bytes, all);
    return fold(op, dtype, count, parts_from(all, bytes, ranks), weights, {data});
  }
  const Parts parts(count, element, world_);
  const auto own = static_cast<std::size_t>(rank_);
  const std::vector<int> own_sizes(ranks, parts.sizes[own]);
  std::vector<int> own_places;
  own_places.reserve(ranks);
  for (int r = 0; r < world_; ++r) own_places.push_back(r * parts.sizes[own]);
  std::byte* const received = scratch(ranks * static_cast<std::size_t>(parts.sizes[own]));
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ialltoallv(data, parts.sizes.data(), parts.places.data(), MPI_BYTE, received, own_sizes.data(),
                           own_places.data(), MPI_BYTE, comm_, &request),
            "MPI_Ialltoallv");
  wait(request);
  const auto own_bytes = static_cast<std::size_t>(parts.sizes[own]);
  fold(op, dtype, own_bytes / element, parts_from(received, own_bytes, ranks), weights, {data + parts.places[own]});
  check_mpi(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, data, parts.sizes.data(), parts.places.data(), MPI_BYTE, comm_,
                            &request),
            "MPI_Iallgatherv");
  wait(request);
}

void Link::reduce_scatter(const std::byte* data, std::size_t count, ReduceOp op, DType dtype,
                          const std::vector<double>& weights, std::byte* result) {
  if (local_) return local_->reduce_scatter(data, count, op, dtype, weights, result);
  const std::size_t element = size_of(dtype), ranks = static_cast<std::size_t>(world_);
  const std::size_t piece = std::max<std::size_t>(piece_bytes / element / ranks / 2, 1);
  for (std::size_t first = 0; first < count; first += piece) {
    const std::size_t size = std::min(piece, count - first);
    const std::vector<int> sizes(ranks, static_cast<int>(size * element));
    std::vector<int> to;
    std::byte* const received = scratch(2 * ranks * size * element);
    for (std::size_t r = 0; r < ranks; ++r) to.push_back(static_cast<int>(r * size * element));
    // The parts are `count` elements apart. MPI takes distances as int, and `count` may be larger. So the parts are
    // packed first.
    std::byte* const packed = received + ranks * size * element;
    for (std::size_t r = 0; r < ranks; ++r)
      std::memcpy(packed + r * size * element, data + (r * count + first) * element, size * element);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ialltoallv(packed, sizes.data(), to.data(), MPI_BYTE, received, sizes.data(), to.data(), MPI_BYTE,
                             comm_, &request),
              "MPI_Ialltoallv");
    wait(request);
    fold(op, dtype, size, parts_from(received, size * element, ranks), weights, {result + first * element});
  }
}

void Link::all_gather(const void* own, std::size_t bytes, void* all) {
  const auto* const from = static_cast<const std::byte*>(own);
  auto* const to = static_cast<std::byte*>(all);
  if (local_) return local_->all_gather(from, bytes, to);
  const std::size_t ranks = static_cast<std::size_t>(world_), piece = std::max<std::size_t>(piece_bytes / ranks, 1);
  if (bytes <= piece) return gather_piece(own, bytes, all);
  for (std::size_t first = 0; first < bytes; first += piece) {
    const std::size_t size = std::min(piece, bytes - first);
    std::byte* const received = scratch(ranks * size);
    gather_piece(from + first, size, received);
    for (std::size_t r = 0; r < ranks; ++r) std::memcpy(to + r * bytes + first, received + r * size, size);
  }
}

void Link::broadcast(std::byte* data, std::size_t bytes, int root) {
  for (std::size_t first = 0; first < bytes; first += piece_bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibcast(data + first, static_cast<int>(std::min(piece_bytes, bytes - first)), MPI_BYTE, root, comm_,
                         &request),
              "MPI_Ibcast");
    wait(request);
  }
}

void Link::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
  wait(request);
}

}  // namespace crisol::dist
