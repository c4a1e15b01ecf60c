#include "analysis/import/perf/address_space.h"

namespace prof::perf {

void AddressSpace::map(uint64_t start, uint64_t bytes, uint64_t file_offset, uint32_t file) {
  if (bytes == 0 || start + bytes - 1 < start) return;
  if (parts_.use_count() > 1) parts_ = std::make_shared<std::map<uint64_t, MappedPart>>(*parts_);
  std::map<uint64_t, MappedPart>& parts = *parts_;
  const uint64_t last = start + bytes - 1;
  auto at = parts.upper_bound(start);
  if (at != parts.begin() && std::prev(at)->second.last >= start) --at;
  while (at != parts.end() && at->first <= last) {
    const uint64_t old_start = at->first;
    const MappedPart old = at->second;
    at = parts.erase(at);
    ++replaced_;
    if (old_start < start) parts[old_start] = {start - 1, old.file_offset, old.file};
    if (old.last > last) parts[last + 1] = {old.last, old.file_offset + (last + 1 - old_start), old.file};
  }
  parts[start] = {last, file_offset, file};
}

bool AddressSpace::find(uint64_t address, Found& found) const {
  auto at = parts_->upper_bound(address);
  if (at == parts_->begin()) return false;
  --at;
  if (address > at->second.last) return false;
  found = {at->second.file, address - at->first + at->second.file_offset};
  return true;
}

}  // namespace prof::perf
