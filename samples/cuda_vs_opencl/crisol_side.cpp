#include "crisol_side.h"

namespace twins {

namespace {

class CrisolSide : public Side {
 public:
  std::string name() const override { return "crisol"; }
  std::string device() const override { return crisol::Device().name(); }
  std::optional<Timed> run(const ReluChain& task) override { return run_crisol(task); }
  std::optional<Timed> run(const Sgemm& task) override { return run_crisol(task); }
  std::optional<Timed> run(const Conv3x3& task) override { return run_crisol(task); }
  std::optional<Timed> run(const LstmGates& task) override { return run_crisol(task); }
  std::optional<Timed> run(const SimpleCnn& task) override { return run_crisol(task); }
};

}  // namespace

std::unique_ptr<Side> crisol_side() { return std::make_unique<CrisolSide>(); }

}  // namespace twins
