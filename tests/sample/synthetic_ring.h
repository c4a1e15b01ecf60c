#pragma once
// Test support: a perf ring buffer in ordinary memory, with records as the kernel writes them for memory
// samples.

#include <linux/perf_event.h>

#include <string>
#include <vector>

#include "hpcrun/sample/memory_ring.h"

namespace prof::test {

class SyntheticRing {
 public:
  explicit SyntheticRing(size_t bytes) : page_(), records_(bytes) {}

  hpcrun::MemoryRing ring() {
    hpcrun::MemoryRing made;
    made.attach(&page_, records_.data(), records_.size());
    return made;
  }

  void add(const hpcrun::MemoryRecord& record) {
    const uint64_t numbers[] = {record.ip,     record.time_ns, record.address,
                                record.period, record.weight,  record.data_source};
    perf_event_header header{};
    header.type = PERF_RECORD_SAMPLE;
    header.misc = static_cast<uint16_t>((record.is_user ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL) |
                                        (record.is_exact ? PERF_RECORD_MISC_EXACT_IP : 0));
    header.size = sizeof header + sizeof numbers;
    put(&header, sizeof header);
    put(numbers, sizeof numbers);
  }

  // Adds another type of record with this size.
  void add_other(uint32_t type, uint16_t bytes) {
    add_damaged(type, bytes);
    const std::vector<char> rest(bytes - sizeof(perf_event_header), '\xa5');
    put(rest.data(), rest.size());
  }

  // Adds only a header, with any size.
  void add_damaged(uint32_t type, uint16_t size) {
    perf_event_header header{};
    header.type = type;
    header.size = size;
    put(&header, sizeof header);
  }

  void set_positions(uint64_t head, uint64_t tail) {
    page_.data_head = head;
    page_.data_tail = tail;
  }
  // Returns its positions (head, tail), followed by its records.
  std::string contents() const {
    const uint64_t positions[] = {page_.data_head, page_.data_tail};
    std::string all(reinterpret_cast<const char*>(positions), sizeof positions);
    return all.append(records_.begin(), records_.end());
  }
  uint64_t left() const { return page_.data_head - page_.data_tail; }

 private:
  void put(const void* from, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
      records_[(page_.data_head + i) % records_.size()] = static_cast<const char*>(from)[i];
    page_.data_head += bytes;
  }

  perf_event_mmap_page page_;
  std::vector<char> records_;
};

}  // namespace prof::test
