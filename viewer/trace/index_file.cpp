#include "viewer/trace/index_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>

#include "analysis/pipeline/parallel.h"
#include "viewer/trace/checksum.h"

namespace prof::viewer {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kChecksumPiece = 4 << 20;  // read by one thread at once

void describe(const fs::path& file, uint64_t& bytes, uint64_t& changed_ns) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return;
  bytes = static_cast<uint64_t>(status.st_size);
  constexpr uint64_t kNsPerSecond = 1'000'000'000;
  changed_ns = static_cast<uint64_t>(status.st_mtim.tv_sec) * kNsPerSecond +
               static_cast<uint64_t>(status.st_mtim.tv_nsec);
}

fs::path caches_of_user() {
  if (const char* const folder = std::getenv("XDG_CACHE_HOME"); folder && *folder) return folder;
  if (const char* const home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache";
  return {};
}

// Checks what queries rely on: entries lie within the file, and times ascend.
bool is_sound(const Block* blocks, uint64_t count, const MappedTraces& traces, size_t row,
              uint64_t entries_end) {
  uint64_t last = traces.begin_ns(row);
  if (blocks[0].begin_ns != last) return false;
  for (uint64_t i = 0; i < count; ++i) {
    const Block& block = blocks[i];
    if (block.begin_ns < last || block.begin_ns > traces.end_ns(row)) return false;
    last = block.begin_ns;
    if (block.entries % 8 != 0 || block.entries < sizeof(IndexHeader) || block.entries > entries_end ||
        block.count > (entries_end - block.entries) / entry_bytes(block))
      return false;
  }
  return true;
}

}  // namespace

IndexHeader header_of(const MappedTraces& traces) {
  IndexHeader header{};
  header.magic = kIndexMagic;
  header.version = kIndexVersion;
  describe(traces.file(), header.trace_bytes, header.trace_changed_ns);
  describe(traces.file().parent_path() / format::kMeta.name, header.meta_bytes, header.meta_changed_ns);
  header.fingerprint = traces.fingerprint();
  header.contexts = traces.contexts();
  header.rows = traces.rows();
  return header;
}

std::vector<fs::path> places_of_index(const MappedTraces& traces) {
  std::error_code error;
  const fs::path file = fs::absolute(traces.file(), error);
  std::vector<fs::path> places{file.parent_path() / kIndexFile};
  const fs::path caches = caches_of_user();
  if (caches.empty()) return places;
  Checksum name;
  name.add(file.native().data(), file.native().size());
  places.push_back(caches / "prof" / fmt::format("timeline-{:016x}.cache", name.value()));
  return places;
}

uint64_t contents_checksum(const Mapping& file, int jobs, const std::atomic<bool>& is_cancelled) {
  const uint64_t begin = std::min<uint64_t>(sizeof(IndexHeader), file.size());
  std::atomic<uint64_t> sum{0};
  parallel_for((file.size() - begin + kChecksumPiece - 1) / kChecksumPiece, jobs, [&](size_t piece) {
    if (is_cancelled) return;
    const uint64_t from = begin + piece * kChecksumPiece;
    const uint64_t to = std::min(from + kChecksumPiece, file.size());
    Checksum checksum;
    checksum.add(from);  // swapped pieces are damage too
    checksum.add(file.data() + from, to - from);
    sum += checksum.value();
    file.release_pages(from, to);
  });
  return sum;
}

std::unique_ptr<const TraceIndex> open_index(std::shared_ptr<const MappedTraces> traces, int jobs,
                                             const std::atomic<bool>& is_cancelled) {
  for (const fs::path& place : places_of_index(*traces))
    if (auto index = open_index(traces, Mapping(place), jobs, is_cancelled)) return index;
  return nullptr;
}

std::unique_ptr<const TraceIndex> open_index(std::shared_ptr<const MappedTraces> traces, Mapping file,
                                             int jobs, const std::atomic<bool>& is_cancelled) {
  IndexHeader header{};
  if (file.size() < sizeof header) return nullptr;
  std::memcpy(&header, file.data(), sizeof header);
  IndexHeader expected = header_of(*traces);
  expected.file_bytes = file.size();
  expected.tables = header.tables;
  expected.checksum = header.checksum;
  const uint64_t rows = traces->rows();
  if (header != expected || header.tables % 8 != 0 || header.tables > file.size() ||
      rows != (file.size() - header.tables) / sizeof(uint64_t) ||
      header.checksum != contents_checksum(file, jobs, is_cancelled))
    return nullptr;
  const char* const table = file.data() + header.tables;
  std::vector<std::vector<const Block*>> levels(rows);
  for (size_t row = 0; row < rows; ++row) {
    uint64_t at;
    std::memcpy(&at, table + row * sizeof at, sizeof at);
    for (const uint64_t count : blocks_of_levels(traces->segments(row))) {
      if (at % 8 != 0 || at > header.tables || count > (header.tables - at) / sizeof(Block)) return nullptr;
      const auto* const blocks = reinterpret_cast<const Block*>(file.data() + at);
      if (!is_sound(blocks, count, *traces, row, header.tables)) return nullptr;
      levels[row].push_back(blocks);
      at += count * sizeof(Block);
    }
  }
  return std::make_unique<const TraceIndex>(std::move(traces), std::move(file), std::move(levels));
}

}  // namespace prof::viewer
