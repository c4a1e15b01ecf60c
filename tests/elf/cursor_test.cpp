#include "hpcrun/elf/cursor.h"

#include <catch2/catch.hpp>
#include <vector>

#include "hpcrun/elf/dwarf.h"
#include "hpcrun/elf/encoded_pointer.h"

using namespace hpcrun;

namespace {

template <typename T>
struct Read {
  T value;
  bool ok;
  size_t left;
};

Read<uint64_t> unsigned_of(const std::vector<uint8_t>& bytes) {
  Cursor cursor({bytes.data(), bytes.size()});
  const uint64_t value = cursor.uleb();
  return {value, cursor.ok, cursor.left()};
}

Read<int64_t> signed_of(const std::vector<uint8_t>& bytes) {
  Cursor cursor({bytes.data(), bytes.size()});
  const int64_t value = cursor.sleb();
  return {value, cursor.ok, cursor.left()};
}

std::vector<uint8_t> groups_and(size_t groups, uint8_t group, uint8_t last) {
  std::vector<uint8_t> bytes(groups, static_cast<uint8_t>(0x80 | group));
  bytes.push_back(last);
  return bytes;
}

}  // namespace

TEST_CASE("unsigned LEB128 numbers are read up to 64 bits") {
  CHECK(unsigned_of({0x02, 0xff}).value == 2);
  CHECK(unsigned_of({0x02, 0xff}).left == 1);
  CHECK(unsigned_of({0xe5, 0x8e, 0x26}).value == 624'485);
  const auto largest = unsigned_of(groups_and(9, 0x7f, 0x01));
  CHECK((largest.ok && largest.value == UINT64_MAX));
}

TEST_CASE("signed LEB128 numbers are read up to 64 bits") {
  CHECK(signed_of({0x7f}).value == -1);
  CHECK(signed_of({0x3f}).value == 63);
  CHECK(signed_of({0x40}).value == -64);
  CHECK(signed_of({0xc0, 0xbb, 0x78}).value == -123'456);
  const auto least = signed_of(groups_and(9, 0, 0x7f));
  CHECK((least.ok && least.value == INT64_MIN));
  const auto largest = signed_of(groups_and(9, 0x7f, 0x00));
  CHECK((largest.ok && largest.value == INT64_MAX));
}

TEST_CASE("LEB128 numbers may be padded, and no more than that") {
  const auto padded = unsigned_of(groups_and(1, 0x05, 0x00));
  CHECK((padded.ok && padded.value == 5));
  const auto long_padded = unsigned_of(groups_and(40, 0, 0));
  CHECK((long_padded.ok && long_padded.value == 0 && long_padded.left == 0));
  const auto minus_one = signed_of(groups_and(40, 0x7f, 0x7f));
  CHECK((minus_one.ok && minus_one.value == -1));
  CHECK_FALSE(unsigned_of(groups_and(9, 0x7f, 0x02)).ok);
  CHECK_FALSE(unsigned_of(groups_and(12, 0, 0x01)).ok);
  CHECK_FALSE(signed_of(groups_and(9, 0, 0x01)).ok);
  CHECK_FALSE(signed_of(groups_and(12, 0, 0x7f)).ok);
}

TEST_CASE("what ends too early fails and reads as zero") {
  CHECK_FALSE(unsigned_of({}).ok);
  CHECK_FALSE(unsigned_of({0x80}).ok);
  CHECK_FALSE(signed_of({0xff, 0xff}).ok);
  const uint8_t bytes[] = {1, 2, 3};
  Cursor cursor({bytes, sizeof bytes});
  CHECK(cursor.fixed<uint32_t>() == 0);
  CHECK_FALSE(cursor.ok);
  CHECK(cursor.left() == 0);
  CHECK(cursor.u8() == 0);
  Cursor block({bytes, sizeof bytes});
  CHECK(block.block(UINT64_MAX).size == 0);
  CHECK_FALSE(block.ok);
  Cursor text({bytes, sizeof bytes});
  CHECK(std::string_view(text.string()).empty());
  CHECK_FALSE(text.ok);
}

TEST_CASE("a string ends at its zero") {
  const uint8_t bytes[] = {'z', 'R', 0, 7};
  Cursor cursor({bytes, sizeof bytes});
  CHECK(std::string_view(cursor.string()) == "zR");
  CHECK(cursor.u8() == 7);
  CHECK(cursor.ok);
}

TEST_CASE("numbers of pointer formats are extended by their signs") {
  const uint8_t bytes[] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  const auto read = [&](uint8_t encoding, size_t size) {
    Cursor cursor({bytes, size});
    uint64_t value = 0;
    return read_encoded(cursor, encoding, value) ? value : 1;
  };
  CHECK(read(kPointerU2, 2) == 0xfffe);
  CHECK(read(kPointerS2, 2) == UINT64_MAX - 1);
  CHECK(read(kPointerU4, 4) == 0xfffffffe);
  CHECK(read(kPointerS4 | kPointerPcRelative, 4) == UINT64_MAX - 1);
  CHECK(read(kPointerAbsolute, 8) == UINT64_MAX - 1);
  CHECK(read(kPointerS8, 7) == 1);  // cut short
  CHECK(read(0x05, 8) == 1);        // no such format
}
