#include "repair/isolate/controller/isolatable_memory.h"

#include <link.h>

#include <algorithm>
#include <cstring>

#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/memory/common_state.h"
#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/memory/thread_stacks.h"

namespace hpcrun {

namespace {

struct ModuleData {
  uint64_t page;
  bool is_found;
  bool is_system;
};

// Their data is for code of which some accesses it atomically, even by plain stores.
bool is_system_library(const char* path) noexcept {
  constexpr const char* kSystem[] = {"libc.so", "ld-linux", "libpthread",  "libstdc++", "libgcc_s",
                                     "libgomp", "libprof-", "libjemalloc", "libdl.so",  "librt.so"};
  const char* const slash = strrchr(path, '/');
  const char* const name = slash ? slash + 1 : path;
  for (const char* system : kSystem)
    if (strncmp(name, system, strlen(system)) == 0) return true;
  return false;
}

// Returns the end of what the loader makes read-only, where the data begins.
uint64_t end_of_relro(const dl_phdr_info& module) noexcept {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const auto& header = module.dlpi_phdr[i];
    if (header.p_type == PT_GNU_RELRO) return page_down(module.dlpi_addr + header.p_vaddr + header.p_memsz);
  }
  return 0;
}

struct EachVariables {
  void (*use)(uint64_t low, uint64_t high, void* argument) noexcept;
  void* argument;
};

int tell_variables(dl_phdr_info* module, size_t, void* raw) {
  const auto& each = *static_cast<EachVariables*>(raw);
  if (is_system_library(module->dlpi_name)) return 0;
  const uint64_t after_relro = end_of_relro(*module);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& header = module->dlpi_phdr[i];
    const uint64_t low = module->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && (header.p_flags & PF_W))
      each.use(std::max(page_down(low), after_relro), page_up(low + header.p_memsz), each.argument);
  }
  return 0;
}

int find_data(dl_phdr_info* module, size_t, void* raw) {
  auto& data = *static_cast<ModuleData*>(raw);
  const uint64_t after_relro = end_of_relro(*module);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& header = module->dlpi_phdr[i];
    const uint64_t low = module->dlpi_addr + header.p_vaddr;
    if (header.p_type != PT_LOAD || !(header.p_flags & PF_W)) continue;
    if (data.page < std::max(page_down(low), after_relro) || data.page >= page_up(low + header.p_memsz))
      continue;
    data.is_found = true;
    data.is_system = is_system_library(module->dlpi_name);
  }
  return data.is_found;
}

}  // namespace

WhyShared reason_not_isolatable(uint64_t page, bool is_allocation) noexcept {
  if (needs_common(page)) return WhyShared::SyncObject;
  if (!is_common(reinterpret_cast<const void*>(page)) || common_state.hold.altered.has(page))
    return WhyShared::NotCommon;
  if (common_state.hold.closed.has(page)) return WhyShared::SystemData;
  if (is_thread_stack(page) || (page >= common_state.stack_low && page < common_state.stack_high))
    return WhyShared::Stack;
  ModuleData data{page, false, false};
  dl_iterate_phdr(find_data, &data);
  if (data.is_found) return data.is_system ? WhyShared::SystemData : WhyShared::None;
  return is_allocation ? WhyShared::None : WhyShared::NotCommon;
}

void for_each_variables(void (*use)(uint64_t low, uint64_t high, void* argument) noexcept,
                        void* argument) noexcept {
  EachVariables each{use, argument};
  dl_iterate_phdr(tell_variables, &each);
}

}  // namespace hpcrun
