// Which values of LD_PRELOAD bring a sanitizer along.

#include "hpcrun/guest/program_file.h"

#include <catch2/catch.hpp>

using hpcrun::preloads_sanitizer;

TEST_CASE("a sanitizer's library is found anywhere in LD_PRELOAD") {
  CHECK(preloads_sanitizer("libasan.so.8"));
  CHECK(preloads_sanitizer("/usr/lib/x86_64-linux-gnu/libtsan.so.2"));
  CHECK(preloads_sanitizer("/opt/libother.so:/usr/lib/liblsan.so.0"));
  CHECK(preloads_sanitizer("libother.so  libclang_rt.asan-x86_64.so"));
}

TEST_CASE("other libraries are none") {
  CHECK_FALSE(preloads_sanitizer(""));
  CHECK_FALSE(preloads_sanitizer(" : "));
  CHECK_FALSE(preloads_sanitizer("/opt/libasan.so.8/libother.so"));
  CHECK_FALSE(preloads_sanitizer("libasanity.so"));
  CHECK_FALSE(preloads_sanitizer("libubsan.so.1"));
}
