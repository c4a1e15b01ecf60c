#include "hpcrun/unwind/modules.h"

#include <gnu/libc-version.h>
#include <link.h>
#include <sys/single_threaded.h>

#include <algorithm>
#include <new>
#include <utility>

#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/own_memory.h"
#include "hpcrun/unwind/compile.h"
#include "hpcrun/unwind/file_sections.h"
#include "hpcrun/unwind/live_module.h"
#include "hpcrun/unwind/loader_lock.h"
#include "hpcrun/unwind/registry.h"
#include "hpcrun/unwind/scratch.h"
#include "hpcrun/unwind/shared_tables.h"
#include "hpcrun/unwind/table_memory.h"

namespace hpcrun {
namespace {

constexpr size_t kMaxPathBytes = 4096;

// Locking order: this flag is only tried, never waited for, and the loader lock is taken while it is held. A
// thread that refreshes inside dlopen holds the loader lock. If it waited here for a thread that waits for
// the loader lock, both would hang. It sets `requested` instead, and the holder refreshes once more.
std::atomic<bool> refreshing{false};
std::atomic<bool> requested{false};

LoaderLock loader_lock;
std::atomic<bool> others_run_at_fork{false};
std::atomic<bool> loader_lock_may_be_lost{false};

unsigned long long seen_adds = 0;
unsigned long long seen_subs = 0;
bool refreshed_before = false;
bool few_walks = false;
Snapshot* retired = nullptr;
std::atomic<size_t> snapshot_bytes{0};

struct Collection {
  Scratch<LoadedModule> modules;
  ImageDescription image;  // of the current module
  char path[kMaxPathBytes];
  bool first = true;
  bool at_start = false;
  bool unchanged = false;
  bool complete = true;
  uint16_t exception_runtime = kModuleNone;
};

template <typename Result, typename... Arguments>
bool has(const ImageDescription& image, Result (*function)(Arguments...)) noexcept {
  const auto address = reinterpret_cast<uint64_t>(function);
  return address >= image.text_start && address < image.text_end;
}

// `stays`: the image cannot be unloaded.
const UnwindTable* compile_image(const ImageDescription& image, const char* path, bool stays) noexcept {
  CfiSources sources;
  sources.stays = stays;
  if (image.eh_frame_hdr != 0) {
    const uint64_t hdr_elf = image.eh_frame_hdr - image.load_bias;
    sources.eh_frame_hdr = {reinterpret_cast<const uint8_t*>(image.eh_frame_hdr), image.eh_frame_hdr_bytes};
    sources.eh_frame_hdr_address = hdr_elf;
    Cursor cursor(sources.eh_frame_hdr);
    cursor.block(4);
    uint64_t eh_frame;
    const CfiSection header{sources.eh_frame_hdr, hdr_elf, image.load_bias, false};
    if (image.eh_frame_hdr_bytes > 4 &&
        read_pointer(header, cursor, sources.eh_frame_hdr.data[1], hdr_elf, eh_frame) &&
        eh_frame + image.load_bias >= image.start &&
        eh_frame + image.load_bias < image.eh_frame_segment_end) {
      // The section's end is not known in memory; a scan stops at its terminator or at the segment's end.
      sources.eh_frame = {{reinterpret_cast<const uint8_t*>(eh_frame + image.load_bias),
                           image.eh_frame_segment_end - (eh_frame + image.load_bias)},
                          eh_frame,
                          image.load_bias,
                          false};
    }
  }
  FileSections file;
  if (path[0] == '/' || path[0] == '.') {
    // Sections that cannot be read stay empty.
    (void)read_file_sections(path, image, sources.eh_frame.bytes.data == nullptr, file);
  }
  if (!file.eh_frame.empty()) {
    sources.eh_frame = {{file.eh_frame.data(), file.eh_frame.size()}, file.eh_frame_address, 0, false};
    sources.eh_frame_hdr = {};
  }
  if (!file.debug_frame.empty()) {
    sources.debug_frame = {{file.debug_frame.data(), file.debug_frame.size()}, 0, 0, true};
  }
  auto* table = static_cast<UnwindTable*>(lasting_allocate(sizeof(UnwindTable)));
  if (!table) return nullptr;
  new (table) UnwindTable;
  table->index = CfiIndex::build(sources, few_walks ? 1 : CfiIndex::kMinFunctions);
  if (table->index) return table;
  if (few_walks)
    if (const UnwindTable* shared = find_shared_table(image)) return shared;
  // A file without call frame information keeps an empty table, so it is not compiled again.
  if (compile_table(sources, *table) != CompileStatus::Ok) *table = UnwindTable{};
  share_table(image, *table);
  return table;
}

int collect(dl_phdr_info* info, size_t size, void* argument) noexcept {
  auto& collection = *static_cast<Collection*>(argument);
  loader_lock.look_inside();
  const bool is_first = std::exchange(collection.first, false);
  if (is_first) {
    if (size >= offsetof(dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) {
      if (info->dlpi_adds == seen_adds && info->dlpi_subs == seen_subs) {
        collection.unchanged = true;
        return 1;
      }
      collection.at_start = !refreshed_before;
      refreshed_before = true;
      seen_adds = info->dlpi_adds;
      seen_subs = info->dlpi_subs;
    }
  }
  ImageDescription& image = collection.image;
  describe_image(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, image);
  if (image.start == 0) return 0;
  const char* const name = info->dlpi_name ? info->dlpi_name : "";
  const char* path = module_path(name, collection.path, sizeof collection.path);
  ModuleIdentity* identity = identify(image, path);
  if (!identity) {
    collection.complete = false;
    return 0;
  }
  if (std::strstr(path, "/libgcc_s.so")) collection.exception_runtime = identity->info.id;
  const UnwindTable* table = identity->table.load(std::memory_order_acquire);
  if (!table) {
    // Mapping another process's table costs more than an index.
    if (!few_walks) table = find_shared_table(image);
    // The program, the C library and the runtime are large, and stay in the process.
    const bool stays =
        (is_first && !name[0]) || has(image, &gnu_get_libc_version) || has(image, &refresh_modules);
    if (!table) table = compile_image(image, path, stays);
    identity->table.store(table, std::memory_order_release);
  }
  if (collection.at_start) identity->since_start = true;
  LoadedModule module;
  module.start = image.start;
  module.end = image.end;
  module.text_start = image.text_start;
  module.text_end = image.text_end;
  module.load_bias = image.load_bias;
  module.table = table;
  module.id = identity->info.id;
  if (!identity->since_start) {
    module.build_id = identity->info.build_id;
    module.build_id_at = image.build_id_at;
    module.build_id_bytes = image.build_id_bytes;
  }
  if (!collection.modules.push(module)) collection.complete = false;
  return 0;
}

void release_retired() noexcept {
  if (!retired || !no_reader_is_active()) return;
  while (retired) {
    Snapshot* next = retired->retired_next;
    snapshot_bytes.fetch_sub(retired->mapped_bytes, std::memory_order_relaxed);
    unmap_own_memory(retired, retired->mapped_bytes);
    retired = next;
  }
}

void refresh_once() noexcept {
  const Mapped<Collection> mapped;
  if (!mapped) return;
  Collection& collection = *mapped;
  mark_modules_stale(false);
  loader_lock.look_before();
  // The loader lock is held from the first module to the last: no module is unloaded while it is read.
  dl_iterate_phdr(collect, &collection);
  release_retired();
  if (collection.unchanged || collection.modules.empty()) return;
  // Modules that were left out for lack of memory or ids are tried again next time.
  if (!collection.complete) seen_adds = 0;
  std::sort(collection.modules.begin(), collection.modules.end(),
            [](const LoadedModule& a, const LoadedModule& b) { return a.start < b.start; });
  const size_t count = collection.modules.size();
  const size_t bytes = (sizeof(Snapshot) + count * sizeof(LoadedModule) + 4095) / 4096 * 4096;
  void* at = map_own_memory(bytes, InChild::Copy);
  if (!at) return;
  snapshot_bytes.fetch_add(bytes, std::memory_order_relaxed);
  auto* snapshot = new (at) Snapshot;
  snapshot->mapped_bytes = bytes;
  snapshot->count = static_cast<uint32_t>(count);
  snapshot->exception_runtime = collection.exception_runtime;
  std::memcpy(snapshot->modules(), collection.modules.data(), count * sizeof(LoadedModule));
  if (Snapshot* before = publish_snapshot(snapshot)) {
    before->retired_next = retired;
    retired = before;
  }
  release_retired();
}

}  // namespace

void expect_few_walks(bool few) noexcept {
  few_walks = few;
}

void refresh_modules() noexcept {
  if (loader_lock_may_be_lost.load()) return;
  requested.store(true);
  while (requested.load()) {
    if (refreshing.exchange(true)) return;
    requested.store(false);
    refresh_once();
    refreshing.store(false);
  }
}

HPCRUN_FORK_PATH void modules_before_fork() noexcept {
  const bool others_run = !__libc_single_threaded;
  if (others_run_at_fork.load(std::memory_order_relaxed) != others_run)
    others_run_at_fork.store(others_run, std::memory_order_relaxed);
}

HPCRUN_FORK_PATH void modules_after_fork() noexcept {
  // In a process with other threads, one of them may also have been unloading a module that is still in the
  // list.
  if (others_run_at_fork.load(std::memory_order_relaxed) || loader_lock.is_held())
    loader_lock_may_be_lost.store(true);
  // A refresh that another thread was in the middle of is lost; its list of retired snapshots may be
  // inconsistent.
  if (refreshing.load()) {
    retired = nullptr;
    seen_adds = 0;
    refreshing.store(false);
  }
  reset_readers_after_fork();
}

size_t module_table_bytes() noexcept {
  return lasting_bytes() + shared_table_bytes() + snapshot_bytes.load(std::memory_order_relaxed);
}

}  // namespace hpcrun
