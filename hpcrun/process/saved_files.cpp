#include "hpcrun/process/saved_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>

#include "hpcrun/elf/headers.h"
#include "hpcrun/guest/own_mappings.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/sample/config.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

namespace {

constexpr uint64_t kMaxSavedBytes = 256u << 20;
constexpr size_t kMaxKnownFiles = 1024;  // those with higher ids are not saved
constexpr size_t kPathBytes = kMaxDirectory + 128;

struct KnownFile {
  const char* path;
  uint64_t start;
  uint64_t load_bias;
  FileIdentity file;
  // Set at the end: the mapping at `start`, if it is still that of the file. After an unload another mapping
  // may be there.
  uint64_t mapped_low, mapped_high;
};
constinit KnownFile known[kMaxKnownFiles] = {};  // by module id
constinit std::atomic_flag saving;               // two threads may call _exit() at once

bool file_at(int directory, const char* path, int flags, FileIdentity& file) noexcept {
  struct stat status {};
  if (raw_syscall(SYS_newfstatat, directory, reinterpret_cast<long>(path), reinterpret_cast<long>(&status),
                  flags) != 0 ||
      !S_ISREG(status.st_mode))
    return false;
  file = {status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size)};
  return true;
}

long open_file(const char* path, int flags) noexcept {
  return raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), flags | O_CLOEXEC, 0600);
}

class Descriptor {
 public:
  explicit Descriptor(long number) noexcept : number_(number) {}
  ~Descriptor() {
    if (is_open()) raw_syscall(SYS_close, number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool is_open() const noexcept { return number_ >= 0; }
  long number() const noexcept { return number_; }

 private:
  long number_;
};

void note_mapping(void*, const OwnMapping& mapping) noexcept {
  for (KnownFile& module : known) {
    if (!module.path || module.start < mapping.low || module.start >= mapping.high) continue;
    // Inodes of overlay file systems differ here from those of stat(). The path of a deleted file is followed
    // by further words.
    const bool is_file = module.file.device == kNoFileDevice || mapping.inode == module.file.inode ||
                         strncmp(mapping.name, module.path, strlen(module.path)) == 0;
    module.mapped_low = mapping.low;
    module.mapped_high = mapping.inode != 0 && is_file ? mapping.high : 0;
  }
}

bool is_foreign_to_prof() noexcept {
  const Config& config = process_state.config;
  struct stat status {};
  if (config.mounts == 0 || raw_syscall(SYS_newfstatat, AT_FDCWD, reinterpret_cast<long>("/proc/self/ns/mnt"),
                                        reinterpret_cast<long>(&status), 0) != 0)
    return false;
  return status.st_ino != config.mounts;
}

// Opens the module's file if it can still be reached: by its path, as the program that this process executes,
// or by its mapping, which requires root.
long open_gone(const KnownFile& module) noexcept {
  char by_mapping[64];
  snprintf(by_mapping, sizeof by_mapping, "/proc/self/map_files/%lx-%lx", module.mapped_low,
           module.mapped_high);
  for (const char* path : {module.path, "/proc/self/exe", static_cast<const char*>(by_mapping)}) {
    const long descriptor = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) continue;
    FileIdentity file;
    if (file_at(static_cast<int>(descriptor), "", AT_EMPTY_PATH, file) &&
        (file == module.file || path == by_mapping))
      return descriptor;
    raw_syscall(SYS_close, descriptor);
  }
  return -1;
}

bool copy_file(long from, long to) noexcept {
  uint64_t copied = 0;
  for (;;) {
    const long sent = raw_syscall(SYS_sendfile, to, from, 0, static_cast<long>(kMaxSavedBytes));
    if (sent <= 0) return sent == 0 && copied > 0;
    copied += static_cast<uint64_t>(sent);
  }
}

// Reads memory by writing it to the file: unreadable memory causes an error instead of a fault.
bool write_memory(long to, uint64_t address, uint64_t bytes, uint64_t offset) noexcept {
  while (bytes != 0) {
    const long written = raw_syscall(SYS_pwrite64, to, static_cast<long>(address), static_cast<long>(bytes),
                                     static_cast<long>(offset));
    if (written <= 0) return false;
    address += static_cast<uint64_t>(written);
    offset += static_cast<uint64_t>(written);
    bytes -= static_cast<uint64_t>(written);
  }
  return true;
}

// True for entries of the dynamic section to which the loader adds the load bias.
bool is_relocated(const Elf64_Dyn& entry) noexcept {
  switch (entry.d_tag) {
    case DT_HASH:
    case DT_GNU_HASH:
    case DT_STRTAB:
    case DT_SYMTAB:
    case DT_RELA:
    case DT_JMPREL:
    case DT_PLTGOT:
    case DT_VERSYM:
      return true;
    default:
      return false;
  }
}

bool read_back(long from, void* to, size_t bytes, uint64_t offset) noexcept {
  return raw_syscall(SYS_pread64, from, reinterpret_cast<long>(to), static_cast<long>(bytes),
                     static_cast<long>(offset)) == static_cast<long>(bytes);
}

// Restores the dynamic section to its contents before the module was loaded.
bool restore_dynamic(long to, const KnownFile& module, const Elf64_Phdr& header, uint64_t end) noexcept {
  constexpr size_t kMaxEntries = 256;
  static Elf64_Dyn entries[kMaxEntries];
  const size_t bytes = std::min(header.p_filesz / sizeof *entries, kMaxEntries) * sizeof *entries;
  if (!read_back(to, entries, bytes, header.p_offset)) return false;
  for (size_t i = 0; i < bytes / sizeof *entries; ++i)
    if (is_relocated(entries[i]) && entries[i].d_un.d_ptr >= module.load_bias &&
        entries[i].d_un.d_ptr - module.load_bias < end)
      entries[i].d_un.d_ptr -= module.load_bias;
  return write_memory(to, reinterpret_cast<uint64_t>(entries), bytes, header.p_offset);
}

// Saves the segments from memory. Parts that are not mapped, such as debug information, are missing.
// Everything is read back from the file, because another thread may unload the module meanwhile.
bool dump_memory(const KnownFile& module, long to) noexcept {
  constexpr size_t kPage = 4096;
  static char page[kPage];
  Elf64_Ehdr file;
  if (!write_memory(to, module.start, kPage, 0) || !read_back(to, page, kPage, 0)) return false;
  const BytesSource source(std::string_view(page, kPage));
  if (read_elf_header(source, file) != ElfStatus::Ok) return false;
  uint64_t end = 0, bytes = 0;
  const auto fails_to_save = [&](const Elf64_Phdr& header) {
    if (header.p_type != PT_LOAD) return false;
    end = std::max(end, header.p_vaddr + header.p_memsz);
    bytes += header.p_filesz;
    return bytes > kMaxSavedBytes ||
           !write_memory(to, module.load_bias + header.p_vaddr, header.p_filesz, header.p_offset);
  };
  const auto fails_to_restore = [&](const Elf64_Phdr& header) {
    return header.p_type == PT_DYNAMIC && !restore_dynamic(to, module, header, end);
  };
  if (any_segment(source, file, fails_to_save) || any_segment(source, file, fails_to_restore)) return false;
  file.e_shoff = 0;
  file.e_shnum = file.e_shstrndx = 0;
  return write_memory(to, reinterpret_cast<uint64_t>(&file), sizeof file, 0);
}

void save(const KnownFile& module, uint64_t& saved) noexcept {
  static char path[kPathBytes], unfinished[kPathBytes + 16];
  if (saved + module.file.bytes > kMaxSavedBytes) return;
  const int length = snprintf(path, sizeof path, kSavedFileFormat, process_state.config.directory,
                              module.file.device, module.file.inode, module.file.bytes);
  if (length <= 0 || static_cast<size_t>(length) >= sizeof path) return;
  if (raw_syscall(SYS_faccessat, AT_FDCWD, reinterpret_cast<long>(path), F_OK) == 0) return;
  snprintf(unfinished, sizeof unfinished, "%s.%d", path, sys_getpid());
  bool is_whole = false;
  {
    const Descriptor to(open_file(unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW));
    if (!to.is_open()) return;
    const Descriptor from(open_gone(module));
    is_whole = from.is_open() ? copy_file(from.number(), to.number()) : dump_memory(module, to.number());
  }
  saved += module.file.bytes;
  if (!is_whole ||
      raw_syscall(SYS_rename, reinterpret_cast<long>(unfinished), reinterpret_cast<long>(path)) != 0)
    raw_syscall(SYS_unlink, reinterpret_cast<long>(unfinished));
}

}  // namespace

FileIdentity note_file(const ModuleInfo& module) noexcept {
  FileIdentity file;
  if (module.path[0] != '/') return file;
  // A forked child has its parent's modules, and the files from which these were loaded.
  if (process_state.is_forked && module.id < kMaxKnownFiles) {
    const KnownFile& parents = known[module.id];
    if (parents.path == module.path && parents.start == module.start && parents.file.device != kNoFileDevice)
      return parents.file;
  }
  // If the path leads nowhere, the file is identified by the process and the module.
  if (!file_at(AT_FDCWD, module.path, 0, file))
    file = {kNoFileDevice, uint64_t{static_cast<uint32_t>(sys_getpid())} << 16 | module.id, 0};
  if (module.id < kMaxKnownFiles)
    known[module.id] = {module.path, module.start, module.load_bias, file, 0, 0};
  return file;
}

void save_gone_files() noexcept {
  if (process_state.file.counter(Counter::Samples).load(std::memory_order_relaxed) == 0 ||
      saving.test_and_set(std::memory_order_acquire))
    return;
  const bool is_foreign = is_foreign_to_prof();
  bool knows_mappings = false;
  uint64_t saved = 0;
  for (const KnownFile& module : known) {
    if (!module.path) continue;
    FileIdentity now;
    if (!is_foreign && file_at(AT_FDCWD, module.path, 0, now) && now == module.file) continue;
    if (!knows_mappings) for_each_mapping(note_mapping, nullptr);
    knows_mappings = true;
    if (module.mapped_high != 0) save(module, saved);
  }
  saving.clear(std::memory_order_release);
}

}  // namespace hpcrun
