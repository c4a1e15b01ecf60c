#include "analysis/import/perf/recording.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "analysis/import/import.h"
#include "analysis/import/perf/cursor.h"

namespace prof::perf {
namespace {

constexpr size_t kHeaderBytes = sizeof(perf_event_header);
// Stack dumps are mostly zeros and compress well, but a few bytes can be made to expand into any number.
constexpr uint64_t kMaxExpansion = 256;
constexpr uint64_t kExpansionAllowance = uint64_t{64} << 20;
constexpr size_t kBlockBytes = size_t{1} << 18;

// Reads a text as perf writes it: its length, then as many bytes, padded with NULs.
std::string take_counted_text(Cursor& in) {
  const auto length = in.take<uint32_t>();
  return std::string(Cursor::text_in(in.take_bytes(length)));
}

perf_event_attr attributes_in(std::span<const uint8_t> bytes) {
  perf_event_attr attributes{};
  std::memcpy(&attributes, bytes.data(), std::min(bytes.size(), sizeof attributes));
  return attributes;
}

}  // namespace

void Recording::damaged(std::string_view what) const {
  throw ImportError(ImportError::Kind::Damaged,
                    fmt::format("{}: not a complete perf.data file: {}", name_, what));
}

std::optional<std::span<const uint8_t>> Recording::section(const Section& section) const {
  if (section.offset > bytes_.size() || section.bytes > bytes_.size() - section.offset) return std::nullopt;
  return bytes_.subspan(static_cast<size_t>(section.offset), static_cast<size_t>(section.bytes));
}

Recording::Recording(std::span<const uint8_t> bytes, const std::string& name,
                     std::vector<std::string>& warnings)
    : bytes_(bytes), name_(name), warnings_(warnings) {
  const std::string_view magic = Cursor::text_in(bytes.first(std::min(bytes.size(), kMagic.size())));
  if (magic == kOldMagic || magic == kForeignMagic)
    throw ImportError(
        ImportError::Kind::Unsupported,
        fmt::format("{}: recorded {}, which is not supported; collapse it on the recording machine (perf "
                    "script | inferno-collapse-perf) and import the stacks",
                    name, magic == kOldMagic ? "by perf from before 2012" : "with another byte order"));
  if (magic != kMagic) damaged("it does not start with the perf.data header");
  read_file_header();
  if (!compressed_.empty()) index_compressed();
  if (events_.empty()) damaged("it contains no event");
  for (Event& event : events_)
    if (event.name.empty()) event.name = event_name(event.attributes);
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.time < b.time; });
}

void Recording::read_file_header() {
  Cursor in(bytes_);
  in.skip(kMagic.size());
  const auto header_bytes = in.take<uint64_t>();
  if (header_bytes == kPipeHeaderBytes) {
    const size_t read = index_records(in.rest(), false);
    if (read != in.left())
      warnings_.push_back(
          fmt::format("{}: ends in the middle of a record; everything before it is used", name_));
    return;
  }
  if (header_bytes < sizeof(FileHeader)) damaged("its header is too short");
  const auto header = Cursor(bytes_).take<FileHeader>();
  if (bytes_.size() < sizeof header) damaged("its header is incomplete");
  read_events(header);

  // perf states the size of the data when it ends; if it was killed, the size is 0.
  std::optional<std::span<const uint8_t>> data = section(header.data);
  const bool ended = header.data.bytes != 0;
  if (!data || !ended) {
    if (header.data.offset > bytes_.size()) damaged("its data are missing");
    data = bytes_.subspan(static_cast<size_t>(header.data.offset));
    warnings_.push_back(fmt::format("{}: {}; the complete part is used", name_,
                                    ended ? "ends before its data do" : "perf record did not end normally"));
  } else {
    read_features(header);
  }
  if (index_records(*data, false) != data->size() && warnings_.empty())
    warnings_.push_back(fmt::format("{}: contains an invalid record; everything before it is used", name_));
}

void Recording::read_events(const FileHeader& header) {
  const std::optional<std::span<const uint8_t>> table = section(header.events);
  const uint64_t stride = header.event_bytes;
  if (!table || stride < PERF_ATTR_SIZE_VER0 + sizeof(Section)) damaged("its events are missing");
  for (size_t at = 0; table->size() - at >= stride; at += static_cast<size_t>(stride)) {
    const auto entry = table->subspan(at, static_cast<size_t>(stride));
    const size_t attribute_bytes = entry.size() - sizeof(Section);
    const std::optional<std::span<const uint8_t>> ids =
        section(Cursor(entry.subspan(attribute_bytes)).take<Section>());
    read_event(entry.first(attribute_bytes), ids.value_or(std::span<const uint8_t>{}));
  }
}

void Recording::read_event(std::span<const uint8_t> attributes, std::span<const uint8_t> ids) {
  Event& event = events_.emplace_back();
  event.attributes = attributes_in(attributes);
  Cursor in(ids);
  while (in.left() >= sizeof(uint64_t)) {
    const auto id = in.take<uint64_t>();
    event.ids.push_back(id);
    event_by_id_.try_emplace(id, events_.size() - 1);
  }
}

Event* Recording::event_with(uint64_t id) {
  const auto at = event_by_id_.find(id);
  return at == event_by_id_.end() ? nullptr : &events_[at->second];
}

// Their sections follow the data, in the order of their bits.
void Recording::read_features(const FileHeader& header) {
  Cursor table(bytes_.subspan(static_cast<size_t>(header.data.offset + header.data.bytes)));
  bool whole = true;
  for (uint32_t feature = 0; feature < kFeatures; ++feature) {
    if ((header.features[feature / 64] >> (feature % 64) & 1) == 0) continue;
    const auto where = table.take<Section>();
    const std::optional<std::span<const uint8_t>> contents = section(where);
    if (table.good() && contents) {
      read_feature(feature, *contents);
    } else {
      whole = false;
    }
  }
  if (!whole)
    warnings_.push_back(
        fmt::format("{}: ends after its samples; names of events and build IDs may be missing", name_));
}

void Recording::read_feature(uint32_t feature, std::span<const uint8_t> bytes) {
  Cursor in(bytes);
  switch (feature) {
    case kBuildIds:
      return read_build_ids(bytes);
    case kHostName:
      about_.host = take_counted_text(in);
      return;
    case kSystemRelease:
      about_.system_release = take_counted_text(in);
      return;
    case kArchitecture:
      about_.architecture = take_counted_text(in);
      return;
    case kProcessor:
      about_.processor = take_counted_text(in);
      return;
    case kCommandLine:
      for (auto words = in.take<uint32_t>(); words > 0 && in.left() > 0; --words)
        about_.command.push_back(take_counted_text(in));
      return;
    case kEventDescriptions:
      return read_event_descriptions(bytes);
    case kClockData: {
      in.skip(2 * sizeof(uint32_t));  // version, clock
      ClockData clock{};
      clock.wall_ns = in.take<uint64_t>();
      clock.clock_ns = in.take<uint64_t>();
      if (in.good()) about_.clock = clock;
      return;
    }
    default:
      return;
  }
}

void Recording::read_build_ids(std::span<const uint8_t> bytes) {
  constexpr size_t kPidBytes = 4, kIdRoom = 24;
  while (bytes.size() >= kHeaderBytes) {
    Cursor in(bytes);
    const auto header = in.take<perf_event_header>();
    if (header.size < kHeaderBytes || header.size > bytes.size()) return;
    Cursor entry(bytes.subspan(kHeaderBytes, header.size - kHeaderBytes));
    entry.skip(kPidBytes);
    const std::span<const uint8_t> id = entry.take_bytes(kIdRoom);
    const std::string_view path = entry.take_text();
    if (entry.good()) {
      const size_t stated = header.misc & kBuildIdHasSize ? id[kBuildIdBytes] : kBuildIdBytes;
      const auto used = id.first(std::min<size_t>(stated, kBuildIdBytes));
      about_.build_ids.push_back({std::string(path), {used.begin(), used.end()}});
    }
    bytes = bytes.subspan(header.size);
  }
}

void Recording::read_event_descriptions(std::span<const uint8_t> bytes) {
  Cursor in(bytes);
  const auto count = in.take<uint32_t>();
  const auto attribute_bytes = in.take<uint32_t>();
  for (uint32_t i = 0; i < count && in.good() && in.left() > 0; ++i) {
    in.skip(attribute_bytes);
    const auto ids = in.take<uint32_t>();
    const std::string name = take_counted_text(in);
    for (uint32_t j = 0; j < ids && in.good(); ++j) {
      Event* const event = event_with(in.take<uint64_t>());
      if (event != nullptr && in.good()) event->name = name;
    }
    // A single event may have no ids.
    if (ids == 0 && count == events_.size() && in.good()) events_[i].name = name;
  }
}

void Recording::read_event_update(std::span<const uint8_t> record) {
  Cursor in(record.subspan(kHeaderBytes));
  const auto what = in.take<uint64_t>();
  Event* const event = event_with(in.take<uint64_t>());
  if (what == kEventUpdateName && event != nullptr && in.good()) event->name = in.take_text();
}

// Returns the number of bytes after the record that belong to it.
uint64_t Recording::read_tool_record(std::span<const uint8_t> record) {
  Cursor in(record.subspan(kHeaderBytes));
  switch (Cursor(record).take<perf_event_header>().type) {
    case kHeaderAttribute: {
      constexpr size_t kSizeOffset = 4;  // in the attributes, which state their own size
      const uint32_t stated = record.size() >= kHeaderBytes + kSizeOffset + sizeof(uint32_t)
                                  ? Cursor(record.subspan(kHeaderBytes + kSizeOffset)).take<uint32_t>()
                                  : 0;
      const uint64_t bytes = stated == 0 ? PERF_ATTR_SIZE_VER0 : stated;
      const std::span<const uint8_t> attributes = in.take_bytes(bytes);
      if (in.good()) read_event(attributes, in.rest());
      return 0;
    }
    case kHeaderBuildId:
      read_build_ids(record);
      return 0;
    case kEventUpdate:
      read_event_update(record);
      return 0;
    case kHeaderFeature: {
      const auto feature = in.take<uint64_t>();
      if (feature < kFeatures) read_feature(static_cast<uint32_t>(feature), in.rest());
      return 0;
    }
    case kHeaderTracingData:
      return (uint64_t{in.take<uint32_t>()} + 7) / 8 * 8;
    case kAuxTrace:
      return in.take<uint64_t>();
    case kCompressed:
      compressed_.push_back(in.rest());
      return 0;
    case kCompressed2: {
      const auto bytes = in.take<uint64_t>();
      compressed_.push_back(in.take_bytes(bytes));
      return 0;
    }
    default:
      return 0;
  }
}

size_t Recording::index_records(std::span<const uint8_t> data, bool compressed) {
  size_t at = 0;
  while (data.size() - at >= kHeaderBytes) {
    const auto header = Cursor(data.subspan(at)).take<perf_event_header>();
    if (header.size < kHeaderBytes || header.size > data.size() - at) break;
    const auto record = data.subspan(at, header.size);
    at += header.size;
    if (header.type < kToolRecords) {
      const uint64_t time = events_.empty() ? 0 : time_of(record, events_[0].attributes).value_or(0);
      entries_.push_back({time, record.data()});
    } else if (!compressed) {
      const uint64_t more = read_tool_record(record);
      if (more > data.size() - at) break;
      at += static_cast<size_t>(more);
    }
  }
  return at;
}

// Compressed pieces form one stream of records; a piece may begin and end inside a record.
void Recording::index_compressed() {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                        ZSTD_freeDStream);
  const uint64_t most = kExpansionAllowance + kMaxExpansion * bytes_.size();
  uint64_t all = 0;
  std::vector<uint8_t> pending;
  const char* trouble = nullptr;
  for (size_t i = 0; i < compressed_.size() && trouble == nullptr; ++i) {
    ZSTD_inBuffer in{compressed_[i].data(), compressed_[i].size(), 0};
    for (bool more = true; more && trouble == nullptr;) {
      const size_t before = pending.size();
      pending.resize(before + kBlockBytes);
      ZSTD_outBuffer out{pending.data() + before, kBlockBytes, 0};
      const size_t status = ZSTD_decompressStream(stream.get(), &out, &in);
      pending.resize(before + out.pos);
      all += out.pos;
      if (ZSTD_isError(status)) trouble = "damaged zstd data";
      if (all > most) trouble = "its data exceed the size limit when uncompressed";
      more = in.pos < in.size || out.pos == out.size;
    }
    pending.shrink_to_fit();
    decompressed_.push_back(std::move(pending));
    const std::span<const uint8_t> data = decompressed_.back();
    const size_t read = index_records(data, true);
    pending.assign(data.begin() + static_cast<ptrdiff_t>(read), data.end());
  }
  if (trouble == nullptr && !pending.empty()) trouble = "its compressed data end in the middle of a record";
  if (trouble != nullptr)
    warnings_.push_back(fmt::format("{}: {}; everything before is used", name_, trouble));
}

size_t Recording::event_of(std::span<const uint8_t> record) const {
  if (events_.size() == 1) return 0;
  const std::optional<uint64_t> id = id_of_sample(record, events_[0].attributes);
  const auto at = id ? event_by_id_.find(*id) : event_by_id_.end();
  return at == event_by_id_.end() ? 0 : at->second;
}

size_t Recording::replay(Visitor& visitor) const {
  Sample scratch;
  size_t damaged_records = 0;
  for (const Entry& entry : entries_) {
    perf_event_header header;
    std::memcpy(&header, entry.record, sizeof header);
    const std::span<const uint8_t> record(entry.record, header.size);
    const size_t event = header.type == PERF_RECORD_SAMPLE ? event_of(record) : 0;
    if (!visit_record(record, event, events_[event].attributes, scratch, visitor)) ++damaged_records;
  }
  return damaged_records;
}

}  // namespace prof::perf
