// cct.db: the values of profile.db, by context, then metric, then profile.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "analysis/database/database.h"
#include "analysis/database/output.h"
#include "analysis/database/parallel_for.h"
#include "analysis/database/statistics.h"
#include "analysis/database/write.h"

namespace prof {
namespace {

using namespace format;

constexpr uint64_t kValuesAtOnce = 512 * 1024;  // some 20 MB of memory

// profile.db, which was just written.
class ProfileFile {
 public:
  explicit ProfileFile(std::filesystem::path path)
      : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail(errno);
  }
  ProfileFile(const ProfileFile&) = delete;
  ProfileFile& operator=(const ProfileFile&) = delete;
  ~ProfileFile() { ::close(descriptor_); }

  void read(uint64_t offset, size_t bytes, std::vector<char>& out) const {
    out.resize(bytes);
    for (size_t done = 0; done < bytes;) {
      const ssize_t got =
          ::pread(descriptor_, out.data() + done, bytes - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail(got < 0 ? errno : EIO);
      done += static_cast<size_t>(got);
    }
  }

 private:
  [[noreturn]] void fail(int error) const {
    throw DatabaseError(DatabaseError::Kind::Unreadable,
                        fmt::format("{}: cannot read what was written: {}; choose another directory with -o",
                                    path_.string(), std::strerror(error)));
  }

  std::filesystem::path path_;
  int descriptor_;
};

template <typename T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

struct Entry {
  uint32_t key;  // context and metric, from the first of the piece
  uint32_t profile;
  double value;
};

struct ContextInfo {
  uint64_t value_count = 0;
  uint64_t values = 0;
  uint16_t metric_count = 0;
  uint64_t indices = 0;
};

// Some contexts that follow each other, as they will lie in the file.
struct Piece {
  OutputBuffer bytes;
  std::vector<ContextInfo> infos;  // from the begin of bytes
};

class CctWriter {
 public:
  CctWriter(const Database& database, const WrittenProfiles& written, const std::filesystem::path& directory,
            int jobs)
      : written_(written),
        ids_(static_cast<uint32_t>(database.metrics.size() * kScopes)),
        contexts_(static_cast<uint32_t>(database.contexts.size() + 1)),
        jobs_(jobs),
        profiles_(directory / kProfile.name),
        file_(directory, kCct) {}

  void write() {
    const std::vector<size_t> pieces = find_pieces();
    make_in_order(
        pieces.size() - 1, jobs_, [&](size_t i) { return make(pieces[i], pieces[i + 1]); },
        [this](size_t, Piece&& piece) { use(piece); });
    write_infos();
  }

 private:
  // Ranges of contexts that are together until there are enough values: the first range of each.
  std::vector<size_t> find_pieces() const {
    std::vector<size_t> pieces{0};
    uint64_t values = 0;
    for (size_t range = 0; range < written_.value_counts.size(); ++range) {
      values += written_.value_counts[range];
      if (values < kValuesAtOnce && range + 1 < written_.value_counts.size()) continue;
      pieces.push_back(range + 1);
      values = 0;
    }
    return pieces;
  }

  uint32_t first_context(size_t range) const {
    if (range == 0) return 0;
    return range <= written_.cuts.size() ? written_.cuts[range - 1] : contexts_;
  }
  static ValueBlock::Before before(const ValueBlock& block, size_t range) {
    if (range == 0) return {0, 0};
    return range <= block.cuts.size() ? block.cuts[range - 1]
                                      : ValueBlock::Before{block.context_count, block.value_count};
  }

  Piece make(size_t first_range, size_t end_range) const {
    const uint32_t first = first_context(first_range), end = first_context(end_range);
    std::vector<Entry> entries;
    // Where the entries of each key begin, first shifted by one.
    std::vector<uint32_t> begin(size_t{end - first} * ids_ + 1, 0);
    std::vector<char> indices, values;
    for (uint32_t profile = 0; profile < written_.blocks.size(); ++profile) {
      const ValueBlock& block = written_.blocks[profile];
      const ValueBlock::Before from = before(block, first_range), to = before(block, end_range);
      if (from.contexts == to.contexts) continue;
      profiles_.read(block.indices + uint64_t{from.contexts} * kContextIndexBytes,
                     size_t{to.contexts - from.contexts} * kContextIndexBytes, indices);
      profiles_.read(block.values + from.values * kProfileValueBytes,
                     (to.values - from.values) * kProfileValueBytes, values);
      for (size_t at = 0; at < indices.size(); at += kContextIndexBytes) {
        const auto context = load<uint32_t>(&indices[at]);
        const size_t next = at + kContextIndexBytes;
        const uint64_t stop =
            next < indices.size() ? load<uint64_t>(&indices[next + sizeof context]) : to.values;
        for (auto i = load<uint64_t>(&indices[at + sizeof context]); i < stop; ++i) {
          const char* const value = &values[(i - from.values) * kProfileValueBytes];
          const uint32_t key = (context - first) * ids_ + load<uint16_t>(value);
          entries.push_back({key, profile, load<double>(value + sizeof(uint16_t))});
          ++begin[key + 1];
        }
      }
    }
    for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    return sorted(entries, begin, end - first);
  }

  // Entries come by profile, and keep that order among those of a key.
  Piece sorted(const std::vector<Entry>& entries, const std::vector<uint32_t>& begin,
               uint32_t contexts) const {
    std::vector<uint32_t> order(entries.size());
    std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
    for (uint32_t i = 0; i < entries.size(); ++i) order[next[entries[i].key]++] = i;

    Piece piece;
    OutputBuffer metrics;
    for (uint32_t context = 0; context < contexts; ++context) {
      piece.bytes.align(4);
      ContextInfo info{.values = piece.bytes.size()};
      metrics.clear();
      const size_t first_key = size_t{context} * ids_;
      for (uint32_t id = 0; id < ids_; ++id) {
        const uint32_t from = begin[first_key + id], to = begin[first_key + id + 1];
        if (from == to) continue;
        metrics.put(static_cast<uint16_t>(id));
        metrics.put(info.value_count);
        ++info.metric_count;
        for (uint32_t i = from; i < to; ++i) {
          const Entry& entry = entries[order[i]];
          piece.bytes.put<uint32_t>(entry.profile + 1);  // profile 0 is the summary
          piece.bytes.put(entry.value);
        }
        info.value_count += to - from;
      }
      info.indices = piece.bytes.size();
      piece.bytes.append(metrics.view());
      piece.infos.push_back(info);
    }
    return piece;
  }

  void use(const Piece& piece) {
    file_.align(4);
    const uint64_t base = file_.offset();
    for (const ContextInfo& info : piece.infos) {
      infos_.put(info.value_count);
      infos_.put(base + info.values);
      infos_.put(info.metric_count);
      infos_.align(8);
      infos_.put(base + info.indices);
    }
    file_.write(piece.bytes.view());
  }

  void write_infos() {
    file_.align(8);
    const uint64_t begin = file_.offset();
    OutputBuffer header;
    header.put<uint64_t>(begin + 16);
    header.put(contexts_);
    header.put<uint8_t>(kContextInfoBytes);
    header.align(8);
    file_.write(header.view());
    file_.write(infos_.view());
    file_.end_section(0, begin);
    file_.finish();
  }

  const WrittenProfiles& written_;
  uint32_t ids_;       // of metrics and scopes
  uint32_t contexts_;  // with the global one
  int jobs_;
  ProfileFile profiles_;
  OutputFile file_;
  OutputBuffer infos_;  // one structure per context
};

}  // namespace

void write_contexts(const Database& database, const WrittenProfiles& written,
                    const std::filesystem::path& directory, int jobs) {
  CctWriter(database, written, directory, jobs).write();
}

}  // namespace prof
