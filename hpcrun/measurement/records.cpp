// Writes process records. Any number of threads append to one stream, also in handlers, and none ever waits.
// One atomic add to the extent's length takes space; the record's own commit word publishes it.

#include <algorithm>
#include <cstring>
#include <string_view>

#include "hpcrun/measurement/checksum.h"
#include "hpcrun/measurement/writer.h"

namespace hpcrun {
namespace {

// Each extent is twice as large as the previous one, up to 32 times the first. Extents stay mapped, and a
// program may create threads as long as it runs, about 70 bytes each.
constexpr uint32_t kMaxDoublings = 5;
constexpr size_t kMaxString = 4096;  // PATH_MAX
constexpr size_t kRecordAlign = 8;

std::string_view record_string(const char* text) {
  return text == nullptr ? std::string_view{} : std::string_view{text, strnlen(text, kMaxString)};
}

}  // namespace

// The extent's capacity is in its header, so threads share only one pointer. The thread that finds the extent
// full creates a new one. If two do so at once, the extent of the second holds only its one record.
RecordHeader* MeasurementFile::take_record(size_t bytes) noexcept {
  if (!space_.owned()) return nullptr;
  ExtentHeader* current = records_.load(std::memory_order_acquire);
  if (current != nullptr) {
    // If the file was truncated, the extent's header reads as zeros: it has no pages.
    const size_t bytes_of_extent = size_t{current->pages} * kPageBytes;
    const size_t capacity = bytes_of_extent - std::min(bytes_of_extent, sizeof(ExtentHeader));
    const size_t at = current->length.fetch_add(static_cast<uint32_t>(bytes), std::memory_order_relaxed);
    if (at + bytes <= capacity) {
      return reinterpret_cast<RecordHeader*>(reinterpret_cast<char*>(current + 1) + at);
    }
  }
  MappedExtent fresh;
  const uint32_t sequence = record_extents_.fetch_add(1, std::memory_order_relaxed);
  const size_t extent_bytes =
      std::max(kFirstRecordExtentBytes << std::min(sequence, kMaxDoublings), bytes + sizeof(ExtentHeader));
  if (!take(StreamKind::Process, 0, {sequence, 0}, extent_bytes, fresh)) return nullptr;
  fresh.header->length.store(static_cast<uint32_t>(bytes), std::memory_order_relaxed);
  records_.compare_exchange_strong(current, fresh.header, std::memory_order_release);
  return reinterpret_cast<RecordHeader*>(fresh.data());
}

// Writes one record: its numbers, then its strings, then commit.
class MeasurementFile::Record {
 public:
  template <typename Fixed>
  Record(MeasurementFile& file, RecordType type, const Fixed& fixed, size_t strings,
         size_t string_bytes) noexcept {
    static_assert(sizeof(Fixed) % kRecordAlign == 0);
    size_t bytes = sizeof(RecordHeader) + sizeof(Fixed) + strings * sizeof(uint16_t) + string_bytes;
    bytes = (bytes + kRecordAlign - 1) / kRecordAlign * kRecordAlign;
    header_ = file.take_record(bytes);
    if (header_ == nullptr) return;
    header_->bytes = static_cast<uint16_t>(bytes);
    header_->type = type;
    header_->fixed_words = sizeof(Fixed) / kRecordAlign;
    next_ = reinterpret_cast<char*>(header_ + 1);
    std::memcpy(next_, &fixed, sizeof fixed);
    next_ += sizeof fixed;
  }

  void append(std::string_view text) noexcept {
    if (header_ == nullptr) return;
    const auto length = static_cast<uint16_t>(text.size());
    std::memcpy(next_, &length, sizeof length);
    std::memcpy(next_ + sizeof length, text.data(), length);
    next_ += sizeof length + length;
  }

  void commit() noexcept {
    if (header_ == nullptr) return;
    constexpr size_t kChecked = sizeof(RecordHeader::commit);
    const uint32_t checksum =
        crc32c(0, reinterpret_cast<const char*>(header_) + kChecked, header_->bytes - kChecked);
    header_->commit.store(checksum == 0 ? 1 : checksum, std::memory_order_release);
  }

 private:
  RecordHeader* header_ = nullptr;
  char* next_ = nullptr;
};

void MeasurementFile::write_metric(const MetricInfo& metric) noexcept {
  const std::string_view name = record_string(metric.name);
  const std::string_view unit = record_string(metric.unit);
  const std::string_view source = record_string(metric.source);
  const std::string_view note = record_string(metric.note);
  Record record(*this, RecordType::Metric, MetricRecord{metric.id, metric.scale, metric.requested_hz}, 4,
                name.size() + unit.size() + source.size() + note.size());
  record.append(name);
  record.append(unit);
  record.append(source);
  record.append(note);
  record.commit();
}

void MeasurementFile::write_module(uint16_t id, const char* path, uint64_t start, uint64_t end,
                                   uint64_t load_bias, const uint8_t* build_id, uint32_t build_id_bytes,
                                   const FileIdentity& file) noexcept {
  const std::string_view name = record_string(path);
  const std::string_view build{reinterpret_cast<const char*>(build_id),
                               build_id == nullptr ? 0 : std::min<size_t>(build_id_bytes, kMaxString)};
  Record record(*this, RecordType::Module, ModuleRecord{id, start, end, load_bias, file}, 2,
                name.size() + build.size());
  record.append(name);
  record.append(build);
  record.commit();
}

void MeasurementFile::write_thread_start(uint32_t thread, int32_t tid, uint64_t time_ns,
                                         const char* name) noexcept {
  const std::string_view text = record_string(name);
  Record record(*this, RecordType::ThreadStart, ThreadStartRecord{thread, tid, time_ns}, 1, text.size());
  record.append(text);
  record.commit();
}

void MeasurementFile::write_thread_name(uint32_t thread, uint64_t time_ns, const char* name) noexcept {
  const std::string_view text = record_string(name);
  Record record(*this, RecordType::ThreadName, ThreadNameRecord{thread, time_ns}, 1, text.size());
  record.append(text);
  record.commit();
}

void MeasurementFile::write_thread_end(uint32_t thread, uint64_t time_ns, uint64_t cpu_ns) noexcept {
  Record(*this, RecordType::ThreadEnd, ThreadEndRecord{thread, time_ns, cpu_ns}, 0, 0).commit();
}

void MeasurementFile::write_note(const char* text, NoteKind kind) noexcept {
  const std::string_view note = record_string(text);
  Record record(*this, RecordType::Note, NoteRecord{kind}, 1, note.size());
  record.append(note);
  record.commit();
}

void MeasurementFile::write_device(const DeviceRecordInfo& device) noexcept {
  const std::string_view name = record_string(device.name);
  const std::string_view uuid = record_string(device.uuid);
  const std::string_view api = record_string(device.api);
  const std::string_view driver = record_string(device.driver);
  Record record(*this, RecordType::Device, DeviceRecord{device.device, device.track, device.first_use_ns}, 4,
                name.size() + uuid.size() + api.size() + driver.size());
  record.append(name);
  record.append(uuid);
  record.append(api);
  record.append(driver);
  record.commit();
}

void MeasurementFile::write_queue(uint32_t track, uint16_t device, uint64_t time_ns,
                                  const char* name) noexcept {
  const std::string_view text = record_string(name);
  Record record(*this, RecordType::Queue, QueueRecord{track, device, time_ns}, 1, text.size());
  record.append(text);
  record.commit();
}

void MeasurementFile::write_symbol(uint64_t frame, const char* name) noexcept {
  const std::string_view text = record_string(name);
  Record record(*this, RecordType::Symbol, SymbolRecord{frame}, 1, text.size());
  record.append(text);
  record.commit();
}

void MeasurementFile::write_thread_memory(const ThreadMemoryRecord& memory) noexcept {
  Record(*this, RecordType::ThreadMemory, memory, 0, 0).commit();
}

void MeasurementFile::write_object(const ObjectRecord& object) noexcept {
  Record(*this, RecordType::Object, object, 0, 0).commit();
}

void MeasurementFile::write_object_end(uint64_t object, uint64_t time_ns) noexcept {
  Record(*this, RecordType::ObjectEnd, ObjectEndRecord{object, time_ns}, 0, 0).commit();
}

void MeasurementFile::write_written(const WrittenRecord& written) noexcept {
  Record(*this, RecordType::Written, written, 0, 0).commit();
}

void MeasurementFile::write_repair(const RepairRecord& repair) noexcept {
  Record(*this, RecordType::Repair, repair, 0, 0).commit();
}

}  // namespace hpcrun
