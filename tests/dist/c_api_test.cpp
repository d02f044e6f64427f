// The C functions of libcrisol_dist against the C++ ones.
#include <string>
#include <vector>

#include "crisol/c/dist.h"
#include "crisol/c/interop.h"
#include "crisol/crisol.h"
#include "crisol/dist.h"
#include "doctest/doctest.h"

using namespace crisol;

namespace {

void ok(crisol_status status) { REQUIRE_MESSAGE(status == CRISOL_OK, crisol_error_message()); }

void refused(crisol_status status, const char* part) {
  CHECK(status == CRISOL_INVALID_ARGUMENT);
  CHECK(std::string(crisol_error_message()).find(part) != std::string::npos);
}

crisol_named_tensors* list_of(const NamedTensors& tensors) {
  crisol_named_tensors* list = nullptr;
  ok(crisol_named_tensors_create(&list));
  for (const auto& [name, tensor] : tensors) {
    crisol_tensor* const handle = c::handle_of(tensor);
    ok(crisol_named_tensors_add(list, name.c_str(), handle));
    crisol_tensor_destroy(handle);
  }
  return list;
}

}  // namespace

TEST_CASE("dist, C: a divided optimizer steps as the C++ one") {
  manual_seed(3);
  nn::Linear net(40, 9);
  nn::Linear expected = nn::clone(net);
  dist::ShardedOptimizer reference(expected.named_parameters(), [](const std::vector<Tensor>& parts) {
    return std::make_shared<optim::Adam>(parts, optim::AdamOptions{.lr = 0.1});
  });
  crisol_named_tensors* const parameters = list_of(net.named_parameters());
  const crisol_setting settings[] = {{"lr", 0.1}};
  crisol_sharded_optimizer* optimizer = nullptr;
  refused(crisol_sharded_optimizer_create(parameters, "adam", 1, settings, nullptr), "result is null");
  refused(crisol_sharded_optimizer_create(nullptr, "adam", 1, settings, &optimizer), "parameters is null");
  refused(crisol_sharded_optimizer_create(parameters, "newton", 0, nullptr, &optimizer), "no optimizer 'newton'");
  ok(crisol_sharded_optimizer_create(parameters, "adam", 1, settings, &optimizer));
  crisol_named_tensors_destroy(parameters);
  const Tensor x = full({2, 40}, dist::rank() + 1.0);
  for (int step = 0; step < 3; ++step) {
    reference.zero_grad();
    sum(expected(x)).backward();
    reference.set_weight(dist::rank() + 1);
    const double norm = reference.clip_grad_norm(0.5);
    reference.step();
    ok(crisol_sharded_optimizer_zero_grad_in_place(optimizer));
    ok(crisol_sharded_optimizer_zero_grad(optimizer));
    sum(net(x)).backward();
    ok(crisol_sharded_optimizer_set_weight(optimizer, dist::rank() + 1));
    double got = 0;
    ok(crisol_sharded_optimizer_clip_grad_norm(optimizer, 0.5, &got));
    CHECK(got == norm);
    ok(crisol_sharded_optimizer_step(optimizer));
    CHECK(net.weight.to_vector<float>() == expected.weight.to_vector<float>());
  }
  crisol_optimizer* own = nullptr;
  ok(crisol_sharded_optimizer_own(optimizer, &own));
  CHECK(c::optimizer_of(own).lr() == doctest::Approx(0.1));
  crisol_named_tensors* state = nullptr;
  ok(crisol_sharded_optimizer_state_dict(optimizer, &state));
  std::int32_t count = 0;
  ok(crisol_named_tensors_count(state, &count));
  CHECK(count == static_cast<std::int32_t>(reference.state_dict().size()));
  ok(crisol_sharded_optimizer_load_state_dict(optimizer, state));
  refused(crisol_sharded_optimizer_load_state_dict(optimizer, nullptr), "state is null");
  refused(crisol_sharded_optimizer_step(nullptr), "optimizer is null");
  crisol_named_tensors_destroy(state);
  crisol_sharded_optimizer_destroy(optimizer);
  crisol_sharded_optimizer_destroy(nullptr);
}
