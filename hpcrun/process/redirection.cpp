#include "hpcrun/process/redirection.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/unwind/scratch.h"

// The linker's: where this library begins and ends.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char _end[];

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

constexpr uint64_t kPage = 4096;

// Used by one thread at a time: under this flag, which the loader's lock may be waited for under.
std::atomic_flag busy;
constinit Scratch<Function> functions;
constinit Scratch<Slot> slots;
std::atomic<bool> frozen{false};
unsigned long long seen_adds = 0;
unsigned long long seen_subs = 0;

bool is_ours(const void* address) noexcept {
  return address >= __ehdr_start && address < _end;
}

// What the dynamic section of a loaded module says; the loader has made its addresses absolute.
struct Dynamic {
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const Elf64_Rela* relocations[2] = {};
  size_t counts[2] = {};
};

Dynamic read_dynamic(const dl_phdr_info& info) noexcept {
  Dynamic dynamic;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const Elf64_Dyn*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      const uint64_t address = entry->d_un.d_ptr;
      switch (entry->d_tag) {
        case DT_SYMTAB:
          dynamic.symbols = reinterpret_cast<const Elf64_Sym*>(address);
          break;
        case DT_STRTAB:
          dynamic.strings = reinterpret_cast<const char*>(address);
          break;
        case DT_GNU_HASH:
          dynamic.gnu_hash = reinterpret_cast<const uint32_t*>(address);
          break;
        case DT_JMPREL:
          dynamic.relocations[0] = reinterpret_cast<const Elf64_Rela*>(address);
          break;
        case DT_PLTRELSZ:
          dynamic.counts[0] = entry->d_un.d_val / sizeof(Elf64_Rela);
          break;
        case DT_RELA:
          dynamic.relocations[1] = reinterpret_cast<const Elf64_Rela*>(address);
          break;
        case DT_RELASZ:
          dynamic.counts[1] = entry->d_un.d_val / sizeof(Elf64_Rela);
          break;
        default:
          break;
      }
    }
  }
  return dynamic;
}

// The kernel's, whose addresses nobody made absolute, and the loader, which calls nothing of ours.
bool is_left_alone(const dl_phdr_info& info) noexcept {
  const uint64_t bias = info.dlpi_addr;
  if (bias == getauxval(AT_SYSINFO_EHDR) || bias == getauxval(AT_BASE)) return true;
  for (int i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_LOAD &&
        is_ours(reinterpret_cast<void*>(bias + info.dlpi_phdr[i].p_vaddr)))
      return true;
  return false;
}

// Every symbol that this library defines for others, by the layout of DT_GNU_HASH.
int list_functions(dl_phdr_info* info, size_t, void*) noexcept {
  if (!is_left_alone(*info) || info->dlpi_addr != reinterpret_cast<uint64_t>(__ehdr_start)) return 0;
  const Dynamic dynamic = read_dynamic(*info);
  if (!dynamic.gnu_hash || !dynamic.symbols) return 1;
  const uint32_t buckets = dynamic.gnu_hash[0];
  const uint32_t first = dynamic.gnu_hash[1];
  const uint32_t* bucket = dynamic.gnu_hash + 4 + size_t{dynamic.gnu_hash[2]} * 2;
  const uint32_t* chain = bucket + buckets;
  for (uint32_t i = 0; i < buckets; ++i) {
    for (uint32_t symbol = bucket[i]; symbol >= first; ++symbol) {
      const Elf64_Sym& found = dynamic.symbols[symbol];
      if (ELF64_ST_TYPE(found.st_info) == STT_FUNC && found.st_shndx != SHN_UNDEF)
        functions.push(
            {dynamic.strings + found.st_name, reinterpret_cast<void*>(info->dlpi_addr + found.st_value)});
      if (chain[symbol - first] & 1) break;
    }
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
  // The executable's own come before a preloaded library's, too.
  uint64_t executable[2] = {};
  dl_iterate_phdr(executable_bounds, executable);
  Function* kept = functions.begin();
  for (const Function& function : functions) {
    const auto at = reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, function.name));
    if (at < executable[0] || at >= executable[1]) *kept++ = function;
  }
  functions.resize_zeroed(static_cast<size_t>(kept - functions.begin()));
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

// The part of a module that the loader made read-only after relocation; writable while alive, once needed.
class Relro {
 public:
  explicit Relro(const dl_phdr_info& info) noexcept {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const Elf64_Phdr& header = info.dlpi_phdr[i];
      if (header.p_type != PT_GNU_RELRO) continue;
      low_ = (info.dlpi_addr + header.p_vaddr) / kPage * kPage;
      high_ = (info.dlpi_addr + header.p_vaddr + header.p_memsz) / kPage * kPage;
    }
  }
  ~Relro() {
    if (open_) protect(PROT_READ);
  }
  Relro(const Relro&) = delete;
  Relro& operator=(const Relro&) = delete;

  bool make_writable(const void* slot) noexcept {
    const auto at = reinterpret_cast<uint64_t>(slot);
    if (at < low_ || at >= high_ || open_) return true;
    open_ = protect(PROT_READ | PROT_WRITE);
    return open_;
  }

 private:
  bool protect(int protection) const noexcept {
    return raw_syscall(SYS_mprotect, static_cast<long>(low_), static_cast<long>(high_ - low_), protection) ==
           0;
  }

  uint64_t low_ = 0;
  uint64_t high_ = 0;
  bool open_ = false;
};

// Others call through the slot while it is written: one aligned store.
void write_slot(Relro& relro, void** slot, void* value) noexcept {
  if (relro.make_writable(slot)) __atomic_store_n(slot, value, __ATOMIC_RELEASE);
}

template <typename Use>
void for_each_slot(const dl_phdr_info& info, Use use) noexcept {
  const Dynamic dynamic = read_dynamic(info);
  if (!dynamic.symbols || !dynamic.strings) return;
  for (int table = 0; table < 2; ++table) {
    for (size_t i = 0; dynamic.relocations[table] && i < dynamic.counts[table]; ++i) {
      const Elf64_Rela& relocation = dynamic.relocations[table][i];
      const auto type = ELF64_R_TYPE(relocation.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const Elf64_Sym& symbol = dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
      if (symbol.st_shndx == SHN_UNDEF)
        use(reinterpret_cast<void**>(info.dlpi_addr + relocation.r_offset), dynamic.strings + symbol.st_name);
    }
  }
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
  if (is_left_alone(*info)) return 0;
  Relro relro(*info);
  for_each_slot(*info, [&](void** slot, const char* name) {
    void* const ours = ours_of(name);
    if (!ours || *slot == ours) return;
    Slot* known = saved(slot);  // of a module that was there before this one
    if (known)
      known->before = *slot;
    else if (!slots.push({slot, *slot}))
      return;
    write_slot(relro, slot, ours);
  });
  return 0;
}

int restore_module(dl_phdr_info* info, size_t, void*) noexcept {
  if (is_left_alone(*info)) return 0;
  Relro relro(*info);
  for_each_slot(*info, [&](void** slot, const char*) {
    if (!is_ours(*slot)) return;
    if (const Slot* known = saved(slot)) write_slot(relro, slot, known->before);
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
  return !is_ours(dlsym(RTLD_DEFAULT, "pthread_create"));
}

void redirect_calls() noexcept {
  // Another thread that is at it, perhaps waiting for the loader, sees to the rest.
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
