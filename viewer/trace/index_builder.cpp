#include "viewer/trace/index_builder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "analysis/database/database.h"
#include "analysis/files/folder.h"
#include "analysis/pipeline/parallel.h"
#include "viewer/trace/index_file.h"

namespace prof::viewer {

namespace fs = std::filesystem;

namespace {

// The size of entries that one thread writes at once. The entries of each level are contiguous, as they are
// read. Short traces use no more than they can need.
constexpr uint64_t kChunkBytes = 4 << 20;
constexpr uint64_t kMinChunkBytes = 64 << 10;          // each level has a quarter of the one below
constexpr uint64_t kMaxUsualEntryBytes = 8;            // per segment: narrow
constexpr uint64_t kSegmentsBetweenReports = 1 << 16;  // and checks of is_cancelled; pages are released

struct NoSpace {};

// A file that becomes an index: removed unless keep() was called.
class IndexFile {
 public:
  // Throws WriteError.
  explicit IndexFile(const fs::path& place)
      : file_(std::in_place, cleared(Folder::make(place.parent_path()), place.filename().string()),
              place.filename().string()),
        descriptor_(file_->descriptor()) {}
  IndexFile() : descriptor_(::memfd_create("timeline", MFD_CLOEXEC)) {}
  IndexFile(const IndexFile&) = delete;
  IndexFile& operator=(const IndexFile&) = delete;
  ~IndexFile() {
    if (!file_ && descriptor_ >= 0) ::close(descriptor_);
  }

  int descriptor() const { return descriptor_; }
  uint64_t reserve(uint64_t bytes) { return end_.fetch_add(bytes); }
  // Throws NoSpace.
  void write(const void* data, uint64_t bytes, uint64_t offset) const {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::pwrite(descriptor_, from, bytes, static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) throw NoSpace{};
      from += written;
      offset += static_cast<uint64_t>(written);
      bytes -= static_cast<uint64_t>(written);
    }
  }
  void keep() {
    if (file_) file_->give_name();
  }

 private:
  static Folder cleared(Folder folder, const std::string& name) {
    folder.remove_abandoned(name);
    return folder;
  }

  std::optional<NewFile> file_;  // empty: in memory
  int descriptor_ = -1;
  std::atomic<uint64_t> end_{sizeof(IndexHeader)};
};

// Entries on their way into the file, in chunks that belong to one thread each.
class EntryWriter {
 public:
  EntryWriter(IndexFile& file, uint64_t chunk) : file_(file), chunk_(chunk) {}

  // Returns the offset of the next `bytes` bytes, and a buffer for them that is valid until the next call.
  std::pair<uint64_t, char*> add(uint64_t bytes) {
    if (buffer_.size() + bytes > reserved_) {
      flush();
      reserved_ = std::max(bytes, chunk_);
      begin_ = file_.reserve(reserved_);
    }
    const uint64_t at = buffer_.size();
    buffer_.resize(at + bytes);
    return {begin_ + at, buffer_.data() + at};
  }
  void flush() {
    file_.write(buffer_.data(), buffer_.size(), begin_);
    buffer_.clear();
    reserved_ = 0;
  }

 private:
  IndexFile& file_;
  uint64_t chunk_;
  std::vector<char> buffer_;
  uint64_t begin_ = 0, reserved_ = 0;
};

// The writers of all levels, for one thread.
class EntryWriters {
 public:
  EntryWriters(IndexFile& file, uint64_t segments)
      : file_(file), most_(std::min(kChunkBytes, std::bit_ceil(segments) * kMaxUsualEntryBytes)) {}
  EntryWriter& of_level(size_t level) {
    while (writers_.size() <= level)
      writers_.emplace_back(file_,
                            std::min(std::max(kChunkBytes >> (2 * writers_.size()), kMinChunkBytes), most_));
    return writers_[level];
  }
  void flush() {
    for (EntryWriter& writer : writers_) writer.flush();
  }

 private:
  IndexFile& file_;
  uint64_t most_;
  std::vector<EntryWriter> writers_;
};

using Entry = std::pair<uint32_t, uint64_t>;  // context, ns

// Combines equal contexts and drops those without time.
void merge(std::vector<Entry>& entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.first < b.first; });
  size_t last = 0;
  for (size_t i = 0; i < entries.size();) {
    Entry sum = entries[i];
    for (++i; i < entries.size() && entries[i].first == sum.first; ++i) sum.second += entries[i].second;
    if (sum.second > 0) entries[last++] = sum;
  }
  entries.resize(last);
}

// Builds the levels of one row from its segments in order.
class RowBuilder {
 public:
  RowBuilder(const MappedTraces& traces, size_t row, EntryWriters& writers)
      : traces_(traces),
        row_(row),
        writers_(writers),
        levels_(blocks_of_levels(traces.segments(row)).size()) {}

  std::vector<std::vector<Block>> build(BuildProgress& progress) {
    const uint64_t segments = traces_.segments(row_);
    uint64_t from = segments > 0 ? traces_.time(row_, 0) : 0;
    for (uint64_t i = 0; i < segments && !progress.is_cancelled; ++i) {
      const uint64_t to = traces_.time(row_, i + 1);
      if (to < from) corrupt();
      Level& level = levels_.front();
      if (level.parts++ == 0) level.begin_ns = from;
      level.entries.emplace_back(traces_.context(row_, i), to - from);
      if (level.parts == kBlockSegments) end_block(0, to);
      from = to;
      if ((i + 1) % kSegmentsBetweenReports != 0) continue;
      progress.segments_done += kSegmentsBetweenReports;
      traces_.release_pages(row_, i + 1 - kSegmentsBetweenReports, i + 1);
    }
    progress.segments_done += segments % kSegmentsBetweenReports;
    for (size_t level = 0; level < levels_.size(); ++level)
      if (levels_[level].parts > 0) end_block(level, from);
    std::vector<std::vector<Block>> blocks;
    for (Level& level : levels_) blocks.push_back(std::move(level.blocks));
    return blocks;
  }

 private:
  struct Level {
    std::vector<Block> blocks;
    std::vector<Entry> entries;  // of the current block
    uint64_t parts = 0;          // number of its segments, or of blocks of the level below
    uint64_t begin_ns = 0;
  };

  void end_block(size_t number, uint64_t end_ns) {
    Level& level = levels_[number];
    merge(level.entries);
    const bool is_wide = end_ns - level.begin_ns > UINT32_MAX;
    Block block{level.begin_ns, 0, static_cast<uint32_t>(level.entries.size()), is_wide};
    auto [offset, to] = writers_.of_level(number).add(level.entries.size() * entry_bytes(block));
    block.entries = offset;
    for (const auto& [context, ns] : level.entries) put(to, context, ns, is_wide);
    level.blocks.push_back(block);
    if (number + 1 < levels_.size()) {
      Level& above = levels_[number + 1];
      if (above.parts++ == 0) above.begin_ns = level.begin_ns;
      above.entries.insert(above.entries.end(), level.entries.begin(), level.entries.end());
      if (above.parts == kBlocksPerBlock) end_block(number + 1, end_ns);
    }
    level.entries.clear();
    level.parts = 0;
  }

  static void put(char*& to, uint32_t context, uint64_t ns, bool is_wide) {
    const auto narrow = static_cast<uint32_t>(ns);
    const uint32_t zero = 0;
    std::memcpy(to, &context, sizeof context);
    std::memcpy(to + 4, is_wide ? &zero : &narrow, sizeof narrow);
    to += 8;
    if (!is_wide) return;
    std::memcpy(to, &ns, sizeof ns);
    to += 8;
  }

  [[noreturn]] void corrupt() const {
    throw DatabaseError(
        DatabaseError::Kind::Corrupt,
        fmt::format(
            "{}: damaged: a trace runs backwards in time; copy it again or analyze the measurements again",
            traces_.file().string()));
  }

  const MappedTraces& traces_;
  size_t row_;
  EntryWriters& writers_;
  std::vector<Level> levels_;
};

void write_tables(const MappedTraces& traces, const std::vector<std::vector<std::vector<Block>>>& rows,
                  IndexFile& file, int jobs, const std::atomic<bool>& is_cancelled) {
  std::vector<uint64_t> table;
  for (const auto& levels : rows) {
    uint64_t bytes = 0;
    for (const auto& blocks : levels) bytes += blocks.size() * sizeof(Block);
    uint64_t at = file.reserve(bytes);
    table.push_back(at);
    for (const auto& blocks : levels) {
      file.write(blocks.data(), blocks.size() * sizeof(Block), at);
      at += blocks.size() * sizeof(Block);
    }
  }
  IndexHeader header = header_of(traces);
  header.tables = file.reserve(table.size() * sizeof(uint64_t));
  header.file_bytes = header.tables + table.size() * sizeof(uint64_t);
  file.write(table.data(), table.size() * sizeof(uint64_t), header.tables);
  header.checksum = contents_checksum(Mapping(file.descriptor()), jobs, is_cancelled);
  file.write(&header, sizeof header, 0);
}

// Returns nullptr if it was cancelled. Throws NoSpace if the file cannot hold it.
std::unique_ptr<const TraceIndex> build_in(IndexFile& file, const std::shared_ptr<const MappedTraces>& traces,
                                           int jobs, BuildProgress& progress) {
  progress.segments_done = 0;
  std::vector<std::vector<std::vector<Block>>> rows(traces->rows());
  std::vector<size_t> order(rows.size());  // long rows first, so that all threads finish together
  for (size_t row = 0; row < order.size(); ++row) order[row] = row;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return traces->segments(a) > traces->segments(b); });
  const size_t threads = static_cast<size_t>(std::max(jobs, 1));
  std::atomic<size_t> next{0};
  parallel_for(threads, jobs, [&](size_t) {
    EntryWriters writers(file, traces->all_segments());
    for (size_t i = next++; i < order.size() && !progress.is_cancelled; i = next++)
      rows[order[i]] = RowBuilder(*traces, order[i], writers).build(progress);
    writers.flush();
  });
  if (progress.is_cancelled) return nullptr;
  write_tables(*traces, rows, file, jobs, progress.is_cancelled);
  if (progress.is_cancelled) return nullptr;
  file.keep();
  return open_index(traces, Mapping(file.descriptor()), jobs, progress.is_cancelled);
}

}  // namespace

std::unique_ptr<const TraceIndex> build_index(std::shared_ptr<const MappedTraces> traces, int jobs,
                                              BuildProgress& progress, uint64_t least_kept) {
  if (traces->all_segments() >= least_kept) {
    for (const fs::path& place : places_of_index(*traces)) {
      try {
        IndexFile file(place);
        return build_in(file, traces, jobs, progress);
      } catch (const WriteError&) {
        // possibly another user's
      } catch (const NoSpace&) {
        // the next place may have room
      }
    }
  }
  try {
    IndexFile memory;
    return build_in(memory, traces, jobs, progress);
  } catch (const NoSpace&) {
    throw DatabaseError(DatabaseError::Kind::Unwritable,
                        "no space for the timeline index, neither on disk nor in memory; free disk space");
  }
}

}  // namespace prof::viewer
