// Walks through modules that were announced or not, loaded again, or inherited by a forked child.

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/unwind/walk.h"

using namespace prof_test;

TEST_CASE(
    "a module that nobody announced is walked through by its own bytes, announced once, and kept by "
    "refresh") {
  Walk test;
  void* library = dlopen(GROUND_TRUTH_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  CHECK_FALSE(modules_are_stale());
  using Visitor = uint64_t (*)(void*, uint64_t);
  using Foreach = uint64_t (*)(void*, uint64_t, Visitor);
  auto foreach = reinterpret_cast<Foreach>(dlsym(library, "gt_foreach"));
  REQUIRE(foreach != nullptr);
  char shadow[64] = {};
  const auto run = [&] {
    foreach (shadow, 1, [](void*, uint64_t value) {
      raise_walk();
      return value;
    })
      ;
  };
  const auto library_frames = [&] {
    uint16_t id = 0;
    size_t count = 0;
    for (uint32_t i = 0; i < test.result.depth; ++i) {
      const uint16_t module = frame_module(test.result.frames[i]);
      if (module_paths[module].find("libground_truth_library.so") == std::string::npos) continue;
      id = module;
      ++count;
    }
    return std::pair(id, count);
  };
  run();
  CHECK(modules_are_stale());
  CHECK(test.reached_main());
  CHECK(test.result.reason == StackReason::EndOfStack);
  const auto [id, count] = library_frames();
  CHECK(count == 1);

  refresh_modules();
  CHECK_FALSE(modules_are_stale());
  run();
  CHECK_FALSE(modules_are_stale());
  CHECK(library_frames() == std::pair(id, size_t{1}));

  // A library that is unloaded and loaded again is the same module, and its table costs nothing more,
  // wherever the loader places it. Its old address is occupied here, so it certainly gets another one.
  invalidate_walk_caches();
  Dl_info old{};
  REQUIRE(dladdr(reinterpret_cast<void*>(foreach), &old) != 0);
  dlclose(library);
  refresh_modules();
  const size_t bytes = module_table_bytes();
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const taken =
      mmap(old.dli_fbase, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  REQUIRE(taken == old.dli_fbase);
  library = dlopen(GROUND_TRUTH_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  refresh_modules();
  CHECK(module_table_bytes() == bytes);
  foreach = reinterpret_cast<Foreach>(dlsym(library, "gt_foreach"));
  REQUIRE(foreach != nullptr);
  Dl_info loaded{};
  REQUIRE(dladdr(reinterpret_cast<void*>(foreach), &loaded) != 0);
  CHECK(loaded.dli_fbase != old.dli_fbase);
  run();
  CHECK(library_frames() == std::pair(id, size_t{1}));
  munmap(taken, page);
  dlclose(library);
  refresh_modules();
}

TEST_CASE("modules are announced with what names them, and again to a new sink") {
  Walk test;
  static std::vector<ModuleInfo> announced;
  announced.clear();
  set_module_sink([](const ModuleInfo& info) noexcept { announced.push_back(info); });
  const auto libc = std::find_if(announced.begin(), announced.end(),
                                 [](const ModuleInfo& info) { return std::strstr(info.path, "libc.so.6"); });
  REQUIRE(libc != announced.end());
  const auto inside = reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, "getpid"));
  CHECK(inside >= libc->start);
  CHECK(inside < libc->end);
  CHECK(libc->load_bias == libc->start);
  CHECK(libc->build_id_bytes == 20);
  CHECK(std::count_if(announced.begin(), announced.end(),
                      [&](const ModuleInfo& info) { return info.id == libc->id; }) == 1);
  const auto vdso = std::find_if(announced.begin(), announced.end(), [](const ModuleInfo& info) {
    return std::strcmp(info.path, "[vdso]") == 0;
  });
  REQUIRE(vdso != announced.end());
  CHECK(vdso->start == getauxval(AT_SYSINFO_EHDR));
  char self[4096] = {};
  REQUIRE(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
  CHECK(std::count_if(announced.begin(), announced.end(),
                      [&](const ModuleInfo& info) { return std::strcmp(info.path, self) == 0; }) == 1);
}

TEST_CASE("a forked child walks with the tables it inherited and announces its modules again") {
  Walk test;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    modules_after_fork();
    static int announced;
    set_module_sink([](const ModuleInfo&) noexcept { ++announced; });
    // The walk's own memory belongs to the parent: arenas are not inherited.
    Arena arena;
    Unwinder unwinder;
    if (!unwinder.attach(arena, prof_test::own_stack_bounds())) _exit(3);
    ucontext_t context;
    getcontext(&context);
    const Stack stack = unwinder.walk(context);
    refresh_modules();
    _exit(announced > 3 && stack.reason == StackReason::EndOfStack && stack.depth > 5 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
