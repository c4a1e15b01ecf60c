#include "hpcrun/unwind/registry.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

#include "hpcrun/elf/notes.h"
#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/safe_load.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/unwind/table_memory.h"

namespace hpcrun {
namespace {

constexpr size_t kMaxNoteBytes = 1024;  // property and build-id notes together take about 100

Snapshot no_modules;
std::atomic<Snapshot*> current{&no_modules};
std::atomic<uint32_t> current_generation{1};
std::atomic<uint32_t> readers{0};
std::atomic<bool> stale{false};

std::atomic<ModuleIdentity*> identities{nullptr};
std::atomic<ModuleSink> sink{nullptr};
std::atomic<uint32_t> sink_number{0};

void announce(ModuleIdentity& identity) noexcept {
  const ModuleSink to = sink.load(std::memory_order_acquire);
  const uint32_t number = sink_number.load(std::memory_order_acquire);
  if (to && identity.announced_to.exchange(number, std::memory_order_acq_rel) != number) to(identity.info);
}

uint64_t hash_bytes(uint64_t seed, const void* data, size_t size) noexcept {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < size; ++i) seed = (seed ^ bytes[i]) * 0x100000001b3u;  // FNV-1a
  return seed;
}

// Not inlined, to keep its struct stat off the handler's stack during further calls.
__attribute__((noinline)) uint64_t hash_identity(const ImageDescription& image, const char* path) noexcept {
  uint64_t hash = hash_bytes(0xcbf29ce484222325u, path, std::strlen(path));
  hash = hash_bytes(hash, image.build_id, image.build_id_bytes);
  if (image.build_id_bytes == 0) {
    // Without a build ID, a rebuilt file differs by inode, size or time.
    struct stat file {};
    if (raw_syscall(SYS_newfstatat, AT_FDCWD, reinterpret_cast<long>(path), reinterpret_cast<long>(&file),
                    0) == 0) {
      const uint64_t parts[] = {static_cast<uint64_t>(file.st_dev), static_cast<uint64_t>(file.st_ino),
                                static_cast<uint64_t>(file.st_size),
                                static_cast<uint64_t>(file.st_mtim.tv_sec),
                                static_cast<uint64_t>(file.st_mtim.tv_nsec)};
      hash = hash_bytes(hash, parts, sizeof parts);
    }
  }
  return hash;
}

ModuleIdentity* find_identity(ModuleIdentity* from, const ModuleIdentity* until, uint64_t hash,
                              const char* path) noexcept {
  for (; from != until; from = from->older) {
    if (from->hash == hash && std::strcmp(from->info.path, path) == 0) return from;
  }
  return nullptr;
}

void read_build_id(const Elf64_Phdr& header, uint64_t load_bias, ImageDescription& image) noexcept {
  const uint64_t bytes = std::min<uint64_t>(header.p_memsz, kMaxNoteBytes);
  ElfNote note;
  if (!find_build_id(SafeSource(), load_bias + header.p_vaddr, bytes, header.p_align, note) ||
      note.description_bytes > ImageDescription::kMaxBuildIdBytes ||
      !safe_read(note.description, image.build_id, note.description_bytes))
    return;
  image.build_id_bytes = note.description_bytes;
  image.build_id_at = note.description;
}

}  // namespace

const LoadedModule* find_module(const Snapshot& snapshot, uint64_t address) noexcept {
  const LoadedModule* const begin = snapshot.modules();
  const LoadedModule* const end = begin + snapshot.count;
  const LoadedModule* after = std::upper_bound(
      begin, end, address, [](uint64_t value, const LoadedModule& module) { return value < module.start; });
  if (after == begin) return nullptr;
  --after;
  return address < after->end ? after : nullptr;
}

// The generation is read before the snapshot and written after it: a result cached under a generation is
// never older than that generation. The reader is counted before it reads the snapshot: see
// no_reader_is_active().
SnapshotReader::SnapshotReader() noexcept {
  readers.fetch_add(1, std::memory_order_seq_cst);
  generation_ = current_generation.load(std::memory_order_acquire);
  snapshot_ = current.load(std::memory_order_seq_cst);
}

SnapshotReader::~SnapshotReader() {
  readers.fetch_sub(1, std::memory_order_release);
}

Snapshot* publish_snapshot(Snapshot* next) noexcept {
  assert(std::is_sorted(
      next->modules(), next->modules() + next->count,
      [](const LoadedModule& one, const LoadedModule& other) { return one.start < other.start; }));
  Snapshot* const before = current.exchange(next, std::memory_order_seq_cst);
  current_generation.fetch_add(1, std::memory_order_release);
  return before == &no_modules ? nullptr : before;
}

// A reader that is counted after this load finds the snapshot that was published before it.
bool no_reader_is_active() noexcept {
  return readers.load(std::memory_order_seq_cst) == 0;
}
HPCRUN_FORK_PATH void reset_readers_after_fork() noexcept {
  if (readers.load() != 0) readers.store(0, std::memory_order_seq_cst);
}

void mark_modules_stale(bool now) noexcept {
  stale.store(now, std::memory_order_relaxed);
}
bool modules_are_stale() noexcept {
  return stale.load(std::memory_order_relaxed);
}
void invalidate_walk_caches() noexcept {
  current_generation.fetch_add(1, std::memory_order_release);
}

uint32_t walk_generation() noexcept {
  return current_generation.load(std::memory_order_acquire);
}

void set_module_sink(ModuleSink to) noexcept {
  sink.store(to, std::memory_order_release);
  sink_number.fetch_add(1, std::memory_order_acq_rel);
  // Announces the newest first. Announcing in order would need a second list; ids give the order.
  for (auto* identity = identities.load(std::memory_order_acquire); identity; identity = identity->older) {
    announce(*identity);
  }
}

void describe_image(const Elf64_Phdr* headers, size_t count, uint64_t load_bias,
                    ImageDescription& image) noexcept {
  image = ImageDescription{};
  image.load_bias = load_bias;
  uint64_t low = ~uint64_t{0};
  uint64_t high = 0;
  uint64_t text_low = ~uint64_t{0};
  uint64_t text_high = 0;
  for (size_t i = 0; i < count; ++i) {
    const Elf64_Phdr& header = headers[i];
    switch (header.p_type) {
      case PT_LOAD:
        low = std::min(low, header.p_vaddr & ~uint64_t{4095});
        high = std::max(high, header.p_vaddr + header.p_memsz);
        if (header.p_flags & PF_X) {
          text_low = std::min(text_low, header.p_vaddr);
          text_high = std::max(text_high, header.p_vaddr + header.p_memsz);
        }
        break;
      case PT_GNU_EH_FRAME:
        image.eh_frame_hdr = load_bias + header.p_vaddr;
        image.eh_frame_hdr_bytes = header.p_memsz;
        break;
      case PT_NOTE:
        if (image.build_id_bytes == 0) read_build_id(header, load_bias, image);
        break;
      default:
        break;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const uint64_t segment = load_bias + headers[i].p_vaddr;
    if (headers[i].p_type == PT_LOAD && image.eh_frame_hdr >= segment &&
        image.eh_frame_hdr < segment + headers[i].p_filesz) {
      image.eh_frame_segment_end = segment + headers[i].p_filesz;
    }
  }
  if (high != 0) {
    image.start = load_bias + low;
    image.end = load_bias + ((high + 4095) & ~uint64_t{4095});
  }
  if (text_high != 0) {
    image.text_start = load_bias + text_low;
    image.text_end = load_bias + text_high;
  }
}

ModuleIdentity* identify(const ImageDescription& image, const char* path) noexcept {
  const uint64_t hash = hash_identity(image, path);
  ModuleIdentity* newest = identities.load(std::memory_order_acquire);
  if (ModuleIdentity* known = find_identity(newest, nullptr, hash, path)) return known;

  const size_t path_bytes = std::strlen(path) + 1;
  auto* memory =
      static_cast<char*>(lasting_allocate(sizeof(ModuleIdentity) + path_bytes + image.build_id_bytes));
  if (!memory) return nullptr;
  auto* fresh = new (memory) ModuleIdentity;
  char* path_copy = memory + sizeof(ModuleIdentity);
  char* build_id_copy = path_copy + path_bytes;
  std::memcpy(path_copy, path, path_bytes);
  std::memcpy(build_id_copy, image.build_id, image.build_id_bytes);
  fresh->hash = hash;
  fresh->info = {0,
                 path_copy,
                 image.start,
                 image.end,
                 image.load_bias,
                 image.build_id_bytes ? reinterpret_cast<const uint8_t*>(build_id_copy) : nullptr,
                 image.build_id_bytes};
  const ModuleIdentity* searched = newest;
  do {
    // Another thread may have added the same file meanwhile; this copy is then left unused.
    if (ModuleIdentity* known = find_identity(newest, searched, hash, path)) return known;
    searched = newest;
    const uint32_t id = newest ? newest->info.id + 1u : 1u;
    if (id >= kMaxModules) return nullptr;
    fresh->info.id = static_cast<uint16_t>(id);
    fresh->older = newest;
  } while (
      !identities.compare_exchange_weak(newest, fresh, std::memory_order_acq_rel, std::memory_order_acquire));
  announce(*fresh);
  return fresh;
}

}  // namespace hpcrun
