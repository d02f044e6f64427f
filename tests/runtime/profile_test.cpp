// Measurements: the log of variants, and the device's speed.
#include "crisol/profile.h"

#include "crisol/ops/matmul.h"
#include "crisol/tensor.h"
#include "doctest/doctest.h"
#include "support/forced.h"

using namespace crisol;

TEST_CASE("VariantLog: what ops choose while it lives, also in an inner one") {
  const Tensor a = ones({3, 4}), b = ones({4, 5});
  VariantLog outer;
  CHECK(outer.choices().empty());
  {
    const VariantLog inner;
    ops::matmul(a, b);
    ops::matmul(a, b);
    REQUIRE(inner.choices().size() == 1);
    CHECK(inner.choices()[0].op == "matmul");
    CHECK_FALSE(inner.choices()[0].variant.empty());
    CHECK(inner.choices()[0].times == 2);
  }
  ops::matmul(a, b);
  REQUIRE(outer.choices().size() == 1);
  CHECK(outer.choices()[0].times == 3);
}

TEST_CASE("VariantLog: a forced variant is what the log says") {
  const Tensor a = ones({3, 4}), b = ones({4, 5});
  const VariantLog log;
  CHECK(testing::run_variant("matmul", "plain", [&] { ops::matmul(a, b); }));
  REQUIRE(log.choices().size() == 1);
  CHECK(log.choices()[0].variant == "plain");
}

TEST_CASE("measured_speed: positive figures, measured once or again") {
  const DeviceSpeed speed = measured_speed();
  CHECK(speed.gflops > 0);
  CHECK(speed.copy_gbps > 0);
  CHECK(speed.triad_gbps > 0);
  CHECK(speed.gbps() >= speed.copy_gbps);
  CHECK(speed.gbps() >= speed.triad_gbps);
  CHECK(speed.launch_us > 0);
  CHECK(speed.wait_us > 0);
  CHECK(measured_speed().gflops == speed.gflops);
  const DeviceSpeed again = measure_speed_again();
  CHECK(again.gflops >= speed.gflops);
  CHECK(again.copy_gbps >= speed.copy_gbps);
  CHECK(again.triad_gbps >= speed.triad_gbps);
  CHECK(again.launch_us <= speed.launch_us);
  CHECK(again.wait_us <= speed.wait_us);
  CHECK(measured_speed().gflops == again.gflops);
}

TEST_CASE("measured_half_gflops: a rate exactly where the device has arithmetic in half") {
  CHECK((measured_half_gflops() > 0) == Device().info().fp16);
}

TEST_CASE("measure_transfers: positive rates both ways") {
  const TransferSpeed speed = measure_transfers();
  CHECK(speed.to_device_gbps > 0);
  CHECK(speed.from_device_gbps > 0);
  CHECK(speed.pinned_to_device_gbps > 0);
  CHECK(speed.pinned_from_device_gbps > 0);
}

TEST_CASE("measure_compile: a new program each time") {
  const CompileTime first = measure_compile(), second = measure_compile();
  CHECK(first.source_ms > 0);
  CHECK(second.source_ms > 0);
  CHECK(first.binary_ms >= 0);
}

TEST_CASE("launch_empty: queues and leaves the device in order") {
  for (int i = 0; i < 3; ++i) launch_empty();
  CHECK_NOTHROW(synchronize());
}
