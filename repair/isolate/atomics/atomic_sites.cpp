#include "repair/isolate/atomics/atomic_sites.h"

#include <cpuid.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "hpcrun/guest/safe_load.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/atomics/atomic_plan.h"
#include "repair/isolate/contract/interface.h"
#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/contract/pages.h"

extern "C" {
void hpcrun_atomic_slow_path() noexcept;
extern uint32_t hpcrun_vector_state;
extern bool hpcrun_has_compact_save;
constinit uint32_t hpcrun_vector_state = 0;  // XSAVE's components
constinit bool hpcrun_has_compact_save = false;
}

namespace hpcrun {

namespace {

// Set and cleared by trampolines.
constinit thread_local volatile bool at_site __attribute__((tls_model("initial-exec"))) = false;

constinit AtomicPlans plans;
constinit std::atomic<uint64_t> trampoline_bytes{0};
// The range that contains all trampolines.
constinit std::atomic<uint64_t> trampolines_low{~uint64_t{0}}, trampolines_high{0};

constinit std::atomic<void (*)(uint64_t) noexcept> before_atomic{nullptr};

// Executable memory of a module, with its patches.
struct Text {
  uint64_t low;  // whole pages
  uint64_t high;
  int protection;
  size_t first_patch;
  size_t last_patch;
  bool is_kept = false;  // in the file kept_in
};
constexpr size_t kMaxTexts = 1 << 14;
constinit MappedArray<Text, kMaxTexts> texts;

// The file of common memory, with the code for converted threads.
int kept_in = -1;
uint64_t kept_inode = 0;

// The slow path must save at least all components that hold data, and all of these must fit into its room.
bool knows_vector_state() noexcept {
  if (hpcrun_vector_state) return true;
  uint32_t a = 0, b = 0, c = 0, d = 0;
  constexpr uint32_t kIsSaved = 1u << 27;  // OSXSAVE
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kIsSaved)) return false;
  uint32_t enabled = 0, upper = 0;
  asm volatile("xgetbv" : "=a"(enabled), "=d"(upper) : "c"(0));
  constexpr uint32_t kComponents = 0b1110'0110;  // SSE, AVX, and three of AVX-512
  constexpr uint32_t kRoom = 2688;               // atomic_slow_path.S
  for (uint32_t component = 2; component < 8; ++component) {
    if (!(enabled & kComponents & 1u << component)) continue;
    if (!__get_cpuid_count(0xd, component, &a, &b, &c, &d) || a + b > kRoom) return false;
  }
  constexpr uint32_t kCompact = 1u << 1;  // XSAVEC
  if (__get_cpuid_count(0xd, 1, &a, &b, &c, &d)) hpcrun_has_compact_save = a & kCompact;
  hpcrun_vector_state = enabled & kComponents;
  return true;
}

void widen_trampolines(uint64_t low, uint64_t high) noexcept {
  trampolines_low.store(std::min(trampolines_low.load(), low));
  trampolines_high.store(std::max(trampolines_high.load(), high));
}

uint64_t segment_base() noexcept {
  uint64_t base;
  asm("movq %%fs:0, %0" : "=r"(base));
  return base;
}

int32_t offset_of(const volatile void* variable) noexcept {
  return static_cast<int32_t>(static_cast<int64_t>(reinterpret_cast<uint64_t>(variable) - segment_base()));
}

const char* plan_segments(const dl_phdr_info& module, TrampolinePlaces& places) noexcept {
  const TrampolineTargets targets{offset_of(&own_pages), offset_of(&at_site),
                                  reinterpret_cast<uint64_t>(&hpcrun_atomic_slow_path)};
  const CodeFunctions functions(module);
  AtomicPlanner planner(plans, places, targets);
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const auto& header = module.dlpi_phdr[i];
    if (header.p_type != PT_LOAD || !(header.p_flags & PF_X)) continue;
    const uint64_t low = module.dlpi_addr + header.p_vaddr;
    const uint64_t high = low + header.p_memsz;
    const size_t first = plans.patches.size();
    if (const char* refusal = planner.plan(functions, low, high)) return refusal;
    const int protection =
        PROT_EXEC | (header.p_flags & PF_R ? PROT_READ : 0) | (header.p_flags & PF_W ? PROT_WRITE : 0);
    if (!texts.add({page_down(low), page_up(high), protection, first, plans.patches.size()}))
      return "the program has too many modules";
  }
  return nullptr;
}

bool is_known(const dl_phdr_info& module) noexcept {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const auto& header = module.dlpi_phdr[i];
    if (header.p_type != PT_LOAD || !(header.p_flags & PF_X)) continue;
    for (const Text& text : texts)
      if (text.low == page_down(module.dlpi_addr + header.p_vaddr)) return true;
  }
  return false;
}

bool protect(const Text& text, int protection) noexcept {
  return raw_syscall(SYS_mprotect, static_cast<long>(text.low), static_cast<long>(text.high - text.low),
                     protection) == 0;
}

// Another module's code may lie there by now, or none. Checks some places.
bool has_bytes(const Text& text, const uint8_t (CodePatch::*bytes)[kJumpBytes]) noexcept {
  constexpr size_t kLooks = 3;  // each faults in a new converted thread
  const size_t step = std::max<size_t>((text.last_patch - text.first_patch) / kLooks, 1);
  for (size_t number = text.first_patch; number < text.last_patch; number += step) {
    const CodePatch& patch = plans.patches[number];
    uint8_t there[kJumpBytes];
    if (!safe_read(patch.address, there, patch.bytes) || memcmp(there, patch.*bytes, patch.bytes) != 0)
      return false;
  }
  return true;
}

bool write_patches(const Text& text, const uint8_t (CodePatch::*bytes)[kJumpBytes]) noexcept {
  if (text.first_patch == text.last_patch) return true;
  if (!protect(text, PROT_READ | PROT_WRITE)) return false;
  for (size_t number = text.first_patch; number < text.last_patch; ++number) {
    const CodePatch& patch = plans.patches[number];
    auto* const to = reinterpret_cast<volatile uint8_t*>(patch.address);
    for (uint8_t i = 0; i < patch.bytes; ++i) to[i] = (patch.*bytes)[i];
  }
  return protect(text, text.protection);
}

// Patches a copy of a page that is written to the file.
void patch_copy(uint8_t* copy, uint64_t page, const Text& text) noexcept {
  for (size_t number = text.first_patch; number < text.last_patch; ++number) {
    const CodePatch& patch = plans.patches[number];
    for (uint8_t i = 0; i < patch.bytes; ++i)
      if (page_down(patch.address + i) == page) copy[patch.address + i - page] = patch.after[i];
  }
}

bool write_to_file(const void* from, size_t bytes, uint64_t offset) noexcept {
  return raw_syscall(SYS_pwrite64, kept_in, reinterpret_cast<long>(from), static_cast<long>(bytes),
                     static_cast<long>(offset)) == static_cast<long>(bytes);
}

bool keep(const Text& text) noexcept {
  constexpr uint64_t kMaxBytes = 16 << 20;
  if (text.high - text.low > kMaxBytes) return false;
  if (!write_to_file(reinterpret_cast<const void*>(text.low), text.high - text.low, text.low)) return false;
  uint64_t last = 0;
  for (size_t number = text.first_patch; number < text.last_patch; ++number) {
    const CodePatch& patch = plans.patches[number];
    for (const uint64_t page : {page_down(patch.address), page_down(patch.address + patch.bytes - 1)}) {
      if (page == last) continue;
      last = page;
      uint8_t copy[kPageBytes];
      memcpy(copy, reinterpret_cast<const void*>(page), sizeof copy);
      patch_copy(copy, page, text);
      if (!write_to_file(copy, sizeof copy, page)) return false;
    }
  }
  return true;
}

bool map_kept(const Text& text) noexcept {
  return text.is_kept &&
         sys_mmap(reinterpret_cast<void*>(text.low), text.high - text.low, text.protection,
                  MAP_PRIVATE | MAP_FIXED, kept_in, static_cast<int64_t>(text.low)) != MAP_FAILED;
}

// Returns the offset of the word with a bit that a register counts from the operand's address on (Intel's
// manual, volume 2, BTS).
int64_t offset_of_bit(uint64_t number, uint16_t bytes) noexcept {
  switch (bytes) {
    case 2:
      return int64_t{static_cast<int16_t>(number) >> 4} * 2;
    case 4:
      return int64_t{static_cast<int32_t>(number) >> 5} * 4;
    default:
      return (static_cast<int64_t>(number) >> 6) * 8;
  }
}

uint64_t address_at(const AtomicSite& site, const MachineState& state) noexcept {
  const MemoryOperand& operand = site.operand;
  uint64_t address = static_cast<uint64_t>(operand.displacement);
  if (operand.base != kNoRegister) address += state.general[operand.base];
  if (operand.index != kNoRegister) address += state.general[operand.index] * operand.scale;
  if (operand.segment == Segment::Fs) address += state.fs_base;
  if (site.bit_register != kNoRegister)
    address += static_cast<uint64_t>(offset_of_bit(state.general[site.bit_register], operand.bytes));
  return address;
}

}  // namespace

const char* plan_atomic_sites(const dl_phdr_info& module) noexcept {
  if (is_known(module)) return nullptr;
  if (!knows_vector_state()) return "the processor's vector registers cannot be saved";
  const size_t sites = plans.sites.size(), moved = plans.moved.size(), patches = plans.patches.size();
  const size_t known = texts.size();
  static constinit TrampolinePlaces places;
  const char* refusal = places.begin() ? plan_segments(module, places) : "its memory is not known";
  if (!refusal && !places.finish()) refusal = "the kernel refuses executable memory";
  if (refusal) {
    plans.sites.cut(sites);
    plans.moved.cut(moved);
    plans.patches.cut(patches);
    texts.cut(known);
    places.give_up();
    return refusal;
  }
  trampoline_bytes.fetch_add(places.mapped_bytes());
  for (size_t number = sites; number < plans.sites.size(); ++number) {
    const AtomicSite& site = plans.sites[number];
    widen_trampolines(site.trampoline, site.trampoline + atomic_trampoline_bytes(site.length));
  }
  for (size_t number = moved; number < plans.moved.size(); ++number)
    widen_trampolines(plans.moved[number].copy, plans.moved[number].copy + plans.moved[number].copied_bytes);
  return nullptr;
}

void remove_atomic_sites(uint64_t low, uint64_t high) noexcept {
  for (size_t number = texts.size(); number-- > 0;)
    if (texts[number].low < high && texts[number].high > low) texts.erase(number, number + 1);
}

bool patch_atomic_sites() noexcept {
  for (size_t number = 0; number < texts.size(); ++number) {
    const Text& text = texts[number];
    if (has_bytes(text, &CodePatch::before) && (map_kept(text) || write_patches(text, &CodePatch::after)))
      continue;
    while (number-- > 0) write_patches(texts[number], &CodePatch::before);
    return false;
  }
  return true;
}

void keep_patched_code(int file, uint64_t inode) noexcept {
  const bool is_another = file != kept_in || inode != kept_inode;
  kept_in = file;
  kept_inode = inode;
  for (size_t number = 0; number < texts.size(); ++number) {
    Text& text = texts[number];
    if (is_another || !text.is_kept) text.is_kept = text.first_patch < text.last_patch && keep(text);
  }
}

void unpatch_atomic_sites() noexcept {
  for (const Text& text : texts) write_patches(text, &CodePatch::before);
}

bool is_at_atomic_site() noexcept {
  return at_site;
}

uint64_t place_in_program(uint64_t pc) noexcept {
  for (const AtomicSite& site : plans.sites) {
    const uint64_t offset = pc - site.trampoline;
    if (offset == 0 || offset == site.copies[0] || offset == site.copies[1]) return site.address;
  }
  for (const MovedCode& moved : plans.moved)
    if (pc == moved.copy) return moved.address;
  return pc;
}

uint64_t leave_atomic_site(uint64_t pc) noexcept {
  const uint64_t place = place_in_program(pc);
  if (place != pc) at_site = false;
  return place;
}

bool leave_trampoline(uint64_t& pc, uint64_t& sp) noexcept {
  if (pc < trampolines_low.load() || pc >= trampolines_high.load()) return false;
  for (const AtomicSite& site : plans.sites) {
    const uint64_t offset = pc - site.trampoline;
    if (offset >= atomic_trampoline_bytes(site.length)) continue;
    const TrampolinePosition position = position_in_trampoline(site, offset);
    pc = site.address + (position.is_behind ? site.length : 0);
    sp += position.stack_bytes;
    return true;
  }
  for (const MovedCode& moved : plans.moved) {
    if (pc - moved.copy >= moved.copied_bytes) continue;
    pc = pc == moved.copy ? moved.address : moved.address + moved.length;
    return true;
  }
  return false;
}

void set_before_atomic(void (*before)(uint64_t instruction) noexcept) noexcept {
  before_atomic.store(before, std::memory_order_release);
}

AtomicSiteCounts atomic_site_counts() noexcept {
  return {plans.sites.size(), plans.moved.size(), trampoline_bytes.load()};
}

}  // namespace hpcrun

// Called before the instruction of the site, or after it if `site` is null. The thread may come home at any
// time in here, and has no private pages then.
extern "C" void hpcrun_at_atomic_site(const hpcrun::AtomicSite* site,
                                      const hpcrun::MachineState* state) noexcept;
void hpcrun_at_atomic_site(const hpcrun::AtomicSite* site, const hpcrun::MachineState* state) noexcept {
  using namespace hpcrun;
  PrivatePages* const pages = own_pages;
  if (!pages) return;
  pages->commit(site ? Stores::Own : Stores::Others);
  if (!site) return;
  constexpr auto kWhy = static_cast<uint64_t>(WhyShared::AtomicUse);
  const uint64_t address = address_at(*site, *state);
  share_own_page(*pages, address, kWhy);
  share_own_page(*pages, address + site->operand.bytes - 1, kWhy);
  if (const auto before = before_atomic.load(std::memory_order_acquire)) before(site->address);
}
