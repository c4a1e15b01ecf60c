// Which values of LD_PRELOAD and which symbol names indicate a sanitizer, and which part of LD_PRELOAD is
// prof's.

#include "hpcrun/guest/program_file.h"

#include <catch2/catch.hpp>
#include <string>

#include "hpcrun/process/preload_list.h"

using hpcrun::preloads_sanitizer;
using hpcrun::SanitizerNames;

namespace {

// The names are separated by null bytes, as in a table of dynamic symbols.
bool shows_sanitizer(std::string names) {
  for (char& c : names)
    if (c == ' ') c = '\0';
  names = '\0' + names + '\0';
  return SanitizerNames().take(names.data(), names.size());
}

std::string without_runtime(std::string list) {
  list.resize(hpcrun::remove_runtime(list.data()));
  return list;
}

}  // namespace

TEST_CASE("a sanitizer is found by the names of dynamic symbols") {
  CHECK(shows_sanitizer("printf __asan_init malloc"));
  CHECK(shows_sanitizer("__tsan_init"));
  CHECK(shows_sanitizer("malloc __lsan_is_turned_off"));
  CHECK(shows_sanitizer("process_vm_writev __sanitizer_symbolize_code"));
  CHECK_FALSE(shows_sanitizer("__sanitizer_symbolize_code __sanitizer_print_memory_profile malloc"));
  CHECK_FALSE(shows_sanitizer("process_vm_writev malloc"));
  CHECK_FALSE(shows_sanitizer("__asan_initialize my__asan_init __asan_ini"));
  CHECK_FALSE(shows_sanitizer(""));
}

TEST_CASE("names that come in two pieces count together") {
  SanitizerNames names;
  CHECK_FALSE(names.take("\0process_vm_writev", 19));
  CHECK(names.take("\0__sanitizer_symbolize_code", 28));
}

TEST_CASE("a name that is split between two pieces does not count") {
  CHECK_FALSE(SanitizerNames().take("\0__asan_init", 12));
}

TEST_CASE("the runtime and what comes with it leave LD_PRELOAD") {
  CHECK(without_runtime("/lib/prof/libprof-runtime.so") == "");
  CHECK(without_runtime("/a.so:/lib/prof/libprof-runtime.so /lib/prof/libprof-heap.so::b.so") ==
        "/a.so:b.so");
  CHECK(without_runtime("/lib/prof/libprof-isolate.so /lib/allocator.so /c.so") == "/c.so");
  CHECK(without_runtime("libprof-runtime.so /libprof-runtime.so/other.so") ==
        "libprof-runtime.so:/libprof-runtime.so/other.so");
}

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
