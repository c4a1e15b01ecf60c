#include "repair/isolate/controller/planned_modules.h"

#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <initializer_list>

#include "repair/isolate/atomics/annotated.h"
#include "repair/isolate/atomics/atomic_sites.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/memory/common_state.h"
#include "repair/isolate/session/converted_thread.h"

namespace hpcrun {

namespace {

// Code whose atomic instructions access nothing that is isolated, or are made by calls that commit.
bool is_left_unpatched(const char* path) noexcept {
  constexpr const char* kNone[] = {"libc.so",  "ld-linux", "libpthread",  "libdl.so",
                                   "librt.so", "libprof-", "libjemalloc", "linux-vdso"};
  const char* const slash = strrchr(path, '/');
  const char* const name = slash ? slash + 1 : path;
  for (const char* none : kNone)
    if (strncmp(name, none, strlen(none)) == 0) return true;
  return false;
}

// A module whose atomic instructions are known.
struct PlannedModule {
  uint64_t low = 0;  // of its code
  uint64_t high = 0;
  bool is_there = false;
};

// The C++ library's code; at most two modules: libstdc++ and libgcc_s.
struct CxxCode {
  std::atomic<uint64_t> low{0};
  std::atomic<uint64_t> high{0};
};
constinit CxxCode cxx_code[2];

// Threads synchronise through these only by calls or by atomic instructions.
bool is_of_compiler(const char* path) noexcept {
  return std::ranges::any_of(std::initializer_list<const char*>{"/libstdc++.so", "/libgcc_s.so", "/libm.so"},
                             [path](const char* name) { return strstr(path, name); });
}

void note_cxx_code(const char* path, uint64_t low, uint64_t high) noexcept {
  const bool is_library = strstr(path, "/libstdc++.so");
  if (!is_library && !strstr(path, "/libgcc_s.so")) return;
  cxx_code[is_library].low.store(low);
  cxx_code[is_library].high.store(high);
}

// The number of times that the loader has loaded and unloaded modules.
struct Loads {
  unsigned long long loads = 0;
  unsigned long long unloads = 0;
  bool operator==(const Loads&) const = default;
};

constexpr size_t kMaxModules = 1024;
struct Modules {
  PlannedModule planned[kMaxModules] = {};
  size_t count = 0;
  Loads seen;
  uint64_t kept_inode = 0;  // of the file that contains their code
  const char* refusal = nullptr;
  bool are_annotated = false;
};
constinit Modules modules;

int count_loads(dl_phdr_info* module, size_t, void* raw) {
  *static_cast<Loads*>(raw) = {module->dlpi_adds, module->dlpi_subs};
  return 1;
}

bool is_left_out(const dl_phdr_info& module) noexcept {
  return is_left_unpatched(module.dlpi_name) || is_annotated(module);
}

bool is_code(const ElfW(Phdr) & header) noexcept {
  return header.p_type == PT_LOAD && (header.p_flags & PF_X);
}

int add_code(dl_phdr_info* module, size_t, void* bytes) {
  if (is_left_out(*module)) return 0;
  for (int i = 0; i < module->dlpi_phnum; ++i)
    if (const auto& header = module->dlpi_phdr[i]; is_code(header))
      *static_cast<uint64_t*>(bytes) += header.p_memsz;
  return 0;
}

int plan_module(dl_phdr_info* module, size_t, void*) {
  if (is_left_out(*module)) return 0;
  modules.are_annotated &= is_of_compiler(module->dlpi_name);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& header = module->dlpi_phdr[i];
    if (!is_code(header)) continue;
    const uint64_t low = module->dlpi_addr + header.p_vaddr, high = low + header.p_memsz;
    PlannedModule* known = std::find_if(modules.planned, modules.planned + modules.count,
                                        [low](const PlannedModule& one) { return one.low == low; });
    if (known == modules.planned + modules.count) {
      if (modules.count == kMaxModules) {
        modules.refusal = "the program has too many modules";
        return 1;
      }
      if (const char* refusal = plan_atomic_sites(*module)) {
        modules.refusal = refusal;
        return 1;
      }
      ++modules.count;
    }
    *known = {low, high, true};
    note_cxx_code(module->dlpi_name, low, high);
  }
  return 0;
}

// Called with the loader's lock, so no module is unloaded meanwhile.
int keep_code(dl_phdr_info*, size_t, void*) {
  keep_patched_code(common_memory_file(), common_state.hold.inode);
  return 1;
}

}  // namespace

bool modules_have_changed() noexcept {
  Loads now;
  dl_iterate_phdr(count_loads, &now);
  return now != modules.seen;
}

bool is_planning_due(uint64_t cpu_ns) noexcept {
  if (!modules_have_changed()) return true;
  uint64_t bytes = 0;
  dl_iterate_phdr(add_code, &bytes);
  return is_worth_planning(bytes, cpu_ns);
}

bool know_atomic_sites() noexcept {
  Loads now;
  dl_iterate_phdr(count_loads, &now);
  if (now == modules.seen && common_state.hold.inode == modules.kept_inode) return !modules.refusal;
  const AllAtHome all_at_home(true);
  modules.seen = now;
  modules.refusal = nullptr;
  modules.are_annotated = true;
  for (PlannedModule& one : modules.planned) one.is_there = false;
  dl_iterate_phdr(plan_module, nullptr);
  for (size_t i = modules.count; i-- > 0;) {
    if (modules.planned[i].is_there) continue;
    remove_atomic_sites(modules.planned[i].low, modules.planned[i].high);
    modules.planned[i] = modules.planned[--modules.count];
  }
  modules.kept_inode = common_state.hold.inode;
  dl_iterate_phdr(keep_code, nullptr);
  return !modules.refusal;
}

bool is_of_cxx_library(uint64_t code) noexcept {
  return std::ranges::any_of(cxx_code,
                             [code](const CxxCode& one) { return code >= one.low && code < one.high; });
}

bool are_modules_annotated() noexcept {
  return modules.are_annotated;
}

const char* reason_atomic_sites_are_unknown() noexcept {
  return modules.refusal;
}

}  // namespace hpcrun
