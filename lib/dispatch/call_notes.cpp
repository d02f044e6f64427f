#include "dispatch/call_notes.h"

#include "dispatch/choose.h"
#include "runtime/memory/block.h"

namespace crisol::dispatch {

void note_call(const Plan& plan, std::span<const OperandView> operands, runtime::TimelineSlice& slice) {
  if (!plan.choices.empty()) {
    const Plan::Choice& choice = plan.choices.front();
    slice.note("variant", choice.variant);
    if (choice.table->key != nullptr)
      slice.note("problem", choice.table->key(choice.problem.data()).text(choice.table->op));
  }
  std::string memory;
  for (const OperandView& operand : operands)
    memory += (memory.empty() ? "" : ", ") + runtime::contents_text(*operand.view.block);
  slice.note("memory of operands", memory);
}

}  // namespace crisol::dispatch
