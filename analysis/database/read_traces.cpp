#include <algorithm>
#include <cstring>
#include <memory>

#include "analysis/database/read.h"
#include "analysis/database/trace_extent.h"

namespace prof {
namespace {

using namespace format;

constexpr uint64_t kBlockRecords = 1 << 16;  // 768 KiB of the file at a time

// Shared by the sources of all traces of a database.
struct TraceFile {
  TraceFile(const std::filesystem::path& directory, const ContextIds& ids)
      : file(directory, kTrace), contexts(ids) {}
  InputFile file;
  ContextIds contexts;
};

// Reads one trace: the records from `begin` to `end`, `next` first. A copy has its own position.
class TraceCursor {
 public:
  TraceCursor(std::shared_ptr<const TraceFile> file, uint64_t begin, uint64_t end)
      : file_(std::move(file)), begin_(begin), end_(end), next_(begin) {}

  TraceExtent extent() const { return {file_->file.path(), begin_, end_, {file_, &file_->contexts}}; }

  bool operator()(std::vector<TraceRecord>& block) {
    block.clear();
    if (next_ == end_) {
      next_ = begin_;
      last_time_ = 0;
      return false;
    }
    const uint64_t size = std::min(end_ - next_, kBlockRecords * kTraceElementBytes);
    file_->file.read_into(bytes_, next_, size);
    for (uint64_t at = 0; at < size; at += kTraceElementBytes) block.push_back(record(bytes_.data() + at));
    next_ += size;
    return true;
  }

 private:
  TraceRecord record(const char* from) {
    TraceRecord result;
    uint32_t id;
    std::memcpy(&result.time_ns, from, sizeof result.time_ns);
    std::memcpy(&id, from + sizeof result.time_ns, sizeof id);
    if (result.time_ns < last_time_) file_->file.corrupt("a trace runs backwards in time");
    last_time_ = result.time_ns;
    result.context = id == 0 ? kNone : file_->contexts.find(id);
    if (id != 0 && result.context == kNone)
      file_->file.corrupt("a context in a trace that meta.db does not list");
    return result;
  }

  std::shared_ptr<const TraceFile> file_;
  uint64_t begin_, end_, next_;
  uint64_t last_time_ = 0;
  std::vector<char> bytes_;
};

}  // namespace

std::optional<TraceExtent> extent_of(const TraceSource& source) {
  const auto* const cursor = source.target<TraceCursor>();
  return cursor ? std::optional(cursor->extent()) : std::nullopt;
}

void read_traces(const std::filesystem::path& directory, const MetaIndex& index,
                 const std::vector<uint32_t>& profile_indices, Database& database) {
  if (!std::filesystem::exists(directory / kTrace.name)) return;
  const auto file = std::make_shared<const TraceFile>(directory, index.contexts);
  const Bytes section = file->file.read_section(0);
  const uint64_t headers = section.at<uint64_t>(section.begin());
  const uint32_t count = section.at<uint32_t>(section.begin() + 8);
  const uint8_t stride = section.at<uint8_t>(section.begin() + 12);
  section.check_array(headers, count, stride, kTraceHeaderBytes, "traces");
  database.traces.resize(database.profiles.size());
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t header = headers + i * stride;
    const uint32_t profile = section.at<uint32_t>(header);
    const uint64_t begin = section.at<uint64_t>(header + 8), end = section.at<uint64_t>(header + 16);
    if (profile >= profile_indices.size() || profile_indices[profile] == kNone) {
      section.corrupt("a trace of a profile that profile.db does not list");
    }
    if (begin > end || (end - begin) % kTraceElementBytes != 0)
      section.corrupt("a trace ends before it begins");
    file->file.check_range(begin, end - begin);
    TraceSource& source = database.traces[profile_indices[profile]];
    if (source) section.corrupt("two traces of one profile");
    source = TraceCursor(file, begin, end);
  }
}

}  // namespace prof
