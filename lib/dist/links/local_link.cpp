#include "dist/links/local_link.h"

#include <algorithm>
#include <cstring>

#include "dist/part.h"

namespace crisol::dist {

namespace {

constexpr std::size_t slot_bytes = SharedMemory::slot_bytes;
// Below this size, one round in which each rank sums everything is faster than several rounds with a part for each
// rank.
constexpr std::size_t small_local_bytes = std::size_t{32} << 10;
// The number of rounds between two steps of a chunk, if there are many chunks.
constexpr std::uint32_t usual_distance = 2;
static_assert(SharedMemory::slots > 2 * usual_distance, "a slot is used again when the last step of its chunk is done");

enum class Function : std::uint8_t { all_reduce, all_reduce_at_once, reduce_scatter, all_gather };

// A number that identifies a call. Ranks compare the numbers, to find ranks that make different calls. Sizes count
// modulo 2^20.
std::uint32_t exchange_of(Function function, std::size_t count, ReduceOp op = ReduceOp::sum, DType dtype = DType::u8) {
  static_assert(sizeof(DType) == 1);
  const auto kind = static_cast<std::uint32_t>(function) << 10 | static_cast<std::uint32_t>(op) << 8 |
                    static_cast<std::uint32_t>(dtype);
  return kind << 20 | static_cast<std::uint32_t>(count % (1u << 20));
}

std::size_t chunks_of(std::size_t size, std::size_t chunk) { return (size + chunk - 1) / chunk; }

}  // namespace

template <class Byte>
std::vector<Byte*> LocalLink::places(std::uint32_t round, std::size_t offset, Byte* own) const {
  std::vector<Byte*> all;
  all.reserve(static_cast<std::size_t>(memory_.ranks()));
  for (int r = 0; r < memory_.ranks(); ++r) all.push_back(r == memory_.rank() ? own : memory_.slot(r, round) + offset);
  return all;
}

// In round R, a rank has seen that all other ranks ended R + 1 - distance rounds. So a step sees what the others wrote
// `distance` rounds before. The last access of another rank to a slot is at most 2 · distance rounds after the chunk
// was copied in.
void LocalLink::run(std::uint32_t exchange, std::size_t chunks, const Step& copy_in, const std::vector<Step>& then) {
  const std::uint32_t distance = chunks > usual_distance ? usual_distance : 1;
  const std::size_t rounds = chunks + then.size() * distance;
  for (std::size_t i = 0; i < rounds; ++i) {
    const std::uint32_t round = memory_.round();
    memory_.wait_for(round + 1 - distance, heartbeat_);
    if (i < chunks) copy_in(i, round);
    for (std::size_t step = 0; step < then.size(); ++step) {
      const std::size_t before = (step + 1) * distance;
      if (i >= before && i - before < chunks) then[step](i - before, round - static_cast<std::uint32_t>(before));
    }
    memory_.end_round(exchange);
  }
}

void LocalLink::all_reduce_at_once(std::byte* data, std::size_t count, ReduceOp op, DType dtype,
                                   const std::vector<double>& weights) {
  const std::uint32_t round = memory_.round();
  memory_.wait_for(round, heartbeat_);
  std::memcpy(memory_.slot(memory_.rank(), round), data, count * size_of(dtype));
  memory_.end_round(exchange_of(Function::all_reduce_at_once, count, op, dtype));
  memory_.wait_for(round + 1, heartbeat_);
  fold(op, dtype, count, places<const std::byte>(round, 0, data), weights, {data});
}

// Each rank sums its part of each chunk, and writes the sums to the slots of all ranks.
void LocalLink::all_reduce(std::byte* data, std::size_t count, ReduceOp op, DType dtype,
                           const std::vector<double>& weights) {
  if (count == 0) return;
  const std::size_t element = size_of(dtype), chunk = slot_bytes / element;
  const int ranks = memory_.ranks(), own = memory_.rank();
  if (count * element * static_cast<std::size_t>(ranks) <= small_local_bytes)
    return all_reduce_at_once(data, count, op, dtype, weights);
  const auto part = [&](std::size_t number, int rank) {
    return part_of_rank(std::min(chunk, count - number * chunk), rank, ranks);
  };
  // Copies between the data and this rank's slot. Leaves out the part that this rank sums itself.
  const auto copy_others = [&](std::size_t number, const auto& copy) {
    const Part sums = part(number, own);
    const std::size_t size = std::min(chunk, count - number * chunk), end = sums.begin + sums.count;
    copy(number * slot_bytes, std::size_t{0}, sums.begin * element);
    copy(number * slot_bytes, end * element, (size - end) * element);
  };
  run(exchange_of(Function::all_reduce, count, op, dtype), chunks_of(count, chunk),
      [&](std::size_t number, std::uint32_t round) {
        std::byte* const slot = memory_.slot(own, round);
        copy_others(number, [&](std::size_t place, std::size_t begin, std::size_t bytes) {
          std::memcpy(slot + begin, data + place + begin, bytes);
        });
      },
      {[&](std::size_t number, std::uint32_t round) {
         const Part sums = part(number, own);
         std::byte* const at = data + number * slot_bytes + sums.begin * element;
         fold(op, dtype, sums.count, places<const std::byte>(round, sums.begin * element, at), weights,
              places<std::byte>(round, sums.begin * element, at));
       },
       [&](std::size_t number, std::uint32_t round) {
         const std::byte* const slot = memory_.slot(own, round);
         copy_others(number, [&](std::size_t place, std::size_t begin, std::size_t bytes) {
           std::memcpy(data + place + begin, slot + begin, bytes);
         });
       }});
}

void LocalLink::reduce_scatter(const std::byte* data, std::size_t count, ReduceOp op, DType dtype,
                               const std::vector<double>& weights, std::byte* result) {
  const std::size_t element = size_of(dtype), ranks = static_cast<std::size_t>(memory_.ranks());
  const auto own = static_cast<std::size_t>(memory_.rank());
  const std::size_t chunk = std::max<std::size_t>(slot_bytes / element / ranks, 1);
  const auto bytes_of = [&](std::size_t number) { return std::min(chunk, count - number * chunk) * element; };
  const auto place = [&](std::size_t rank, std::size_t number) { return (rank * count + number * chunk) * element; };
  run(exchange_of(Function::reduce_scatter, count, op, dtype), chunks_of(count, chunk),
      [&](std::size_t number, std::uint32_t round) {
        std::byte* const slot = memory_.slot(memory_.rank(), round);
        for (std::size_t r = 0; r < ranks; ++r)
          if (r != own) std::memcpy(slot + r * chunk * element, data + place(r, number), bytes_of(number));
      },
      {[&](std::size_t number, std::uint32_t round) {
        fold(op, dtype, bytes_of(number) / element,
             places<const std::byte>(round, own * chunk * element, data + place(own, number)), weights,
             {result + number * chunk * element});
      }});
}

void LocalLink::all_gather(const std::byte* own, std::size_t bytes, std::byte* all) {
  const auto bytes_of = [&](std::size_t number) { return std::min(slot_bytes, bytes - number * slot_bytes); };
  run(exchange_of(Function::all_gather, bytes), chunks_of(bytes, slot_bytes),
      [&](std::size_t number, std::uint32_t round) {
        std::memcpy(memory_.slot(memory_.rank(), round), own + number * slot_bytes, bytes_of(number));
      },
      {[&](std::size_t number, std::uint32_t round) {
        const std::vector<const std::byte*> from = places<const std::byte>(round, 0, own + number * slot_bytes);
        for (std::size_t r = 0; r < from.size(); ++r)
          if (std::byte* const to = all + r * bytes + number * slot_bytes; to != from[r])
            std::memcpy(to, from[r], bytes_of(number));
      }});
}

}  // namespace crisol::dist
