// The Python objects of parameters. A parameter has one object while a program or a module keeps the object. So `is`,
// id(), sets and dicts work with parameters as in PyTorch.
#include <unordered_map>

#include "crisol/nn/identity.h"
#include "nn/module.h"

namespace crisol::python {

namespace {

using Objects = std::unordered_map<const void*, nb::object>;

/// Weak references to the objects, by nn::identity_of. They are never destroyed, because Python may end before.
Objects& objects() {
  static Objects& all = *new Objects;
  return all;
}

/// What a weak reference refers to, or None.
nb::object target_of(const nb::object& reference) { return reference(); }

void remove_ended() {
  static std::size_t limit = 1000;
  if (objects().size() < limit) return;
  for (auto entry = objects().begin(); entry != objects().end();)
    entry = target_of(entry->second).is_none() ? objects().erase(entry) : std::next(entry);
  limit = 2 * objects().size() + 1000;
}

/// The attribute in which a module keeps the objects of its parameters by name.
nb::dict kept_objects(nb::handle module) {
  constexpr const char* name = "_objects";
  const nb::dict attributes = nb::cast<nb::dict>(module.attr("__dict__"));
  if (!attributes.contains(name)) attributes[name] = nb::dict();
  return nb::cast<nb::dict>(attributes[name]);
}

}  // namespace

nb::object known_object(const Tensor& parameter) {
  const void* identity = nn::identity_of(parameter);
  const auto found = objects().find(identity);
  if (found == objects().end()) return nb::none();
  const nb::object object = target_of(found->second);
  return !object.is_none() && nn::identity_of(nb::cast<const Tensor&>(object)) == identity ? object : nb::none();
}

void remember_object(const Tensor& parameter, nb::handle object) {
  if (!parameter.defined() || !known_object(parameter).is_none()) return;
  remove_ended();
  objects()[nn::identity_of(parameter)] = nb::steal(PyWeakref_NewRef(object.ptr(), nullptr));
}

nb::object object_of(const nn::Parameter& parameter) {
  const nb::object known = known_object(parameter);
  if (!known.is_none()) return known;
  nb::object made = nb::cast(parameter);
  remember_object(parameter, made);
  return made;
}

nb::object kept_object(nb::handle module, const std::string& name, const nn::Parameter& parameter) {
  const nb::object object = object_of(parameter);
  kept_objects(module)[name.c_str()] = object;
  return object;
}

void part_with_object(const nn::Parameter& parameter) {
  const nb::object object = known_object(parameter);
  if (object.is_none()) return;
  Tensor& shown = nb::cast<Tensor&>(object);
  if (shown.impl() != parameter.impl()) return;
  nn::Parameter old(parameter.detach(), parameter.requires_grad());
  old = parameter;
  shown = static_cast<const Tensor&>(old);
}

}  // namespace crisol::python
