#include "repair/isolate/memory/move_mappings.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "hpcrun/guest/own_mappings.h"

namespace hpcrun {

namespace {

struct Private {
  uint64_t low;
  uint64_t high;
  int protection;
  bool is_anonymous;
  bool is_stack;
  bool is_left;             // a private mapping of a file that was common memory
  uint64_t mapped_low = 0;  // for a stack with room to grow: the part that exists already
};

// As many as the kernel's default allows mappings (vm.max_map_count), and more.
constexpr size_t kMaxMappings = 1 << 17;

// Larger mappings are reserved address space with little use, as sanitizers have it; they stay.
constexpr uint64_t kMaxBytes = uint64_t{64} << 30;

// Tells which pages of anonymous memory have contents (Documentation/admin-guide/mm/pagemap.rst).
class PageMap {
 public:
  PageMap() noexcept
      : file_(static_cast<int>(raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/pagemap"),
                                           O_RDONLY | O_CLOEXEC))) {}
  ~PageMap() {
    if (file_ >= 0) raw_syscall(SYS_close, file_);
  }
  // Discards the contents, which may be outdated.
  void clear() noexcept { is_filled_ = false; }

  PageMap(const PageMap&) = delete;
  PageMap& operator=(const PageMap&) = delete;

  bool has_contents(uint64_t page) noexcept { return look(page) & (kPresent | kSwapped); }
  // For a private mapping of a file: true if the process wrote the page.
  bool is_own(uint64_t page) noexcept {
    const uint64_t entry = look(page);
    return entry & kSwapped || (entry & kPresent && !(entry & kOfFile));
  }

 private:
  static constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62,
                            kOfFile = uint64_t{1} << 61;
  static constexpr size_t kEntries = 512;

  // Without the information, a page has contents and is the process's own.
  uint64_t look(uint64_t page) noexcept {
    if (file_ < 0) return kPresent;
    const uint64_t number = page / kPageBytes;
    if (number < first_ || number >= first_ + kEntries || !is_filled_) {
      first_ = number / kEntries * kEntries;
      memset(entries_, 0, sizeof entries_);
      if (raw_syscall(SYS_pread64, file_, reinterpret_cast<long>(entries_), sizeof entries_,
                      static_cast<long>(first_ * sizeof(uint64_t))) <= 0)
        return kPresent;
      is_filled_ = true;
    }
    return entries_[number - first_];
  }

  int file_;
  bool is_filled_ = false;
  uint64_t first_ = 0;
  uint64_t entries_[kEntries];
};

struct List {
  PageMap contents;
  Private* entries = nullptr;
  size_t count = 0;
  uint64_t left_inode = 0;
  uint64_t end_before_stack = 0;
  uint64_t last_end = 0;
};

// True for data that the loader wrote before it became read-only (PT_GNU_RELRO). Converted threads only read
// it, but as private memory it would cost each of them a page of page tables and the kernel's work on a
// mapping.
bool has_own_pages(const OwnMapping& mapping, PageMap& contents) noexcept {
  constexpr uint64_t kMaxContentBytes = uint64_t{4} << 20;
  if (mapping.is_shared || mapping.is_writable || mapping.is_executable || !mapping.is_readable) return false;
  if (mapping.high - mapping.low > kMaxContentBytes) return false;
  contents.clear();
  for (uint64_t page = mapping.low; page < mapping.high; page += kPageBytes)
    if (contents.is_own(page)) return true;
  return false;
}

void add_to_list(void* argument, const OwnMapping& mapping) noexcept {
  auto& list = *static_cast<List*>(argument);
  const bool is_stack = !strcmp(mapping.name, "[stack]");
  const bool is_special = mapping.name[0] == '[' && !is_stack && strcmp(mapping.name, "[heap]") &&
                          strncmp(mapping.name, "[anon:", 6);
  const bool is_common = is_common_file(mapping.name);
  const bool is_left = is_common && mapping.inode == list.left_inode;
  const bool is_too_large = mapping.high - mapping.low > kMaxBytes || mapping.high > kAddressSpaceBytes;
  // Files that are mapped read-only stay as they are. Anonymous memory may become writable.
  const bool is_wanted =
      !mapping.is_shared && !is_special &&
      (mapping.is_writable || !mapping.inode || is_left || has_own_pages(mapping, list.contents));
  if (is_wanted && !is_too_large && list.count < kMaxMappings)
    list.entries[list.count++] = {mapping.low,    mapping.high, protection_of(mapping),
                                  !mapping.inode, is_stack,     is_left};
  // Other pages may lie where ours were, from calls that were not seen.
  if (!is_common && !is_too_large) common_state.hold.common.clear(mapping.low, mapping.high);
  if (is_stack) list.end_before_stack = list.last_end;
  list.last_end = mapping.high;
}

// Does not use memcpy: nothing of the C library may be written between copying and mapping, including its
// lazy bindings.
void copy_bytes(uint64_t to, uint64_t from, uint64_t bytes) noexcept {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

constexpr char kNoRoom[] = "the kernel refuses to map it";

// The part of a range that is copied last because it changes until then: the current stack with the frames of
// this file and those below. Empty in other ranges.
struct Window {
  uint64_t low, high;
  bool has(uint64_t address) const noexcept { return address >= low && address < high; }
};

Window used_now(uint64_t low, uint64_t high) noexcept {
  constexpr uint64_t kFrames = 16 * kPageBytes;
  uint64_t here;
  asm("mov %%rsp, %0" : "=r"(here));
  if (here < low || here >= high) return {low, low};
  return {std::max(low, page_down(here) - kPageBytes), std::min(high, page_down(here) + kFrames)};
}

// Writes the window to the file and maps the file's pages over the range. A single function, so that nothing
// is pushed between the two on the stack that may lie there.
bool write_and_map(Window window, const Private& range) noexcept {
  const struct {
    long file;
    uint64_t from, bytes;
    uint64_t low, length;
    long protection;
  } what = {common_state.hold.file, window.low,      window.high - window.low, range.low,
            range.high - range.low, range.protection};
  uint64_t result;
  asm volatile(
      "mov 0(%[what]), %%rdi\n\t"
      "mov 8(%[what]), %%rsi\n\t"
      "mov 16(%[what]), %%rdx\n\t"
      "mov %%rsi, %%r10\n\t"
      "mov %[write], %%eax\n\t"
      "syscall\n\t"
      "cmp 16(%[what]), %%rax\n\t"
      "jne 1f\n\t"
      "mov 24(%[what]), %%rdi\n\t"
      "mov 32(%[what]), %%rsi\n\t"
      "mov 40(%[what]), %%rdx\n\t"
      "mov %[flags], %%r10d\n\t"
      "mov 0(%[what]), %%r8\n\t"
      "mov %%rdi, %%r9\n\t"
      "mov %[map], %%eax\n\t"
      "syscall\n"
      "1:"
      : "=&a"(result)
      : [what] "r"(&what), [write] "i"(SYS_pwrite64), [map] "i"(SYS_mmap),
        [flags] "i"(MAP_SHARED | MAP_FIXED | MAP_NORESERVE)
      : "rdi", "rsi", "rdx", "r10", "r8", "r9", "rcx", "r11", "cc", "memory");
  return result == range.low;
}

bool write_to_file(uint64_t low, uint64_t high) noexcept {
  while (low < high) {
    const long written = raw_syscall(SYS_pwrite64, common_state.hold.file, static_cast<long>(low),
                                     static_cast<long>(high - low), static_cast<long>(low));
    if (written <= 0) return false;
    low += static_cast<uint64_t>(written);
  }
  return true;
}

// The file may still have earlier contents: calls that were not seen drop them from memory only.
bool empty_in_file(uint64_t low, uint64_t high) noexcept {
  return raw_syscall(SYS_fallocate, common_state.hold.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     static_cast<long>(low), static_cast<long>(high - low)) == 0;
}

// Copies the window into readable and writable private memory elsewhere, and moves that here.
long copy_and_move(uint64_t fresh, Window window, uint64_t low, uint64_t high) noexcept {
  uint64_t to = fresh + (window.low - low), from = window.low, bytes = window.high - window.low;
  register long flags asm("r10") = MREMAP_MAYMOVE | MREMAP_FIXED;
  register uint64_t place asm("r8") = low;
  long result;
  asm volatile(
      "rep movsb\n\t"
      "mov %[fresh], %%rdi\n\t"
      "mov %[length], %%rsi\n\t"
      "mov %[number], %%eax\n\t"
      "syscall"
      : "=&a"(result), "+&D"(to), "+&S"(from), "+&c"(bytes)
      : [fresh] "r"(fresh), [length] "r"(high - low), [number] "i"(SYS_mremap), "d"(high - low), "r"(flags),
        "r"(place)
      : "r11", "memory");
  return result;
}

// As a mapping of a file the main stack does not grow, so its whole room is mapped.
Private with_room_to_grow(Private stack, uint64_t end_before) noexcept {
  rlimit limit{};
  raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, reinterpret_cast<long>(&limit));
  constexpr uint64_t kUnlimited = uint64_t{1} << 30;
  constexpr uint64_t kGap = uint64_t{1} << 20;  // below it, as the kernel keeps (stack_guard_gap)
  const uint64_t lowest =
      std::max(end_before + kGap, stack.high - page_up(std::min<uint64_t>(limit.rlim_cur, kUnlimited)));
  stack.mapped_low = stack.low;
  stack.low = std::min(stack.low, lowest);
  return stack;
}

// Finds the pages of a file of common memory that was left that have contents and were not written since.
class LeftFile {
 public:
  // -1: the program has closed it, and all pages may have contents.
  explicit LeftFile(int file) noexcept : file_(file) {}

  bool has_contents(uint64_t page) noexcept {
    if (file_ < 0) return true;
    if (page < from_ || page >= end_) look_at(page);
    return page >= begin_ && page < end_;
  }

 private:
  // [from_, begin_) has no contents, and [begin_, end_) has.
  void look_at(uint64_t page) noexcept {
    constexpr long kNowhere = static_cast<long>(kAddressSpaceBytes);
    const long begin = raw_syscall(SYS_lseek, file_, static_cast<long>(page), SEEK_DATA);
    const long end = begin < 0 ? kNowhere : raw_syscall(SYS_lseek, file_, begin, SEEK_HOLE);
    from_ = page;
    begin_ = static_cast<uint64_t>(begin < 0 ? kNowhere : begin);
    end_ = static_cast<uint64_t>(end < 0 ? kNowhere : end);
  }

  int file_;
  uint64_t from_ = 0, begin_ = 0, end_ = 0;
};

const char* move(const Private& range, PageMap& contents, LeftFile& left_file) noexcept {
  contents.clear();
  const bool is_readable = range.protection & PROT_READ;
  if (!is_readable && raw_syscall(SYS_mprotect, static_cast<long>(range.low),
                                  static_cast<long>(range.high - range.low), PROT_READ) < 0)
    return kNoRoom;
  const Window window = used_now(range.low, range.high);
  const auto is_written = [&](uint64_t page) {
    return !window.has(page) && (contents.has_contents(page) ||
                                 (range.is_left ? left_file.has_contents(page) : !range.is_anonymous));
  };
  for (uint64_t low = std::max(range.low, range.mapped_low), high; low < range.high; low = high) {
    const bool writes = is_written(low);
    for (high = low + kPageBytes; high < range.high && is_written(high) == writes; high += kPageBytes) {
    }
    if (!(writes ? write_to_file(low, high) : empty_in_file(low, high))) return kNoRoom;
  }
  if (!write_and_map(window, range)) return kNoRoom;
  note_common(range.low, range.high, range.protection);
  if (range.is_stack) {
    common_state.stack_low = range.low;
    common_state.stack_high = range.high;
  }
  return nullptr;
}

// Moves common memory back that was left.
bool move_back(const Private& range, PageMap& contents, LeftFile& file) noexcept {
  contents.clear();
  const uint64_t bytes = range.high - range.low;
  const bool is_readable = range.protection & PROT_READ;
  void* const fresh =
      sys_mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) return false;
  const auto to = reinterpret_cast<uint64_t>(fresh);
  if (!is_readable)
    raw_syscall(SYS_mprotect, static_cast<long>(range.low), static_cast<long>(bytes), PROT_READ);
  const Window window = used_now(range.low, range.high);
  for (uint64_t page = range.low; page < range.high; page += kPageBytes)
    if (!window.has(page) && (!range.is_left || contents.has_contents(page) || file.has_contents(page)))
      copy_bytes(to + (page - range.low), page, kPageBytes);
  if (copy_and_move(to, window, range.low, range.high) < 0) return false;
  if (range.protection != (PROT_READ | PROT_WRITE))
    raw_syscall(SYS_mprotect, static_cast<long>(range.low), static_cast<long>(bytes), range.protection);
  return true;
}

// Adds the parts of the file's mappings that are in use.
void add_left(void* argument, const OwnMapping& mapping) noexcept {
  auto& list = *static_cast<List*>(argument);
  const CommonHold& hold = common_state.hold;
  if (!is_common_file(mapping.name)) return;
  // The tables may be part of the same mapping; none of their pages is common.
  for (uint64_t low = mapping.low; low < mapping.high;) {
    const uint64_t high = hold.common.run_end(low, mapping.high);
    if (hold.common.has(low) && list.count < kMaxMappings)
      list.entries[list.count++] = {low,   high,  protection_of(mapping),
                                    false, false, mapping.inode == list.left_inode};
    low = high;
  }
}

bool make_list(List& list) noexcept {
  list.entries =
      static_cast<Private*>(sys_mmap(nullptr, kMaxMappings * sizeof(Private), PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  return list.entries != MAP_FAILED;
}

void drop_list(const List& list) noexcept {
  sys_munmap(list.entries, kMaxMappings * sizeof(Private));
}

}  // namespace

bool move_mappings_back(int file) noexcept {
  List list;
  if (!make_list(list)) return false;
  list.left_inode = common_state.hold.inode;
  for_each_mapping(add_left, &list);
  LeftFile left(file);
  bool is_done = true;
  for (size_t at = 0; at < list.count && is_done; ++at)
    is_done = move_back(list.entries[at], list.contents, left);
  drop_list(list);
  return is_done;
}

const char* move_mappings(int left_file, uint64_t left_inode) noexcept {
  List list;
  if (!make_list(list)) return kNoRoom;
  list.left_inode = left_inode;
  for_each_mapping(add_to_list, &list);
  LeftFile left(left_file);
  const char* refusal = list.count ? nullptr : "/proc/self/maps cannot be read";
  for (size_t at = 0; at < list.count && !refusal; ++at)
    refusal = move(list.entries[at].is_stack ? with_room_to_grow(list.entries[at], list.end_before_stack)
                                             : list.entries[at],
                   list.contents, left);
  drop_list(list);
  return refusal;
}

}  // namespace hpcrun
