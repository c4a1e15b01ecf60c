// The records themselves are tested with the machine that runs them (tests/unwind/cfi_test.cpp).

#include "hpcrun/elf/frame_records.h"

#include <catch2/catch.hpp>

#include "hpcrun/elf/frame_index.h"
#include "tests/elf/small_file.h"

using namespace hpcrun;
using prof::test::append;

namespace {

std::string an_index(uint8_t frame, uint8_t count, uint8_t entry,
                     std::initializer_list<FrameIndexEntry> entries) {
  std::string bytes{1, static_cast<char>(frame), static_cast<char>(count), static_cast<char>(entry)};
  append(bytes, int32_t{-100});
  append(bytes, static_cast<uint32_t>(entries.size()));
  for (const FrameIndexEntry& one : entries) append(bytes, one);
  return bytes;
}

Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

constexpr uint8_t kRelative4 = kPointerPcRelative | kPointerS4, kSorted = kPointerDataRelative | kPointerS4;

}  // namespace

TEST_CASE("functions are found in the linker's index") {
  const std::string bytes = an_index(kRelative4, kPointerU4, kSorted, {{-500, 1}, {-400, 2}, {300, 3}});
  FrameIndex index;
  REQUIRE(read_frame_index(bytes_of(bytes), index));
  CHECK(index.head_bytes == FrameIndex::kUsualHeadBytes);
  CHECK(index.count == 3);
  const BytesSource source{std::string_view(bytes)};
  const auto record_at = [&](int64_t offset) {
    FrameIndexEntry found;
    return find_frame_entry(source, 0, index, offset, found) ? found.record : 0;
  };
  CHECK(record_at(-501) == 0);
  CHECK(record_at(-500) == 1);
  CHECK(record_at(-401) == 1);
  CHECK(record_at(-400) == 2);
  CHECK(record_at(299) == 2);
  CHECK(record_at(int64_t{1} << 40) == 3);
  index.count = 1'000;  // more than there are
  CHECK(record_at(INT64_MAX) == 0);
}

TEST_CASE("the index may have no frame pointer and no entries") {
  std::string bytes = an_index(kPointerOmitted, kPointerU4, kSorted, {});
  bytes.erase(4, 4);
  FrameIndex index;
  REQUIRE(read_frame_index(bytes_of(bytes), index));
  CHECK(index.count == 0);
  FrameIndexEntry found;
  CHECK_FALSE(find_frame_entry(BytesSource(std::string_view(bytes)), 0, index, 0, found));
}

TEST_CASE("an index of another kind, or cut short, is refused") {
  FrameIndex index;
  const std::string usual = an_index(kRelative4, kPointerU4, kSorted, {});
  REQUIRE(read_frame_index(bytes_of(usual), index));
  for (size_t bytes = 0; bytes < usual.size(); ++bytes)
    CHECK_FALSE(read_frame_index(bytes_of(usual.substr(0, bytes)), index));
  CHECK_FALSE(read_frame_index(bytes_of(an_index(kRelative4, kPointerU4, kPointerS8, {})), index));
  CHECK_FALSE(read_frame_index(bytes_of(an_index(kRelative4, kPointerOmitted, kSorted, {})), index));
  CHECK_FALSE(read_frame_index(bytes_of(an_index(kRelative4, kRelative4, kSorted, {})), index));
  std::string version = usual;
  version[0] = 2;
  CHECK_FALSE(read_frame_index(bytes_of(version), index));
}

TEST_CASE("records that say they are longer than their section are malformed") {
  std::string bytes;
  append(bytes, uint32_t{8});
  append(bytes, uint64_t{0});
  const auto kind = [&](uint64_t offset) {
    return split_record({bytes_of(bytes), 0, 0, false}, offset).kind;
  };
  CHECK(kind(0) == CfiRecordKind::Cie);
  CHECK(kind(bytes.size()) == CfiRecordKind::End);
  CHECK(kind(UINT64_MAX) == CfiRecordKind::End);
  bytes[0] = 9;
  CHECK(kind(0) == CfiRecordKind::Malformed);
  bytes.assign(4, '\xff');  // a 64-bit length follows
  append(bytes, UINT64_MAX);
  CHECK(kind(0) == CfiRecordKind::Malformed);
}
