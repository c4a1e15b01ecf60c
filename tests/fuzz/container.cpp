// libFuzzer entry: arbitrary bytes as a container. The last byte decides if checksums are made valid.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "hpcrun/measurement/checksum.h"
#include "hpcrun/measurement/container.h"
#include "hpcrun/measurement/container_format.h"
#include "tests/fuzz/input_file.h"

namespace {

// Makes the checksums of headers valid that are at page boundaries and whose names fit.
void forge_checksums(std::vector<uint8_t>& bytes) {
  constexpr size_t kPage = hpcrun::kPageBytes;
  for (size_t at = kPage; at + kPage <= bytes.size(); at += kPage) {
    hpcrun::MemberHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    if (header.name_bytes > hpcrun::kMaxNameBytes) continue;
    header.at = at;
    header.checksum = hpcrun::crc32c(hpcrun::crc32c(0, &header, offsetof(hpcrun::MemberHeader, checksum)),
                                     bytes.data() + at + sizeof header, header.name_bytes);
    std::memcpy(bytes.data() + at, &header, sizeof header);
  }
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const prof::test::InputFile file("node.ranks");
  std::vector<uint8_t> bytes(data, data + size);
  if (!bytes.empty() && (bytes.back() & 1) != 0) forge_checksums(bytes);
  file.fill(bytes.data(), bytes.size());
  prof::ContainerReader reader(file.path());
  reader.read_on();
  reader.read_rest();
  uint64_t end = 0;
  for (const prof::StoredFile& member : reader.members()) {
    require(member.path.parent_path() == file.path(), "a member lies outside of its container");
    require(member.offset > end && member.offset % hpcrun::kPageBytes == 0, "members overlap");
    require(member.bytes <= size && member.offset <= size - member.bytes, "a member reaches beyond the end");
    end = member.offset + member.bytes;
    prof::contents_of(member);
  }
  require(reader.members().empty() || reader.end() >= end, "what is added next overwrites a member");
  return 0;
}
