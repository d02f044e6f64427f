// The small problems on which variants are verified: every variant of every table agrees with its reference on one.
// Which drivers need no verification.
#include <algorithm>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/verification.h"
#include "dispatch/choose.h"
#include "dispatch/verification.h"
#include "doctest/doctest.h"
#include "rerun/rerun.h"
#include "support/forced.h"
#include "support/processes/program.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

/// Problems for the variant tables of all ops, with sizes from a network.
constexpr const char* problems[] = {
    "matmul m=64 n=10 k=128 batch=1 transa=0 transb=0 transc=0 weight=0 precision=0",
    "matmul m=64 n=128 k=3136 batch=1 transa=0 transb=1 transc=0 weight=1 precision=0",
    "matmul m=3 n=1000 k=512 batch=1 transa=0 transb=1 transc=0 weight=1 precision=0",
    "matmul m=256 n=256 k=256 batch=4 transa=1 transb=0 transc=0 weight=0 precision=0",
    "conv2d n=64 c=32 h=14 w=14 k=64 r=3 s=3 stride_h=1 stride_w=1 pad_h=1 pad_w=1 dil_h=1 dil_w=1 groups=1 "
    "precision=0",
    "conv2d n=8 c=3 h=224 w=224 k=64 r=7 s=7 stride_h=2 stride_w=2 pad_h=3 pad_w=3 dil_h=1 dil_w=1 groups=1 "
    "precision=0",
    "conv2d n=8 c=64 h=28 w=28 k=64 r=3 s=3 stride_h=1 stride_w=1 pad_h=1 pad_w=1 dil_h=1 dil_w=1 groups=64 "
    "precision=0",
    "conv2d n=8 c=64 h=28 w=28 k=32 r=1 s=1 stride_h=1 stride_w=1 pad_h=0 pad_w=0 dil_h=1 dil_w=1 groups=1 precision=0",
    "conv2d_blocks n=8 c=64 h=28 w=28 k=96 r=3 s=3 stride_h=1 stride_w=1 pad_h=1 pad_w=1 dil_h=1 dil_w=1 out_h=28 "
    "out_w=28 block_in=8 block=8 kind=0",
    "conv2d_blocks n=1 c=3 h=224 w=224 k=64 r=7 s=7 stride_h=2 stride_w=2 pad_h=3 pad_w=3 dil_h=1 dil_w=1 out_h=112 "
    "out_w=112 block_in=1 block=16 kind=0",
    "conv2d_blocks n=8 c=64 h=28 w=28 k=64 r=5 s=3 stride_h=2 stride_w=1 pad_h=2 pad_w=1 dil_h=1 dil_w=1 out_h=14 "
    "out_w=28 block_in=8 block=8 kind=1",
    "conv2d_separable n=8 c=64 h=28 w=28 k=24 r=3 s=3 stride_h=2 stride_w=1 pad_h=1 pad_w=1 dil_h=1 dil_w=1 out_h=14 "
    "out_w=28 block=8",
    "rnn_forward cell=0 reverse=0 t=20 b=16 i=32 h=64 outputs=64 padded=0",
    "rnn_forward cell=2 reverse=0 t=20 b=16 i=32 h=64 outputs=64 padded=0",
    "rnn_forward cell=3 reverse=1 t=20 b=16 i=32 h=64 outputs=64 padded=1",
    "rnn_backward cell=1 reverse=0 t=20 b=16 i=32 h=64 outputs=64 padded=0",
    "rnn_backward cell=2 reverse=0 t=20 b=16 i=32 h=64 outputs=32 padded=0",
    "rnn_backward cell=3 reverse=0 t=20 b=16 i=32 h=64 outputs=64 padded=0",
    "cumsum outer=32 length=5000 inner=1 dtype=0 reverse=0",
    "cumsum outer=32 length=5000 inner=64 dtype=3 reverse=1",
    "topk rows=64 length=1000 k=5 largest=1 dtype=0",
    "topk rows=64 length=1000 k=50 largest=0 dtype=4",
    "sort rows=64 length=1000",
    "softmax rows=64 length=1000 step=1",
    "softmax rows=6272 length=32 step=196",
    "log_softmax rows=64 length=10 step=1",
    "softmax_backward rows=64 length=1000 step=1",
    "log_softmax_backward rows=64 length=1000 step=1",
    "layer_norm rows=64 length=512 step=1",
    "layer_norm_backward rows=64 length=512 step=1",
    "batch_norm2d images=64 channels=32 spatial=196",
    "batch_norm2d_backward images=64 channels=32 spatial=196",
    "cross_entropy rows=64 length=1000 step=1",
    "cross_entropy_backward rows=64 length=1000 step=1",
    "mse_loss rows=1 length=10000 step=1",
    "mse_loss_backward rows=1 length=10000 step=1",
    "max_pool2d planes=64 h=28 w=28 out_h=14 out_w=14 r=2 s=2 stride_h=2 stride_w=2 pad_h=0 pad_w=0 dil_h=1 dil_w=1",
    "max_pool2d_backward planes=64 h=55 w=55 out_h=28 out_w=28 r=3 s=3 stride_h=2 stride_w=2 pad_h=1 pad_w=1 dil_h=1 "
    "dil_w=1",
    "avg_pool2d planes=64 h=28 w=28 out_h=14 out_w=14 r=2 s=2 stride_h=2 stride_w=2 pad_h=0 pad_w=0 dil_h=1 dil_w=1",
    "avg_pool2d_backward planes=64 h=28 w=28 out_h=14 out_w=14 r=2 s=2 stride_h=2 stride_w=2 pad_h=0 pad_w=0 dil_h=1 "
    "dil_w=1",
    "max_pool2d_blocks planes=8 h=55 w=55 out_h=28 out_w=28 r=3 s=3 stride_h=2 stride_w=2 pad_h=1 pad_w=1 dil_h=1 "
    "dil_w=1 block=8 include_pad=0",
    "avg_pool2d_blocks planes=8 h=28 w=28 out_h=14 out_w=14 r=2 s=2 stride_h=2 stride_w=2 pad_h=0 pad_w=0 dil_h=1 "
    "dil_w=1 block=16 include_pad=1",
    "adaptive_avg_pool2d planes=64 h=28 w=28 out_h=7 out_w=7",
    "adaptive_avg_pool2d_backward planes=64 h=28 w=28 out_h=1 out_w=1",
    "gather outer=32 size=1000 inner=1 picked=1 slices=0 dtype=0",
    "index_select outer=1 size=1000 inner=64 picked=320 slices=1 dtype=0",
    "sample_logits outer=32 size=1000 inner=1 picked=1 slices=0 dtype=3",
    "scatter_add outer=32 size=1000 inner=4 picked=100 slices=0 dtype=0",
    "index_add outer=1 size=1000 inner=64 picked=320 slices=1 dtype=0",
    "embedding_backward outer=1 size=1000 inner=64 picked=320 slices=1 dtype=0",
    "scatter outer=32 size=1000 inner=4 picked=100 slices=0 dtype=0",
    "index_copy outer=1 size=1000 inner=64 picked=320 slices=1 dtype=0",
    "scatter_reduce outer=32 size=1000 inner=4 picked=100 slices=0 dtype=0 kind=1",
    "index_reduce outer=1 size=1000 inner=64 picked=320 slices=1 dtype=0 kind=2",
    "transpose_copy batch=4 rows=128 columns=256",
    "enlarge rows=64 width=56 down=2 across=2 dtype=0",
    "enlarge rows=64 width=56 down=3 across=1 dtype=0",
    "resample outer=12 out_size=64 size=31 inner=128 terms=2",
    "resample outer=96 out_size=64 size=31 inner=1 terms=2",
    "pointwise",
};

std::vector<std::string> all_problems() {
  std::vector<std::string> all(std::begin(problems), std::end(problems));
  // Adds the gradients of convolutions, and each kind of reduction along and across the last axis.
  for (const std::string& text : std::vector<std::string>(all))
    if (text.starts_with("conv2d "))
      for (const char* op : {"conv2d_backward_data", "conv2d_backward_weight"})
        all.push_back(op + text.substr(text.find(' ')));
  for (int kind = 0; kind < 8; ++kind)
    for (const char* rest : {"outputs=64 elements=4000 width=64 across=0 along=1 fused=1",
                             "outputs=256 elements=500 width=64 across=1 along=0 fused=0"})
      all.push_back("reduce kind=" + std::to_string(kind) + " dtype=0 " + rest);
  return all;
}

/// Runs a problem with each variant that accepts it.
void run_each_variant(const rerun::Problem& problem) {
  const std::optional<rerun::Rerun> rerun = rerun::rerun_of(problem);
  REQUIRE(rerun.has_value());
  std::vector<std::string> variants;
  {
    const ProblemLog log;
    rerun->run();
    for (const TuningProblem& met : log.problems())
      if (met.op == problem.op)
        for (const TuningCandidate& candidate : met.candidates)
          if (candidate.refusal.empty() && candidate.variant.find('/') == std::string::npos)
            variants.push_back(candidate.variant);
  }
  if (problem.op == "pointwise") variants = {"chunks", "items"};
  int ran = 0;
  for (const std::string& variant : variants) {
    INFO(variant);
    const bool accepted = run_variant(problem.op, variant, [&] { rerun->run(); });
    CHECK((accepted || problem.op == "pointwise"));
    ran += accepted ? 1 : 0;
  }
  CHECK(ran > 0);
}

}  // namespace

TEST_CASE("child: every variant of every table" * doctest::skip()) {
  for (const std::string& text : all_problems()) {
    INFO(text);
    const std::optional<rerun::Problem> small = rerun::with_sizes(rerun::parse_problem(text), {});
    REQUIRE(small.has_value());
    run_each_variant(*small);
  }
  const auto outcomes = verifications();
  CHECK(outcomes.size() > 60);
  CHECK(std::any_of(outcomes.begin(), outcomes.end(),
                    [](const Verification& v) { return v.op == "max_pool2d_backward"; }));
  for (const Verification& v : outcomes) CHECK_MESSAGE(v.agrees, v.op << " by " << v.variant << ": " << v.detail);
  std::cout << outcomes.size() << " variants agree\n";
}

TEST_CASE("verification: every variant of every table agrees with its reference on a small problem" *
          doctest::test_suite("long")) {
  const ProcessResult result = run_child("child: every variant of every table", {{"CRISOL_VERIFY", "always"}});
  CHECK_PASSED(result);
  CHECK_FALSE(contains(result.output, "is wrong on"));
}

TEST_CASE("verification: problems become small and odd, and keep what selects their programs") {
  const auto small = [](const char* text, std::int64_t factor = 1) {
    const std::optional<rerun::Problem> problem = rerun::with_sizes(rerun::parse_problem(text), {factor, 0});
    REQUIRE(problem.has_value());
    return *problem;
  };
  const rerun::Problem conv = small(problems[5]);
  CHECK(conv["n"] == 3);
  CHECK(conv["c"] == 3);
  CHECK(conv["k"] == 11);
  CHECK(conv["h"] == 13);
  CHECK(conv["r"] == 7);
  CHECK(conv["stride_h"] == 2);
  const rerun::Problem depthwise = small(problems[6]);
  CHECK(depthwise["groups"] == 3);
  CHECK(depthwise["c"] == 3);
  const rerun::Problem blocks = small(problems[10]);
  CHECK(blocks["kind"] == 1);
  CHECK(blocks["c"] == 21);
  CHECK(blocks["k"] == 21);
  CHECK(blocks["out_h"] == 7);
  CHECK(blocks["out_w"] == 17);
  const rerun::Problem product =
      small("matmul m=64 n=2 k=8 batch=1 transa=0 transb=0 transc=0 weight=0 precision=2", 2);
  CHECK(product["m"] == 63);
  CHECK(product["n"] == 2);
  CHECK(product["k"] == 7);
  CHECK(product["precision"] == 2);
  CHECK(small("embedding_backward outer=1 size=10 inner=4 picked=3 slices=1 dtype=0").op == "index_add");
  // A size of 1 becomes larger if it does not select a layout.
  const auto given = rerun::with_sizes(rerun::parse_problem("softmax rows=2 length=1 step=1"), {1, 1});
  REQUIRE(given.has_value());
  CHECK((*given)["length"] == 67);
  CHECK((*given)["rows"] == 5);
  CHECK((*given)["step"] == 1);
  CHECK_FALSE(rerun::with_sizes(rerun::parse_problem("no_op m=1"), {}).has_value());
}

TEST_CASE("verification: every maker of a rerun names an op with variants, and so does every op that borrows them") {
  std::set<std::string> ops;
  for (const dispatch::AnyTable* const table : dispatch::all_tables()) ops.insert(table->op);
  for (const std::vector<rerun::Maker>* makers :
       {&rerun::product_makers, &rerun::row_makers, &rerun::window_makers, &rerun::axis_makers,
        &rerun::recurrent_makers, &rerun::movement_makers})
    for (const rerun::Maker& maker : *makers) CHECK_MESSAGE(ops.count(maker.op) == 1, maker.op);
  int borrowers = 0;
  for (const std::string& op : ops) {
    const std::string other(rerun::rerun_op(op));
    CHECK_MESSAGE(ops.count(other) == 1, op << " borrows the variants of " << other);
    borrowers += other != op;
  }
  CHECK(borrowers == 2);  // All pairs of lib/rerun/rerun.cpp.
}

TEST_CASE("verification: the list of drivers knows versions by their numbers") {
  DeviceInfo info;
  info.platform = "Portable Computing Language";
  for (const char* version : {"3.1", "3.1+debian", "3.1-rc1"}) {
    info.driver_version = version;
    CHECK(is_verified_driver(info));
  }
  for (const char* version : {"3.10", "3.1.1", "3", "13.1", ""}) {
    info.driver_version = version;
    CHECK_FALSE(is_verified_driver(info));
  }
  info.platform = "rusticl";
  info.driver_version = "3.1";
  CHECK_FALSE(is_verified_driver(info));
}

TEST_CASE("verification: a driver that was tested on CPUs is not verified on a GPU") {
  DeviceInfo info;
  info.platform = "rusticl";
  info.driver_version = "25.0.7-2+deb13u1";
  info.type = DeviceType::cpu;
  CHECK(is_verified_driver(info));
  info.type = DeviceType::gpu;
  CHECK_FALSE(is_verified_driver(info));
  info.platform = "Oclgrind";
  info.driver_version = "Oclgrind 21.10";
  CHECK(is_verified_driver(info));
}
