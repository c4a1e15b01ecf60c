#pragma once
// The traces of a database, mapped from its file. Gives access to any record of any row; nothing is loaded. A
// row is a profile with a trace. Any number of threads may read it.
//
// Records are untrusted: a context that the database does not have becomes kNone, as if nothing ran.
// Ascending times are checked only by code that reads all records (build_index()).

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "analysis/database/format.h"
#include "analysis/database/model.h"
#include "viewer/trace/mapping.h"

namespace prof {
class ContextIds;
}

namespace prof::viewer {

class MappedTraces {
 public:
  // `database`: from read_database(), or without traces; then there are no rows. Throws DatabaseError if the
  // file cannot be mapped or became shorter.
  explicit MappedTraces(const Database& database);

  size_t rows() const { return rows_.size(); }
  uint32_t contexts() const { return contexts_; }
  uint32_t profile(size_t row) const { return rows_[row].profile; }
  // A segment is the time between two records, spent in the context of the first one.
  uint64_t segments(size_t row) const { return rows_[row].segments; }
  uint64_t all_segments() const;
  // Times since the epoch in ns. Both are 0 for a row without segments.
  uint64_t begin_ns(size_t row) const { return rows_[row].begin_ns; }
  uint64_t end_ns(size_t row) const { return rows_[row].end_ns; }
  // For all rows together.
  uint64_t begin_ns() const { return begin_ns_; }
  uint64_t end_ns() const { return end_ns_; }

  // `record` is at most segments(row).
  uint64_t time(size_t row, uint64_t record) const {
    uint64_t time;
    std::memcpy(&time, at(row, record), sizeof time);
    return time;
  }
  // Returns an index into Database::contexts, or kNone. Under the wall clock a sample stands for all the time
  // since the previous one, like its weight. That includes time in which its thread was ready without a
  // processor, which records leave empty.
  uint32_t context(size_t row, uint64_t record) const {
    const uint32_t own = recorded_context(row, record);
    return own == kNone && rows_[row].is_of_wall_clock && record + 1 < rows_[row].segments
               ? recorded_context(row, record + 1)
               : own;
  }
  // True if threads were sampled by the wall clock: times without a context had no samples then.
  bool are_of_wall_clock() const { return are_of_wall_clock_; }
  // Returns the last segment of [begin, end) that begins at or before the time, or `begin` if none does.
  uint64_t segment_at(size_t row, uint64_t time_ns, uint64_t begin, uint64_t end) const;

  const std::filesystem::path& file() const { return path_; }
  // The head of the file, with the location of each trace.
  uint64_t fingerprint() const { return fingerprint_; }
  // Allows all pages to be dropped from memory.
  void release_pages() const { mapping_.release_pages(); }
  // Allows the pages of these records to be dropped from memory.
  void release_pages(size_t row, uint64_t first_record, uint64_t last_record) const;

 private:
  struct Row {
    uint32_t profile;
    const char* records;
    uint64_t segments, begin_ns, end_ns;
    bool is_of_wall_clock;
  };
  uint32_t recorded_context(size_t row, uint64_t record) const {
    uint32_t id;
    std::memcpy(&id, at(row, record) + sizeof(uint64_t), sizeof id);
    if (!is_numbered_in_order_) return find(id);
    --id;  // 0, for nothing running, becomes kNone
    return id < contexts_ ? id : kNone;
  }
  const char* at(size_t row, uint64_t record) const {
    return rows_[row].records + record * format::kTraceElementBytes;
  }
  uint32_t find(uint32_t id) const;

  std::filesystem::path path_;
  Mapping mapping_;
  std::vector<Row> rows_;
  std::shared_ptr<const ContextIds> ids_;
  uint32_t contexts_ = 0;
  bool are_of_wall_clock_ = false;
  bool is_numbered_in_order_ = true;  // context i has the identifier i + 1, as prof writes them
  uint64_t begin_ns_ = 0, end_ns_ = 0;
  uint64_t fingerprint_ = 0;
};

}  // namespace prof::viewer
