#include "hpcrun/interpose/redirection.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "hpcrun/elf/dynamic.h"
#include "hpcrun/guest/import_slots.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/unwind/scratch.h"

namespace hpcrun {

namespace {

struct Function {
  const char* name;
  void* ours;
};

struct Slot {
  void** at;
  void* before;
};

// Used by one thread at a time, guarded by this flag. A thread may wait for the loader's lock while it holds
// the flag.
std::atomic_flag busy;
constinit Scratch<Function> functions;
constinit Scratch<Slot> slots;
std::atomic<bool> frozen{false};
unsigned long long seen_adds = 0;
unsigned long long seen_subs = 0;

// Lists all symbols that this library exports, by the layout of DT_GNU_HASH.
int list_functions(dl_phdr_info* info, size_t, void*) noexcept {
  if (!is_this_library(*info)) return 0;
  const DynamicSection dynamic = read_dynamic_section(*info);
  if (!dynamic.gnu_hash || !dynamic.symbols) return 1;
  const uint32_t count = count_symbols(MappedSource(), 0, dynamic.gnu_hash);
  for (uint32_t i = 0; i < count; ++i) {
    const Elf64_Sym& found = dynamic.symbols[i];
    if (ELF64_ST_TYPE(found.st_info) == STT_FUNC && found.st_shndx != SHN_UNDEF)
      // Without memory, calls of the function stay as they are.
      (void)functions.push(
          {dynamic.strings + found.st_name, reinterpret_cast<void*>(info->dlpi_addr + found.st_value)});
  }
  return 1;
}

int executable_bounds(dl_phdr_info* info, size_t, void* raw) noexcept {
  auto* bounds = static_cast<uint64_t*>(raw);
  bounds[0] = UINT64_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    bounds[0] = std::min(bounds[0], info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    bounds[1] =
        std::max(bounds[1], info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
  }
  return 1;  // the first is the executable
}

void find_functions() noexcept {
  if (!functions.empty()) return;
  dl_iterate_phdr(list_functions, nullptr);
  // Functions of the executable itself precede those of a preloaded library, too.
  uint64_t executable[2] = {};
  dl_iterate_phdr(executable_bounds, executable);
  Function* kept = functions.begin();
  for (const Function& function : functions) {
    const auto at = reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, function.name));
    if (at < executable[0] || at >= executable[1]) *kept++ = function;
  }
  (void)functions.resize_zeroed(static_cast<size_t>(kept - functions.begin()));  // shrinks: needs no memory
  std::sort(functions.begin(), functions.end(),
            [](const Function& a, const Function& b) { return strcmp(a.name, b.name) < 0; });
}

void* ours_of(const char* name) noexcept {
  const Function* found = std::lower_bound(
      functions.begin(), functions.end(), name,
      [](const Function& function, const char* wanted) { return strcmp(function.name, wanted) < 0; });
  return found != functions.end() && strcmp(found->name, name) == 0 ? found->ours : nullptr;
}

Slot* saved(void** at) noexcept {
  for (Slot& slot : slots)
    if (slot.at == at) return &slot;
  return nullptr;
}

bool is_unchanged(const dl_phdr_info& info, size_t size) noexcept {
  if (size < offsetof(dl_phdr_info, dlpi_subs) + sizeof info.dlpi_subs) return false;
  const bool unchanged = info.dlpi_adds == seen_adds && info.dlpi_subs == seen_subs;
  seen_adds = info.dlpi_adds;
  seen_subs = info.dlpi_subs;
  return unchanged;
}

int redirect_module(dl_phdr_info* info, size_t size, void* raw) noexcept {
  auto& first = *static_cast<bool*>(raw);
  if (first && is_unchanged(*info, size)) return 1;
  first = false;
  if (!has_import_slots(*info)) return 0;
  ImportSlots imports(*info);
  imports.for_each([&](void** slot, const char* name) {
    void* const ours = ours_of(name);
    if (!ours || *slot == ours) return;
    Slot* known = saved(slot);  // of an unloaded module at the same address
    if (known)
      known->before = *slot;
    else if (!slots.push({slot, *slot}))
      return;
    imports.write(slot, ours);
  });
  return 0;
}

int restore_module(dl_phdr_info* info, size_t, void*) noexcept {
  if (!has_import_slots(*info)) return 0;
  ImportSlots imports(*info);
  imports.for_each([&](void** slot, const char*) {
    if (!is_of_this_library(*slot)) return;
    if (const Slot* known = saved(slot)) imports.write(slot, known->before);
  });
  return 0;
}

class Busy {
 public:
  Busy() noexcept {
    while (busy.test_and_set(std::memory_order_acquire)) raw_syscall(SYS_sched_yield);
  }
  ~Busy() { busy.clear(std::memory_order_release); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
};

}  // namespace

bool is_loaded_late() noexcept {
  return !is_of_this_library(dlsym(RTLD_DEFAULT, "pthread_create"));
}

void redirect_calls() noexcept {
  // Another thread that holds the flag, possibly waiting for the loader, handles the rest.
  if (frozen.load() || busy.test_and_set(std::memory_order_acquire)) return;
  find_functions();
  bool first = true;
  dl_iterate_phdr(redirect_module, &first);
  busy.clear(std::memory_order_release);
}

void redirection_after_fork() noexcept {
  frozen.store(true);
  busy.clear();
}

void restore_calls() noexcept {
  if (frozen.load()) return;
  const Busy alone;
  dl_iterate_phdr(restore_module, nullptr);
  slots.clear();
  seen_adds = 0;
}

}  // namespace hpcrun
