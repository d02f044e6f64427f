// Products in programs: the packed weights stay from run to run.
#include "dispatch/target.h"
#include "graph/model_file.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

TEST_CASE("graph: a product keeps its weight in the order of the kernel, also with what follows it") {
  if (!dispatch::target_of(Device().state()).takes_cpu_kernels())
    CRISOL_SKIP("only the variants for CPUs pack weights");
  manual_seed(11);
  const std::int64_t inputs = 100, outputs = 96;
  const std::vector<Proto> weights{weight("w", randn({inputs, outputs})), weight("b", randn({outputs}))};
  for (const bool has_epilogue : {false, true}) {
    CAPTURE(has_epilogue);
    std::vector<Proto> nodes{node("MatMul", {"x", "w"}, {has_epilogue ? "p" : "y"})};
    if (has_epilogue) {
      nodes.push_back(node("Add", {"p", "b"}, {"s"}));
      nodes.push_back(node("Relu", {"s"}, {"y"}));
    }
    const ModelFile file(nodes, weights);
    const Tensor x = randn({1, 2, inputs});
    CHECK(file.changes(x)["fuse_epilogues"] == (has_epilogue ? 1 : 0));
    onnx::Model model = file.load();
    const auto used = [] { return Device().memory_stats().in_use; };
    const std::uint64_t before = used();
    {
      const NoGrad no_grad;
      model(x);
    }
    CHECK(used() >= before + 4 * inputs * outputs);
    check_program(model, x);
    check_program(model, randn({3, 7, inputs}));
  }
}
