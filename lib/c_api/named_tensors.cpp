// Tensors by name, and texts by name, for C.
#include <iterator>

#include "c_api/handles.h"

using namespace crisol;
using namespace crisol::c_api;

crisol_status crisol_named_tensors_create(crisol_named_tensors** result) {
  return give(result, "named_tensors_create", [] { return NamedTensors(); });
}

void crisol_named_tensors_destroy(crisol_named_tensors* tensors) { delete tensors; }

crisol_status crisol_named_tensors_add(crisol_named_tensors* tensors, const char* name, const crisol_tensor* x) {
  constexpr const char* op = "named_tensors_add";
  return guarded([&] {
    NamedTensors& all = need(tensors, op, "tensors").value;
    const std::string its_name = &need(name, op, "name");
    const Tensor& value = tensor_of(x, op, "x");
    require(!all.contains(its_name), op, "there is a tensor '", its_name, "' already");
    all.emplace_back(its_name, value);
  });
}

crisol_status crisol_named_tensors_count(const crisol_named_tensors* tensors, int32_t* count) {
  constexpr const char* op = "named_tensors_count";
  return guarded([&] {
    const NamedTensors& all = need(tensors, op, "tensors").value;
    need(count, op, "count") = static_cast<int32_t>(all.size());
  });
}

crisol_status crisol_named_tensors_item(const crisol_named_tensors* tensors, int32_t index, const char** name,
                                        crisol_tensor** result) {
  constexpr const char* op = "named_tensors_item";
  return guarded([&] { give_item(need(tensors, op, "tensors").value, index, name, result, op, "tensor"); });
}

crisol_status crisol_named_tensors_get(const crisol_named_tensors* tensors, const char* name, crisol_tensor** result) {
  constexpr const char* op = "named_tensors_get";
  return give(result, op, [&] { return need(tensors, op, "tensors").value[&need(name, op, "name")]; });
}

crisol_status crisol_metadata_create(crisol_metadata** result) {
  return give(result, "metadata_create", [] { return io::Metadata(); });
}

void crisol_metadata_destroy(crisol_metadata* metadata) { delete metadata; }

crisol_status crisol_metadata_set(crisol_metadata* metadata, const char* name, const char* text) {
  constexpr const char* op = "metadata_set";
  return guarded([&] {
    io::Metadata& all = need(metadata, op, "metadata").value;
    all.insert_or_assign(&need(name, op, "name"), &need(text, op, "text"));
  });
}

crisol_status crisol_metadata_get(const crisol_metadata* metadata, const char* name, const char** text) {
  constexpr const char* op = "metadata_get";
  return guarded([&] {
    const io::Metadata& all = need(metadata, op, "metadata").value;
    const auto found = all.find(&need(name, op, "name"));
    need(text, op, "text") = found == all.end() ? nullptr : found->second.c_str();
  });
}

crisol_status crisol_metadata_count(const crisol_metadata* metadata, int32_t* count) {
  constexpr const char* op = "metadata_count";
  return guarded([&] {
    const io::Metadata& all = need(metadata, op, "metadata").value;
    need(count, op, "count") = static_cast<int32_t>(all.size());
  });
}

crisol_status crisol_metadata_item(const crisol_metadata* metadata, int32_t index, const char** name,
                                   const char** text) {
  constexpr const char* op = "metadata_item";
  return guarded([&] {
    const io::Metadata& all = need(metadata, op, "metadata").value;
    require(index >= 0 && static_cast<std::size_t>(index) < all.size(), op, "text ", index, " of ", all.size());
    const auto& [its_name, its_text] = *std::next(all.begin(), index);
    if (name != nullptr) *name = its_name.c_str();
    if (text != nullptr) *text = its_text.c_str();
  });
}
