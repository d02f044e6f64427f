// Assignment of buffers: a new tensor, which all handles of the module see.
#include "crisol/autograd.h"
#include "crisol/capture.h"
#include "crisol/functions/elementwise.h"
#include "crisol/nn/module.h"
#include "crisol/nn/norm.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

using Values = std::vector<float>;

struct Counter : nn::Module {
  Counter() { register_buffer("table", table); }
  nn::Buffer table{zeros({2})};
};

}  // namespace

TEST_CASE("an assigned buffer is a new tensor for all handles of the module") {
  Counter counter;
  Counter handle = counter;
  const Tensor before = counter.table, row = counter.table[0], detached = counter.table.detach();
  Tensor assigned;
  assigned = counter.table;
  const NamedTensors state = counter.state_dict();
  counter.table = counter.table + 1;
  for (const Tensor& taken : {before, detached, assigned}) CHECK(taken.to_vector<float>() == Values{0, 0});
  CHECK(row.item() == 0.0f);
  CHECK(state["table"].to_vector<float>() == Values{0, 0});
  CHECK(handle.table.to_vector<float>() == Values{1, 1});
  CHECK(counter.buffer("table").to_vector<float>() == Values{1, 1});
  CHECK(counter.named_buffers()[0].second.to_vector<float>() == Values{1, 1});
  // A write in place reaches what was taken since.
  Tensor taken = counter.table;
  taken.fill_(7);
  CHECK(handle.table.to_vector<float>() == Values{7, 7});
  counter.table = taken;  // The same elements: nothing changes.
  CHECK(counter.table.shares_storage_with(taken));
}

TEST_CASE("an assigned buffer does not follow its value, and refuses one that wants a gradient") {
  Counter counter;
  Tensor value = ones({2});
  counter.table = value;
  value.fill_(5);
  CHECK(counter.table.to_vector<float>() == Values{1, 1});
  const Tensor w = ones({2}).requires_grad_();
  check_error([&] { counter.table = w; }, {"[Buffer]", "wants a gradient", "detach()"});
  check_error([&] { counter.table = w * 1; }, {"[Buffer]", "detach()"});
  const NoGrad no_grad;
  counter.table = w;
  CHECK_FALSE(counter.table.requires_grad());
}

TEST_CASE("a graph that needs the old elements of an assigned buffer can run backward") {
  Counter counter;
  counter.table = full({2}, 3);
  const Tensor w = ones({2}).requires_grad_();
  const Tensor y = w * counter.table;
  counter.table = full({2}, 4);
  y.backward(ones({2}));
  CHECK(w.grad().to_vector<float>() == Values{3, 3});
}

TEST_CASE("each replay of a captured assignment finds the last value") {
  Counter counter;
  const auto work = [&] { counter.table = counter.table + 1; };
  work();
  const CapturedGraph graph = capture(work);
  graph.replay();
  graph.replay();
  CHECK(counter.table.to_vector<float>() == Values{4, 4});
}
