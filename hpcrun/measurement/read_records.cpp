#include "hpcrun/measurement/read_records.h"

#include <algorithm>
#include <string_view>

#include "hpcrun/measurement/checksum.h"

namespace prof {

using hpcrun::RecordHeader;
using hpcrun::RecordType;

namespace {

constexpr size_t kRecordAlign = 8;

// Returns the committed record at the start of `rest`; empty if there is none.
std::span<const uint8_t> committed_record(std::span<const uint8_t> rest, const Layout& layout) {
  if (rest.size() < layout.record_header_bytes) return {};
  const auto commit = load_at<uint32_t>(rest, offsetof(RecordHeader, commit));
  const size_t bytes = load_at<uint16_t>(rest, offsetof(RecordHeader, bytes));
  const size_t fixed = load_at<uint8_t>(rest, offsetof(RecordHeader, fixed_words)) * kRecordAlign;
  if (commit == 0 || bytes % kRecordAlign != 0 || bytes > rest.size() ||
      bytes < layout.record_header_bytes + fixed) {
    return {};
  }
  constexpr size_t kChecked = sizeof(RecordHeader::commit);
  const uint32_t checksum = hpcrun::crc32c(0, rest.data() + kChecked, bytes - kChecked);
  return commit == (checksum == 0 ? 1 : checksum) ? rest.first(bytes) : std::span<const uint8_t>{};
}

// Reads the numbers of a record, then its strings in order. Numbers that an older writer did not have are 0;
// those that a newer one added are skipped.
class Fields {
 public:
  Fields(std::span<const uint8_t> record, const Layout& layout)
      : numbers_(
            record.subspan(layout.record_header_bytes,
                           load_at<uint8_t>(record, offsetof(RecordHeader, fixed_words)) * kRecordAlign)),
        strings_(record.subspan(layout.record_header_bytes + numbers_.size())) {}

  template <typename T>
  T numbers() const {
    T value{};
    std::memcpy(&value, numbers_.data(), std::min(sizeof value, numbers_.size()));
    return value;
  }

  std::string_view next_string() {
    if (strings_.size() < sizeof(uint16_t)) return {};
    const size_t length =
        std::min<size_t>(load_at<uint16_t>(strings_, 0), strings_.size() - sizeof(uint16_t));
    const std::string_view text{reinterpret_cast<const char*>(strings_.data()) + sizeof(uint16_t), length};
    strings_ = strings_.subspan(sizeof(uint16_t) + length);
    return text;
  }

 private:
  std::span<const uint8_t> numbers_;
  std::span<const uint8_t> strings_;
};

struct Collected {
  std::map<uint64_t, MeasuredMetric> metrics;
  std::map<uint64_t, MeasuredModule> modules;
  std::map<uint64_t, MeasuredDevice> devices;
  std::map<uint32_t, MeasuredQueue> queues;
  std::map<uint64_t, MeasuredSymbol> symbols;
  std::map<uint64_t, MeasuredObject> objects;
  std::map<uint32_t, uint64_t> named_ns;  // per thread: time of the latest known name
};

void read_metric(Fields fields, Collected& collected) {
  const auto numbers = fields.numbers<hpcrun::MetricRecord>();
  MeasuredMetric& metric = collected.metrics[static_cast<uint16_t>(numbers.id)];
  metric.id = static_cast<uint16_t>(numbers.id);
  metric.scale = numbers.scale;
  metric.requested_hz = numbers.requested_hz;
  metric.name = fields.next_string();
  metric.unit = fields.next_string();
  metric.source = fields.next_string();
  metric.note = fields.next_string();
}

void read_module(Fields fields, Collected& collected) {
  const auto numbers = fields.numbers<hpcrun::ModuleRecord>();
  MeasuredModule& module = collected.modules[static_cast<uint16_t>(numbers.id)];
  module.id = static_cast<uint16_t>(numbers.id);
  module.start = numbers.start;
  module.end = numbers.end;
  module.load_bias = numbers.load_bias;
  module.file = numbers.file;
  module.path = fields.next_string();
  const std::string_view build_id = fields.next_string();
  module.build_id.assign(build_id.begin(), build_id.end());
}

void read_device(Fields fields, Collected& collected) {
  const auto numbers = fields.numbers<hpcrun::DeviceRecord>();
  MeasuredDevice& device = collected.devices[static_cast<uint16_t>(numbers.device)];
  device.index = static_cast<uint16_t>(numbers.device);
  device.track = static_cast<uint32_t>(numbers.track);
  device.first_use_ns = numbers.first_use_ns;
  device.name = fields.next_string();
  device.uuid = fields.next_string();
  device.api = fields.next_string();
  device.driver = fields.next_string();
}

void read_queue(Fields fields, Collected& collected) {
  const auto numbers = fields.numbers<hpcrun::QueueRecord>();
  MeasuredQueue& queue = collected.queues[static_cast<uint32_t>(numbers.track)];
  queue.track = static_cast<uint32_t>(numbers.track);
  queue.device = static_cast<uint16_t>(numbers.device);
  queue.created_ns = numbers.time_ns;
  queue.name = fields.next_string();
}

void read_object(Fields fields, Collected& collected) {
  const auto numbers = fields.numbers<hpcrun::ObjectRecord>();
  MeasuredObject& object = collected.objects[numbers.object];
  object.id = numbers.object;
  object.begin = numbers.begin;
  object.bytes = numbers.bytes;
  object.born_ns = numbers.born_ns;
  object.thread = static_cast<uint32_t>(numbers.thread);
  object.node = static_cast<uint32_t>(numbers.node);
  object.align = numbers.align;
}

// Ignores kinds that this reader does not support.
void read_repair(Fields fields, std::vector<MeasuredRepair>& repairs) {
  const auto numbers = fields.numbers<hpcrun::RepairRecord>();
  if (numbers.kind < hpcrun::RepairKind::Placed || numbers.kind > hpcrun::RepairKind::PageShared) return;
  repairs.push_back({numbers.time_ns, numbers.kind, static_cast<uint32_t>(numbers.thread),
                     static_cast<uint32_t>(numbers.node), numbers.bytes, static_cast<uint32_t>(numbers.align),
                     static_cast<uint32_t>(numbers.offset), static_cast<uint32_t>(numbers.pad),
                     static_cast<uint32_t>(numbers.plan_entry), numbers.conflicts, numbers.remaining,
                     numbers.address});
}

// Ignores records whose line is not aligned.
void read_written(Fields fields, std::vector<MeasuredWritten>& written) {
  constexpr uint64_t kLine = 64;
  const auto numbers = fields.numbers<hpcrun::WrittenRecord>();
  if (numbers.bytes == 0 || numbers.line % kLine != 0) return;
  written.push_back({numbers.time_ns, static_cast<uint32_t>(numbers.thread), numbers.line, numbers.bytes,
                     numbers.object, numbers.updates, numbers.interleaved, numbers.true_sharing,
                     numbers.false_sharing});
}

// Keeps the latest name, regardless of the order of records.
void read_name(std::string_view name, uint32_t index, uint64_t time_ns, MeasuredThread& thread,
               Collected& collected) {
  uint64_t& named_ns = collected.named_ns[index];
  if (time_ns < named_ns) return;
  named_ns = time_ns;
  thread.name = name;
}

void read_record(std::span<const uint8_t> record, const Layout& layout, Collected& collected,
                 ProcessMeasurement& out, std::map<uint32_t, MeasuredThread>& threads) {
  Fields fields(record, layout);
  switch (load_at<RecordType>(record, offsetof(RecordHeader, type))) {
    case RecordType::Metric:
      read_metric(fields, collected);
      break;
    case RecordType::Module:
      read_module(fields, collected);
      break;
    case RecordType::ThreadStart: {
      const auto numbers = fields.numbers<hpcrun::ThreadStartRecord>();
      MeasuredThread& thread = threads[numbers.thread];
      thread.tid = numbers.tid;
      thread.start_ns = numbers.time_ns;
      read_name(fields.next_string(), numbers.thread, numbers.time_ns, thread, collected);
      break;
    }
    case RecordType::ThreadEnd: {
      const auto numbers = fields.numbers<hpcrun::ThreadEndRecord>();
      MeasuredThread& thread = threads[static_cast<uint32_t>(numbers.thread)];
      thread.end_ns = numbers.time_ns;
      thread.cpu_ns = numbers.cpu_ns;
      break;
    }
    case RecordType::ThreadName: {
      const auto numbers = fields.numbers<hpcrun::ThreadNameRecord>();
      const auto index = static_cast<uint32_t>(numbers.thread);
      read_name(fields.next_string(), index, numbers.time_ns, threads[index], collected);
      break;
    }
    case RecordType::ThreadMemory: {
      const auto numbers = fields.numbers<hpcrun::ThreadMemoryRecord>();
      MeasuredThread& thread = threads[static_cast<uint32_t>(numbers.thread)];
      thread.stack_low = numbers.stack_low;
      thread.stack_high = numbers.stack_high;
      thread.pointer = numbers.pointer;
      break;
    }
    case RecordType::Note:
      out.notes.push_back({fields.numbers<hpcrun::NoteRecord>().kind, std::string(fields.next_string())});
      break;
    case RecordType::Device:
      read_device(fields, collected);
      break;
    case RecordType::Queue:
      read_queue(fields, collected);
      break;
    case RecordType::Symbol: {
      const uint64_t frame = fields.numbers<hpcrun::SymbolRecord>().frame;
      collected.symbols[frame] = {frame, std::string(fields.next_string())};
      break;
    }
    case RecordType::Object:
      read_object(fields, collected);
      break;
    case RecordType::ObjectEnd: {
      const auto numbers = fields.numbers<hpcrun::ObjectEndRecord>();
      // The object's own record may come later or be lost; until then, nothing else is known about it.
      collected.objects[numbers.object].id = numbers.object;
      collected.objects[numbers.object].died_ns = numbers.time_ns;
      break;
    }
    case RecordType::Repair:
      read_repair(fields, out.repairs);
      break;
    case RecordType::Written:
      read_written(fields, out.written);
      break;
  }
}

}  // namespace

void read_records(const std::vector<Extent>& extents, const Layout& layout, ProcessMeasurement& out,
                  std::map<uint32_t, MeasuredThread>& threads) {
  Collected collected;
  for (const Extent& extent : extents) {
    if (extent.kind != hpcrun::StreamKind::Process) continue;
    for (std::span<const uint8_t> rest = extent.payload; rest.size() >= kRecordAlign;) {
      const std::span<const uint8_t> record = committed_record(rest, layout);
      if (!record.empty()) read_record(record, layout, collected, out, threads);
      rest = rest.subspan(record.empty() ? kRecordAlign : record.size());
    }
  }
  for (auto& [id, metric] : collected.metrics) out.metrics.push_back(std::move(metric));
  for (auto& [id, module] : collected.modules) out.modules.push_back(std::move(module));
  for (auto& [frame, symbol] : collected.symbols) out.symbols.push_back(std::move(symbol));
  for (auto& [id, object] : collected.objects) out.objects.push_back(object);
  std::ranges::stable_sort(out.repairs, {}, &MeasuredRepair::time_ns);
  std::ranges::stable_sort(out.written, {}, &MeasuredWritten::line);
  for (auto& [index, device] : collected.devices) {
    threads[device.track].kind = TrackKind::Device;
    out.devices.push_back(std::move(device));
  }
  // A thread index is either a queue or a device, even in a damaged file.
  for (auto& [track, queue] : collected.queues) {
    threads[track].kind = TrackKind::Queue;
    out.queues.push_back(std::move(queue));
  }
}

}  // namespace prof
