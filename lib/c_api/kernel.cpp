// Kernels of the user's, for C.
#include "crisol/kernel.h"

#include "c_api/handles.h"

using namespace crisol;
using namespace crisol::c_api;

struct crisol_kernel {
  Kernel value;
};

crisol_status crisol_kernel_create(const char* source, const char* name, int group_rank, const std::int64_t* group,
                                   const char* build_options, crisol_kernel** result) {
  constexpr const char* op = "kernel_create";
  return guarded([&] {
    crisol_kernel*& place = need(result, op, "result");
    const KernelOptions options{.group = shape_of(group, group_rank, op, "group"),
                                .build_options = build_options == nullptr ? "" : build_options};
    place = new crisol_kernel{Kernel(&need(source, op, "source"), &need(name, op, "name"), options)};
  });
}

crisol_status crisol_kernel_run(const crisol_kernel* kernel, int rank, const std::int64_t* range, int count,
                                const crisol_operand* argument) {
  constexpr const char* op = "kernel_run";
  return guarded([&] {
    const Kernel& run = need(kernel, op, "kernel").value;
    require(count >= 0 && (count == 0 || argument != nullptr), op, "argument is null, or count ", count,
            " is negative");
    std::vector<Operand> arguments;
    for (int i = 0; i < count; ++i) arguments.push_back(operand_of(argument[i]));
    run.run(shape_of(range, rank, op, "range"), arguments);
  });
}

void crisol_kernel_destroy(crisol_kernel* kernel) { delete kernel; }
