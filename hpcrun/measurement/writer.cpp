#include "hpcrun/measurement/writer.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <string_view>

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/measurement/checksum.h"

namespace hpcrun {
namespace {

constexpr size_t round_to_pages(size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

constexpr size_t kFirstRecordExtentBytes = MeasurementFile::kFirstRecordExtentBytes;

// Longer command lines and environments are cut, to keep the header at a few pages.
constexpr size_t kMaxHeaderString = 16 * 1024;

std::string_view header_string(const char* text) {
  return text == nullptr ? std::string_view{} : std::string_view{text, strnlen(text, kMaxHeaderString)};
}

}  // namespace

void* MeasurementFile::map_at(int64_t offset, size_t bytes) noexcept {
  void* at = space_.map(offset, bytes);
  if (at != nullptr) bytes_mapped_.fetch_add(bytes, std::memory_order_relaxed);
  return at;
}

int MeasurementFile::create(const char* path, const ProcessInfo& process) noexcept {
  detect_crc32c();
  if (const int error = space_.create(path); error != 0) return error;

  const std::string_view strings[] = {header_string(process.command), header_string(process.executable),
                                      header_string(process.host), header_string(process.environment)};
  size_t strings_bytes = 0;
  for (const std::string_view text : strings) strings_bytes += sizeof(uint32_t) + text.size();
  const size_t header_bytes = round_to_pages(kStringsOffset + strings_bytes);

  const int64_t offset = space_.take(header_bytes);
  char* mapped = offset == 0 ? static_cast<char*>(map_at(offset, header_bytes)) : nullptr;
  if (mapped == nullptr) return failure() != 0 ? failure() : ENOMEM;

  char* at = mapped + kStringsOffset;
  for (const std::string_view text : strings) {
    const auto length = static_cast<uint32_t>(text.size());
    std::memcpy(at, &length, sizeof length);
    std::memcpy(at + sizeof length, text.data(), length);
    at += sizeof length + length;
  }

  FileHeader header{};
  std::memcpy(header.magic, kFileMagic, sizeof header.magic);
  header.major = kFormatMajor;
  header.minor = kFormatMinor;
  header.byte_order = kByteOrderMark;
  header.page_bytes = kPageBytes;
  header.header_bytes = static_cast<uint32_t>(header_bytes);
  header.extent_header_bytes = sizeof(ExtentHeader);
  header.node_bytes = sizeof(NodeRecord);
  header.cell_bytes = sizeof(ValueCell);
  header.record_header_bytes = sizeof(RecordHeader);
  header.trace_quantum_ns = kTraceQuantumNs;
  header.counters_offset = kCountersOffset;
  header.counter_slots = kCounterSlots;
  header.stack_reason_slots = kStackReasonSlots;
  header.stack_reasons_offset = kStackReasonsOffset;
  header.strings_offset = kStringsOffset;
  header.strings_bytes = static_cast<uint32_t>(strings_bytes);
  header.pid = process.pid;
  header.parent_pid = process.parent_pid;
  header.rank = process.rank;
  header.start_realtime_ns = process.start_realtime_ns;
  header.start_monotonic_ns = process.start_monotonic_ns;
  header.strings_checksum = crc32c(0, mapped + kStringsOffset, strings_bytes);
  header.checksum = crc32c(0, &header, offsetof(FileHeader, checksum));
  std::memcpy(mapped, &header, sizeof header);

  header_ = mapped;
  header_bytes_ = header_bytes;
  counters_ = reinterpret_cast<std::atomic<uint64_t>*>(mapped + kCountersOffset);
  stack_reasons_ = reinterpret_cast<std::atomic<uint64_t>*>(mapped + kStackReasonsOffset);
  return 0;
}

void MeasurementFile::begin_extent(void* memory, StreamKind kind, uint32_t thread, StreamPosition position,
                                   size_t bytes) noexcept {
  auto* header = new (memory) ExtentHeader{};
  header->version = kExtentVersion;
  header->kind = kind;
  header->thread = thread;
  header->sequence = position.sequence;
  header->pages = static_cast<uint32_t>(bytes / kPageBytes);
  header->first = position.first;
  header->magic = kExtentMagic;
  header->header_checksum = crc32c(0, header, kExtentImmutableBytes);
}

// If there is no memory, the first record takes an extent of the file.
void MeasurementFile::keep_records() noexcept {
  assert(descriptor() >= 0 && records_.load(std::memory_order_relaxed) == nullptr);
  void* const memory =
      sys_mmap(nullptr, kFirstRecordExtentBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  begin_extent(memory, StreamKind::Process, 0, {}, kFirstRecordExtentBytes);
  record_extents_.store(1, std::memory_order_relaxed);
  kept_records_.store(static_cast<ExtentHeader*>(memory), std::memory_order_relaxed);
  records_.store(static_cast<ExtentHeader*>(memory), std::memory_order_release);
}

void MeasurementFile::clear_kept_records() noexcept {
  ExtentHeader* const kept = kept_records_.exchange(nullptr);
  if (kept == nullptr) return;
  records_.store(nullptr, std::memory_order_relaxed);
  record_extents_.store(0, std::memory_order_relaxed);
  sys_munmap(kept, kFirstRecordExtentBytes);
}

// The extent keeps its address: a record that was interrupted while being written is finished in the file.
void MeasurementFile::write_records() noexcept {
  ExtentHeader* const kept = kept_records_.exchange(nullptr);
  if (kept == nullptr) return;
  const int64_t offset = space_.take(kFirstRecordExtentBytes);
  void* const mapped = offset < 0 ? nullptr : map_at(offset, kFirstRecordExtentBytes);
  if (mapped == nullptr) return;
  std::memcpy(mapped, static_cast<const void*>(kept), kFirstRecordExtentBytes);
  raw_syscall(SYS_mremap, reinterpret_cast<long>(mapped), kFirstRecordExtentBytes, kFirstRecordExtentBytes,
              MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<long>(kept));
  sys_madvise(kept, kFirstRecordExtentBytes, MADV_DONTFORK);
}

bool MeasurementFile::take(StreamKind kind, uint32_t thread, StreamPosition position, size_t bytes,
                           MappedExtent& out) noexcept {
  write_records();
  bytes = round_to_pages(bytes);
  const int64_t offset = space_.take(bytes);
  if (offset < 0) return false;
  void* mapped = map_at(offset, bytes);
  if (mapped == nullptr) return false;
  // A forked child must not be able to write to its parent's file: it gets no copy, or calls detach().
  if (!space_.is_ahead(mapped)) sys_madvise(mapped, bytes, MADV_DONTFORK);

  begin_extent(mapped, kind, thread, position, bytes);
  out.header = static_cast<ExtentHeader*>(mapped);
  out.capacity = bytes - sizeof(ExtentHeader);
  return true;
}

void MeasurementFile::seal_and_unmap(MappedExtent& extent) noexcept {
  if (extent.header == nullptr) return;
  const uint32_t length = extent.header->length.load(std::memory_order_relaxed);
  extent.header->payload_checksum = crc32c(crc32c(0, &length, sizeof length), extent.data(), length);
  extent.header->sealed.store(kSealed, std::memory_order_release);
  unmap(extent);
}

void MeasurementFile::unmap(MappedExtent& extent) noexcept {
  if (extent.header == nullptr) return;
  const size_t bytes = extent.capacity + sizeof(ExtentHeader);
  space_.unmap(extent.header, bytes);
  bytes_mapped_.fetch_sub(bytes, std::memory_order_relaxed);
  extent = MappedExtent{};
}

void MeasurementFile::finish(uint64_t end_monotonic_ns) noexcept {
  if (!space_.owned()) return;
  counter(Counter::EndMonotonicNs).store(end_monotonic_ns, std::memory_order_relaxed);
  counter(Counter::FileBytes).store(space_.close_and_trim(), std::memory_order_relaxed);
}

void MeasurementFile::detach() noexcept {
  counters_ = unrecorded_;
  stack_reasons_ = unrecorded_ + kCounterSlots;
  for (std::atomic<uint64_t>& slot : unrecorded_) slot.store(0, std::memory_order_relaxed);
  if (header_ != nullptr) sys_munmap(header_, header_bytes_);
  clear_kept_records();
  header_ = nullptr;
  header_bytes_ = 0;
  records_.store(nullptr, std::memory_order_relaxed);
  record_extents_.store(0, std::memory_order_relaxed);
  bytes_mapped_.store(0, std::memory_order_relaxed);
  space_.detach();
}

}  // namespace hpcrun
