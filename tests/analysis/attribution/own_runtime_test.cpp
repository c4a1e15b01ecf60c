// The runtime in measured programs appears as one function in their profiles.

#include "analysis/attribution/own_runtime.h"

#include <catch2/catch.hpp>

using prof::AttributedFrame;
using prof::AttributedModule;

TEST_CASE("the runtime is known by its file, wherever it is installed") {
  // The last two are of version 0.1.
  for (const char* own : {"/opt/prof/lib/libprof-runtime.so", "libprof-runtime.so", "/x/libprof-heap.so",
                          "/opt/prof/lib/libhpcrun.so", "/x/libhpcrun-memory.so"})
    CHECK(prof::is_own_runtime(own));
  for (const char* other : {"/lib/libc.so.6", "/libprof-runtime.so/app", "/home/me/hpcrun",
                            "/usr/lib/libprofiler.so.0", "[vdso]", "", "/x/mylibprof-runtime.so"})
    CHECK_FALSE(prof::is_own_runtime(other));
}

TEST_CASE("own functions are one, and those in front of the program's keep their names") {
  AttributedModule module;
  module.files = {"hooks.cpp"};
  const char* const in_front[] = {"malloc", "operator new(unsigned long, std::nothrow_t const&)",
                                  "__poll_chk"};
  const char* const own[] = {"hpcrun::(anonymous namespace)::walk(unsigned long)",
                             "unsigned int hpcrun::Cursor::fixed<unsigned int>()", "hpcrun_start",
                             "ZydisDecoderInit", "libprof-runtime.so+0x1200"};
  for (const char* name : in_front) module.functions.push_back({name, 0x40, 0, 7});
  for (const char* name : own) module.functions.push_back({name, 0x80, 0, 9});
  const auto functions = static_cast<uint32_t>(module.functions.size());
  for (uint32_t f = 0; f < functions; ++f) {  // each with an inlined call
    module.first.push_back(static_cast<uint32_t>(module.frames.size()));
    module.frames.push_back({f, 0, 8, false});
    module.frames.push_back({functions - 1, 0, 9, true});
  }
  module.first.push_back(static_cast<uint32_t>(module.frames.size()));
  module.warnings = {"older than the run"};

  const AttributedModule folded = prof::fold_own_functions(module, "/opt/prof/lib/libprof-runtime.so");
  CHECK(folded.warnings == module.warnings);
  CHECK(folded.files.empty());
  CHECK(folded.functions.size() == std::size(in_front) + 1);
  REQUIRE(folded.first.size() == functions + 1);
  for (uint32_t f = 0; f < functions; ++f) {
    REQUIRE(folded.chain(f).size() == 1);
    const AttributedFrame& frame = folded.chain(f).front();
    CHECK(frame.line == 0);
    CHECK_FALSE(frame.inlined);
    const std::string& name = folded.functions[frame.function].name;
    CHECK(name == (f < std::size(in_front) ? module.functions[f].name : "[prof]"));
    CHECK(prof::is_folded_function(name) == (f >= std::size(in_front)));
  }

  // The allocator's own functions are next on the call path, so no name is missing.
  CHECK(prof::is_allocator_front("/opt/prof/lib/libprof-heap.so"));
  CHECK(prof::is_allocator_front("/opt/prof/lib/libhpcrun-memory.so"));
  CHECK_FALSE(prof::is_allocator_front("/opt/prof/lib/libprof-runtime.so"));
  const AttributedModule front = prof::fold_own_functions(module, "/opt/prof/lib/libprof-heap.so");
  REQUIRE(front.functions.size() == 1);
  CHECK(front.functions[0].name == "[prof]");
}
