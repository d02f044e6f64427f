// The cost of a launch and of a copy.
#include "cli/bench/groups.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/profile.h"
#include "crisol/random.h"

namespace crisol::cli::bench {

namespace {

Work prepare_launch(const Values& v) {
  Work work;
  if (v.is("what", "kernel")) {
    work.run = [] { launch_empty(); };
  } else {
    const Tensor a = ones({16}), b = ones({16});
    work.run = [=] { ops::add(a, b); };
  }
  return work;
}

Work prepare_copy(const Values& v) {
  const std::int64_t bytes = v.number("bytes");
  Tensor x = zeros({bytes}, DType::u8);
  const auto host = std::make_shared<std::vector<std::uint8_t>>(static_cast<std::size_t>(bytes));
  Work work;
  work.bytes = static_cast<double>(bytes);
  if (v.is("dir", "h2d")) {
    work.run = [=]() mutable { x.copy_from(*host); };
  } else if (v.is("dir", "d2h")) {
    work.run = [=] { x.read_bytes(host->data()); };
  } else {
    const Tensor y = zeros({bytes}, DType::u8);
    work.bytes *= 2;
    work.run = [=] { ops::copy_into(y, x); };
  }
  return work;
}

}  // namespace

const Case launch_case{"launch",
                       "the cost of a launch: with wait=0 of one among many queued, with wait=1 until it is done",
                       {{"what", "kernel", "kernel|op", "an empty kernel, or an eager sum of 16 elements"}},
                       prepare_launch};

const Case copy_case{"copy",
                     "copies between the host and the device; within the device both reading and writing count",
                     {{"bytes", "67108864", ">=1", ""}, {"dir", "d2d", "h2d|d2h|d2d", "h is the host, d the device"}},
                     prepare_copy};

}  // namespace crisol::cli::bench
