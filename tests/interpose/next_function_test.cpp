// Here the next function is the first: the test defines where libraries look it up, and counts that.

#include "hpcrun/interpose/next_function.h"

#include <stdlib.h>

#include <catch2/catch.hpp>

namespace {

int lookups = 0;
bool is_there = false;

}  // namespace

void* hpcrun::next_scope() noexcept {
  ++lookups;
  return RTLD_DEFAULT;
}

extern "C" int prof_none(int) noexcept;

HPCRUN_NEXT_OF(atoi);
HPCRUN_NEXT_OF(prof_none);
HPCRUN_NEXT_OF_IF(is_there, atol);
HPCRUN_NEXT_OF_TYPE(atoll, long long(const char*));

TEST_CASE("next functions are looked up when the library is loaded, once") {
  lookups = 0;
  CHECK(HPCRUN_NEXT(atoi)("3") == 3);
  CHECK(HPCRUN_NEXT(atoll)("4") == 4);
  CHECK(hpcrun_next_atoi.get() == dlsym(RTLD_DEFAULT, "atoi"));
  CHECK(lookups == 0);
}

TEST_CASE("a function that may come later is looked up at its first call") {
  lookups = 0;
  CHECK(HPCRUN_NEXT(atol)("5") == 5);
  CHECK(lookups == 1);
  CHECK(HPCRUN_NEXT(atol)("6") == 6);
  CHECK(lookups == 1);
}

TEST_CASE("a function that no library has is missing, without a trace in the program's errors") {
  REQUIRE(dlsym(RTLD_DEFAULT, "prof_none_either") == nullptr);
  REQUIRE(dlerror() != nullptr);
  lookups = 0;
  CHECK(HPCRUN_NEXT(prof_none) == nullptr);
  CHECK(lookups == 0);  // known since the start
  CHECK(hpcrun::find_next("prof_none") == nullptr);
  CHECK(dlerror() == nullptr);
}

TEST_CASE("a version is preferred, and not required") {
  CHECK(hpcrun::find_next("atoi", "GLIBC_2.2.5") == dlvsym(RTLD_DEFAULT, "atoi", "GLIBC_2.2.5"));
  CHECK(hpcrun::find_next("atoi", "PROF_NONE") == dlsym(RTLD_DEFAULT, "atoi"));
}
