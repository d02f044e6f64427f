// Kernels as plans and the cache of programs keep them.
#include "runtime/program/own_kernel_spec.h"

#include "doctest/doctest.h"

namespace crisol::runtime {

namespace {

KernelSpec full_spec() {
  return {"folder/file.cl", "entry", {{"NUMBER", 7}, {"TEXT", "text"}}, "float prelude;", "-option", "title", true};
}

}  // namespace

TEST_CASE("a kept kernel has every member of its description") {
  const OwnKernelSpec kept(full_spec());
  const KernelSpec view = kept.view();
  CHECK(view.source == "folder/file.cl");
  CHECK(view.entry == "entry");
  REQUIRE(view.defines.end() - view.defines.begin() == 2);
  CHECK(view.defines.begin()[0].name == "NUMBER");
  CHECK(view.defines.begin()[0].number == 7);
  CHECK(view.defines.begin()[1].text == "text");
  CHECK(view.prelude == "float prelude;");
  CHECK(view.options == "-option");
  CHECK(view.title == "title");
  CHECK(view.exact_division);
}

TEST_CASE("a kept kernel matches no kernel that is compiled in another way") {
  const OwnKernelSpec kept(full_spec());
  CHECK(kept.matches(full_spec()));
  CHECK(OwnKernelSpec(kept).matches(full_spec()));
  for (int member = 0; member < 6; ++member) {
    CAPTURE(member);
    KernelSpec other = full_spec();
    if (member == 0) other.source = "folder/other.cl";
    if (member == 1) other.entry = "other";
    if (member == 2) other.defines.add({"MORE", 1});
    if (member == 3) other.prelude = {};
    if (member == 4) other.options = "-other";
    if (member == 5) other.exact_division = false;
    CHECK_FALSE(kept.matches(other));
  }
}

}  // namespace crisol::runtime
