// HostAccess: the host reads and writes elements while the device works on.
#include "crisol/host_access.h"

#include <cstring>
#include <thread>
#include <vector>

#include "crisol/capture.h"
#include "crisol/crisol.h"
#include "doctest/doctest.h"

using namespace crisol;

TEST_CASE("host access: reads what was queued, and later work sees what the host wrote") {
  Tensor whole = arange(0, 1000);
  Tensor part = whole.narrow(0, 100, 700);
  part.add_(1.0);
  HostAccess access(part);
  for (int round = 0; round < 3; ++round) {
    access.begin();
    std::thread other([&] {  // Another thread may go on with an access.
      auto* const values = static_cast<float*>(access.wait());
      CHECK(access.ready());
      CHECK(values[0] == 101 + round);
      for (int i = 0; i < 700; ++i) values[i] += 1;
      access.end(true);
    });
    other.join();
    access.join();
  }
  const std::vector<float> got = (whole * 2.0).to_vector<float>();
  for (int i = 0; i < 1000; ++i) CHECK(got[static_cast<std::size_t>(i)] == 2 * (i + (i >= 100 && i < 800 ? 4 : 0)));
}

TEST_CASE("host access: without a write nothing changes, and without a read all is overwritten") {
  Tensor x = full({300}, 5);
  HostAccess access(x);
  access.begin();
  CHECK(static_cast<const float*>(access.wait())[299] == 5);
  access.end(false);
  access.join();
  CHECK(x.sum().item() == 1500);
  access.begin(false);
  auto* const values = static_cast<float*>(access.wait());
  for (int i = 0; i < 300; ++i) values[i] = 2;
  access.end(true);
  access.join();
  CHECK(x.sum().item() == 600);
  // An access that is never ended keeps nothing locked.
  HostAccess(x).begin();
  CHECK(x.add_(1.0).sum().item() == 900);
}

TEST_CASE("host access: every element type, and no elements") {
  for (const DType dtype : {DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean}) {
    Tensor x = ones({3}, dtype);
    HostAccess access(x);
    access.begin();
    std::memset(access.wait(), 0, 3 * size_of(dtype));
    access.end(true);
    access.join();
    CHECK(x.any().item<bool>() == false);
  }
  HostAccess nothing(zeros({0}));
  nothing.begin();
  CHECK(nothing.wait() == nullptr);
  nothing.end(true);
  nothing.join();
}

TEST_CASE("host access: backward refuses values that the host changed, and refusals") {
  const Tensor w = ones({4}).requires_grad_();
  Tensor x = full({4}, 3);
  const Tensor y = sum(w * x);
  HostAccess access(x);
  access.begin();
  access.wait();
  access.end(true);
  access.join();
  CHECK_THROWS_WITH_AS(y.backward(), doctest::Contains("changed in place"), Error);
  const Tensor undefined;
  CHECK_THROWS_WITH_AS(HostAccess{undefined}, doctest::Contains("[HostAccess] the tensor is undefined"), Error);
  CHECK_THROWS_WITH_AS(HostAccess{zeros({2, 3}).t()}, doctest::Contains("is not contiguous"), Error);
  HostAccess leaf(w.detach());
  leaf.begin();
  leaf.end(false);
  HostAccess wanting(w);
  wanting.begin();
  CHECK_THROWS_AS(wanting.end(true), Error);
  HostAccess captured(x);
  CHECK_THROWS_WITH_AS(capture([&] { captured.begin(); }), doctest::Contains("the host accesses the values"), Error);
}
