#include "hpcrun/measurement/read_extents.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "hpcrun/measurement/checksum.h"

namespace prof {

using hpcrun::ExtentHeader;
using hpcrun::FileHeader;
using hpcrun::StreamKind;

namespace {

constexpr size_t kMaxWarnings = 50;

bool plausible(const FileHeader& header) {
  return std::has_single_bit(header.page_bytes) && header.page_bytes >= 512 &&
         header.page_bytes <= (1u << 20) && header.header_bytes % header.page_bytes == 0 &&
         header.header_bytes >= header.page_bytes && header.extent_header_bytes >= sizeof(ExtentHeader) &&
         header.extent_header_bytes <= header.page_bytes && header.node_bytes >= sizeof(hpcrun::NodeRecord) &&
         header.cell_bytes >= sizeof(hpcrun::ValueCell) &&
         header.record_header_bytes >= sizeof(hpcrun::RecordHeader) && header.record_header_bytes % 8 == 0 &&
         header.trace_quantum_ns != 0;
}

// Slots past the end of a truncated file stay 0.
template <size_t N>
void read_slots(std::span<const uint8_t> file, uint64_t offset, size_t slots, std::array<uint64_t, N>& out) {
  for (size_t i = 0; i < std::min(slots, N); ++i) {
    const uint64_t at = offset + i * sizeof(uint64_t);
    if (at + sizeof(uint64_t) > file.size()) return;
    out[i] = load_at<uint64_t>(file, at);
  }
}

bool read_strings(std::span<const uint8_t> file, const FileHeader& header, MeasuredProcess& out) {
  if (uint64_t{header.strings_offset} + header.strings_bytes > file.size()) return false;
  std::span<const uint8_t> rest = file.subspan(header.strings_offset, header.strings_bytes);
  if (hpcrun::crc32c(0, rest.data(), rest.size()) != header.strings_checksum) return false;
  for (std::string* text : {&out.command, &out.executable, &out.host, &out.environment}) {
    if (rest.size() < sizeof(uint32_t)) return false;
    const auto length = load_at<uint32_t>(rest, 0);
    rest = rest.subspan(sizeof(uint32_t));
    if (length > rest.size()) return false;
    text->assign(reinterpret_cast<const char*>(rest.data()), length);
    rest = rest.subspan(length);
  }
  return true;
}

}  // namespace

void Warnings::add(std::string line) {
  if (out_.size() < kMaxWarnings) {
    out_.push_back(std::move(line));
  } else {
    ++suppressed_;
  }
}

void Warnings::close() {
  if (suppressed_ != 0) out_.push_back("and " + std::to_string(suppressed_) + " more like this");
}

const char* stream_name(StreamKind kind) {
  switch (kind) {
    case StreamKind::Process:
      return "process records";
    case StreamKind::Nodes:
      return "calling contexts";
    case StreamKind::Values:
      return "metric values";
    case StreamKind::Trace:
      return "trace";
    case StreamKind::Tasks:
      return "device tasks";
    case StreamKind::Waits:
      return "device waits";
    case StreamKind::Accesses:
      return "accesses";
    case StreamKind::Locks:
      return "locks";
    case StreamKind::Waste:
      return "wasted stores and loads";
  }
  return "unknown";
}

// Takes the rank that MPI reported. If the launcher gave a rank, it is the same, but the number of ranks may
// be missing.
void take_rank_by_mpi(uint64_t packed, MeasuredProcess& process) {
  const uint64_t number = packed & UINT32_MAX, ranks = packed >> 32;
  if (number == 0 || number > ranks || ranks > INT32_MAX) return;
  if (process.rank < 0) process.rank = static_cast<int32_t>(number - 1);
  process.ranks = static_cast<int32_t>(ranks);
}

Layout read_header(std::span<const uint8_t> file, const std::string& name, ProcessMeasurement& out,
                   Warnings& warnings) {
  using Kind = MeasurementError::Kind;
  if (file.size() < sizeof hpcrun::kFileMagic ||
      std::memcmp(file.data(), hpcrun::kFileMagic, sizeof hpcrun::kFileMagic) != 0) {
    throw MeasurementError(Kind::NotAMeasurement, name + ": not a measurement file");
  }
  if (file.size() < sizeof(FileHeader)) {
    throw MeasurementError(Kind::DamagedHeader, name + ": truncated inside its header");
  }
  const auto header = load_at<FileHeader>(file, 0);
  if (header.byte_order != hpcrun::kByteOrderMark) {
    throw MeasurementError(Kind::DamagedHeader, name + ": written in another byte order, or damaged");
  }
  if (header.major != hpcrun::kFormatMajor) {
    throw MeasurementError(Kind::UnsupportedVersion,
                           name + ": measurement format " + std::to_string(header.major) + "." +
                               std::to_string(header.minor) + ", but this prof reads " +
                               std::to_string(hpcrun::kFormatMajor) +
                               ".x; analyze with the version of prof that measured");
  }

  Layout layout;
  uint64_t counters_offset = hpcrun::kCountersOffset;
  uint64_t reasons_offset = hpcrun::kStackReasonsOffset;
  size_t counter_slots = hpcrun::kCounterSlots;
  size_t reason_slots = hpcrun::kStackReasonSlots;
  const bool sound = hpcrun::crc32c(0, &header, offsetof(FileHeader, checksum)) == header.checksum;
  if (sound && plausible(header)) {
    layout = {header.page_bytes, header.header_bytes,        header.extent_header_bytes, header.node_bytes,
              header.cell_bytes, header.record_header_bytes, header.trace_quantum_ns};
    counters_offset = header.counters_offset;
    reasons_offset = header.stack_reasons_offset;
    counter_slots = header.counter_slots;
    reason_slots = header.stack_reason_slots;
  } else {
    warnings.add("the file header is damaged; the usual layout is assumed");
  }

  MeasuredProcess& process = out.process;
  process.pid = header.pid;
  process.parent_pid = header.parent_pid;
  process.rank = header.rank;
  process.start_realtime_ns = header.start_realtime_ns;
  process.start_monotonic_ns = header.start_monotonic_ns;
  if (!read_strings(file, header, process)) warnings.add("the command line and environment are damaged");
  read_slots(file, counters_offset, counter_slots, out.counters);
  read_slots(file, reasons_offset, reason_slots, out.stack_reasons);
  process.end_monotonic_ns = out.counter(hpcrun::Counter::EndMonotonicNs);
  take_rank_by_mpi(out.counter(hpcrun::Counter::RankByMpi), process);
  return layout;
}

namespace {

constexpr size_t kMinExtentHeader = sizeof(ExtentHeader);

// True for streams that are read again later, if at all.
bool is_trace(StreamKind kind) {
  return kind == StreamKind::Trace || kind == StreamKind::Tasks || kind == StreamKind::Waits;
}

bool starts_extent(std::span<const uint8_t> page) {
  return page.size() >= kMinExtentHeader &&
         load_at<uint32_t>(page, offsetof(ExtentHeader, magic)) == hpcrun::kExtentMagic;
}

// The first half of the header never changes, so its checksum is valid at any moment after it was written.
bool header_holds(std::span<const uint8_t> page) {
  uint8_t immutable[hpcrun::kExtentImmutableBytes];
  std::memcpy(immutable, page.data(), sizeof immutable);
  std::memset(immutable + offsetof(ExtentHeader, header_checksum), 0, sizeof(uint32_t));
  return hpcrun::crc32c(0, immutable, sizeof immutable) ==
         load_at<uint32_t>(page, offsetof(ExtentHeader, header_checksum));
}

// Counts pages that belong to no extent. Pages after the last extent are reserved and zero, and are not
// reported.
class UnreadablePages {
 public:
  void see(std::span<const uint8_t> page, uint64_t offset) {
    const auto start = page.first(std::min(page.size(), kMinExtentHeader));
    if (std::all_of(start.begin(), start.end(), [](uint8_t byte) { return byte == 0; })) return;
    if (count_++ == 0) first_ = offset;
  }
  void report(Warnings& warnings) const {
    if (count_ == 0) return;
    warnings.add(std::to_string(count_) + " pages from offset " + std::to_string(first_) +
                 " on are not part of a readable extent");
  }

 private:
  uint64_t count_ = 0;
  uint64_t first_ = 0;
};

std::string describe(const Extent& extent) {
  std::string text = "extent at offset " + std::to_string(extent.offset) + " (";
  if (extent.kind != StreamKind::Process) text += "thread " + std::to_string(extent.thread) + ", ";
  return text + stream_name(extent.kind) + ")";
}

// Determines the payload of an extent. `body`: all bytes of the extent after its header that the file has.
void read_payload(std::span<const uint8_t> header, std::span<const uint8_t> body, bool cut, Extent& extent,
                  Warnings& warnings) {
  extent.payload = body;
  // Process records are committed one by one, and their length counts attempts.
  if (extent.kind == StreamKind::Process) return;
  const auto length = load_at<uint32_t>(header, offsetof(ExtentHeader, length));
  const auto sealed = load_at<uint32_t>(header, offsetof(ExtentHeader, sealed));
  if (sealed == hpcrun::kSealed && !cut) {
    if (length <= body.size()) {
      const uint32_t checksum =
          hpcrun::crc32c(hpcrun::crc32c(0, &length, sizeof length), body.data(), length);
      extent.intact = checksum == load_at<uint32_t>(header, offsetof(ExtentHeader, payload_checksum));
    } else {
      extent.intact = false;
    }
    if (!extent.intact) {
      warnings.add(describe(extent) + " is damaged: its checksum does not match");
      return;
    }
  } else if (!cut && (sealed != 0 || length > body.size())) {
    warnings.add(describe(extent) + " has a damaged header; its records are checked one by one");
  }
  extent.payload = body.first(std::min<size_t>(length, body.size()));
}

// Reports streams with missing extents, and drops extents that repeat or go backward.
void check_sequences(std::vector<Extent>& extents, Warnings& warnings) {
  std::map<std::pair<StreamKind, uint32_t>, uint32_t> expected;
  std::map<std::pair<StreamKind, uint32_t>, uint32_t> lost;
  std::erase_if(extents, [&](Extent& extent) {
    // Threads race for extents of process records, so their order means nothing.
    if (extent.kind == StreamKind::Process) return false;
    const auto stream = std::pair{extent.kind, extent.thread};
    uint32_t& next = expected[stream];
    if (extent.sequence < next) {
      warnings.add(describe(extent) + " is out of order and left out");
      return true;
    }
    if (extent.sequence > next) {
      extent.follows_loss = true;
      lost[stream] += extent.sequence - next;
    }
    next = extent.sequence + 1;
    return false;
  });
  for (const auto& [stream, count] : lost) {
    warnings.add("thread " + std::to_string(stream.second) + ": " + std::to_string(count) +
                 " extent(s) of its " + stream_name(stream.first) + " are lost");
  }
}

}  // namespace

std::vector<Extent> read_extents(std::span<const uint8_t> file, const Layout& layout, Warnings& warnings) {
  std::vector<Extent> extents;
  UnreadablePages unreadable;
  for (uint64_t offset = layout.header_bytes; offset < file.size();) {
    const std::span<const uint8_t> rest = file.subspan(offset);
    if (!starts_extent(rest) || !header_holds(rest)) {
      unreadable.see(rest.first(std::min<size_t>(rest.size(), layout.page_bytes)), offset);
      offset += layout.page_bytes;
      continue;
    }
    Extent extent;
    extent.kind = load_at<StreamKind>(rest, offsetof(ExtentHeader, kind));
    extent.thread = load_at<uint32_t>(rest, offsetof(ExtentHeader, thread));
    extent.sequence = load_at<uint32_t>(rest, offsetof(ExtentHeader, sequence));
    extent.first = load_at<uint64_t>(rest, offsetof(ExtentHeader, first));
    extent.offset = offset;
    const uint64_t pages = std::max(load_at<uint32_t>(rest, offsetof(ExtentHeader, pages)), uint32_t{1});
    const uint64_t bytes = pages * layout.page_bytes;
    const bool cut = bytes > rest.size();
    if (cut) {
      warnings.add("the file is truncated at " + std::to_string(file.size()) + " bytes, inside the " +
                   describe(extent));
    }
    const std::span<const uint8_t> whole = rest.first(std::min<uint64_t>(bytes, rest.size()));
    if (whole.size() > layout.extent_header_bytes) {
      read_payload(rest, whole.subspan(layout.extent_header_bytes), cut, extent, warnings);
      if (is_trace(extent.kind)) release_pages(whole);
      extents.push_back(extent);
    }
    offset += bytes;
  }
  unreadable.report(warnings);
  check_sequences(extents, warnings);
  return extents;
}

}  // namespace prof
