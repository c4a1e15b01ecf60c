// trace.db: for each profile, when it was where. Copied from the sources a block at a time, 12 bytes a
// record.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/database/database.h"
#include "analysis/database/output.h"
#include "analysis/database/write.h"

namespace prof {
namespace {

using namespace format;

class TraceWriter {
 public:
  TraceWriter(const Database& database, const std::filesystem::path& directory)
      : database_(database), file_(directory, kTrace) {}

  void write() {
    for (size_t i = 0; i < database_.traces.size(); ++i) {
      if (database_.traces[i]) write_trace(i);
    }
    write_headers();
  }

 private:
  void write_trace(size_t profile) {
    file_.align(8);
    const uint64_t begin = file_.offset();
    last_time_ = 0;
    idle_ = false;
    while (database_.traces[profile](block_)) {
      write_block(profile);
      file_.flush_if_full();
    }
    headers_.put(static_cast<uint32_t>(profile + 1));  // profile 0 is the summary
    headers_.align(8);
    headers_.put(begin);
    headers_.put(file_.offset());
    ++count_;
  }

  void write_block(size_t profile) {
    char* out = file_.buffer().grow(block_.size() * kTraceElementBytes);
    size_t dropped = 0;
    for (const TraceRecord& record : block_) {
      const bool idle = record.context == kNone;
      if (record.time_ns < last_time_ || (!idle && record.context >= database_.contexts.size())) {
        throw DatabaseError(
            DatabaseError::Kind::InvalidModel,
            fmt::format("cannot write the database: the trace of profile {} is not sorted by time or "
                        "has an unknown context; this is a defect of the program that writes it",
                        profile));
      }
      last_time_ = record.time_ns;
      if (idle && idle_) {  // the format forbids two idle records in a row
        ++dropped;
        continue;
      }
      idle_ = idle;
      const uint32_t id = idle ? kGlobalContext : context_id(record.context);
      std::memcpy(out, &record.time_ns, sizeof record.time_ns);
      std::memcpy(out + sizeof record.time_ns, &id, sizeof id);
      out += kTraceElementBytes;
    }
    file_.buffer().drop(dropped * kTraceElementBytes);
    if (block_.empty()) return;
    first_time_ = std::min(first_time_, block_.front().time_ns);
    latest_time_ = std::max(latest_time_, last_time_);
  }

  void write_headers() {
    file_.align(8);
    const uint64_t begin = file_.offset();
    OutputBuffer header;
    header.put<uint64_t>(begin + 32);
    header.put(count_);
    header.put<uint8_t>(kTraceHeaderBytes);
    header.align(8);
    header.put(std::min(first_time_, latest_time_));  // both 0 when all traces are empty
    header.put(latest_time_);
    file_.write(header.view());
    file_.write(headers_.view());
    file_.end_section(0, begin);
    file_.finish();
  }

  const Database& database_;
  OutputFile file_;
  OutputBuffer headers_;
  uint32_t count_ = 0;
  std::vector<TraceRecord> block_;
  bool idle_ = false;
  uint64_t last_time_ = 0;
  uint64_t first_time_ = UINT64_MAX, latest_time_ = 0;
};

}  // namespace

bool write_traces(const Database& database, const std::filesystem::path& directory) {
  if (std::none_of(database.traces.begin(), database.traces.end(),
                   [](const auto& trace) { return bool{trace}; })) {
    return false;
  }
  TraceWriter(database, directory).write();
  return true;
}

}  // namespace prof
