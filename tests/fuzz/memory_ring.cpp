// libFuzzer entry: arbitrary bytes as a ring of memory samples (positions, then records), and the accesses
// that its records describe in arbitrary code.

#include <linux/perf_event.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "hpcrun/contention/sampled_access.h"

namespace {

struct Input {
  const uint8_t* data;
  size_t size;
};

// The input's bytes serve as the code at any address.
size_t read_code(const void* context, uint64_t address, void* to, size_t bytes) noexcept {
  const Input& input = *static_cast<const Input*>(context);
  const size_t from = address % (input.size + 1);
  const size_t count = std::min(bytes, input.size - from);
  std::memcpy(to, input.data + from, count);
  return count;
}

void check(const hpcrun::MemoryRecord& record, const hpcrun::SampledAccess& decoded) {
  const uint16_t bytes = decoded.access.bytes;
  const auto kind = static_cast<unsigned>(decoded.access.kind);
  const bool is_possible = record.is_user && decoded.access.address == record.address &&
                           record.address != 0 && bytes >= 1 && bytes <= hpcrun::kLineBytes && kind >= 1 &&
                           kind <= 3 && decoded.hardware.period >= 1 &&
                           (decoded.is_exact ? record.is_exact : bytes == 1);
  if (!is_possible) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hpcrun;
  constexpr size_t kPositions = 2 * sizeof(uint64_t);
  if (size <= kPositions) return 0;
  perf_event_mmap_page page{};
  std::memcpy(&page.data_head, data, sizeof(uint64_t));
  std::memcpy(&page.data_tail, data + sizeof(uint64_t), sizeof(uint64_t));
  const std::vector<uint8_t> records(data + kPositions, data + size);
  const Input input{data, size};
  MemoryRing ring;
  ring.attach(&page, records.data(), records.size());
  MemoryRecord record;
  size_t found = 0;
  while (ring.next(record)) {
    if (++found > records.size()) std::abort();
    for (auto event = static_cast<uint8_t>(MemoryEvent::Operations);
         event <= static_cast<uint8_t>(MemoryEvent::Stores); ++event) {
      SampledAccess decoded{};
      if (decode_access(record, static_cast<MemoryEvent>(event), {read_code, &input}, decoded))
        check(record, decoded);
    }
  }
  if (page.data_head != page.data_tail) std::abort();
  return 0;
}
