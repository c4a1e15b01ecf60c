#include "viewer/compare/names.h"

#include <catch2/catch.hpp>

using namespace prof::viewer;

TEST_CASE("compared runs are called by as much of their paths as tells them apart") {
  const struct {
    const char *opened, *other, *one, *two;
  } cases[] = {
      {"/tmp/x/before", "/tmp/x/after", "before", "after"},
      {"/tmp/x/before/database", "/tmp/x/after/database/", "before", "after"},
      {"/a/run/database", "/b/run/database", "a/run", "b/run"},
      {"/tmp/run/database", "/tmp/other", "run", "other"},
      {"/same", "/same", "same", "same"},
      {"/database", "/x", "database", "x"},
  };
  for (const auto& one : cases) {
    const RunNames names = names_of(one.opened, one.other);
    CHECK(names.opened.toStdString() == one.one);
    CHECK(names.other.toStdString() == one.two);
  }
}
