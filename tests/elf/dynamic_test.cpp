#include "hpcrun/elf/dynamic.h"

#include <catch2/catch.hpp>

#include "tests/elf/small_file.h"

using namespace hpcrun;
using prof::test::append;

namespace {

std::string entries(std::initializer_list<std::pair<int64_t, uint64_t>> pairs) {
  std::string bytes;
  for (const auto& [tag, value] : pairs) append(bytes, Elf64_Dyn{tag, {value}});
  return bytes;
}

// Four symbols of which the last two are in the table, in one bucket.
std::string gnu_hash() {
  std::string bytes(8, '\0');
  for (const uint32_t word : {1u, 2u, 1u, 6u}) append(bytes, word);
  append(bytes, uint64_t{0});  // the filter
  for (const uint32_t word : {2u, 0x1000u, 0x2001u}) append(bytes, word);
  return bytes;
}

}  // namespace

TEST_CASE("the dynamic section is read up to its end mark") {
  const std::string bytes = entries({{DT_SYMTAB, 1},
                                     {DT_STRTAB, 2},
                                     {DT_STRSZ, 3},
                                     {DT_GNU_HASH, 4},
                                     {DT_JMPREL, 5},
                                     {DT_PLTRELSZ, 6},
                                     {DT_RELA, 7},
                                     {DT_RELASZ, 8},
                                     {DT_NULL, 0},
                                     {DT_HASH, 9}});
  const DynamicTables tables = read_dynamic(BytesSource(std::string_view(bytes)), 0, bytes.size());
  CHECK(tables.symbols == 1);
  CHECK(tables.strings == 2);
  CHECK(tables.string_bytes == 3);
  CHECK(tables.gnu_hash == 4);
  CHECK(tables.plt_relocations == 5);
  CHECK(tables.plt_relocation_bytes == 6);
  CHECK(tables.relocations == 7);
  CHECK(tables.relocation_bytes == 8);
  CHECK(tables.hash == 0);
}

TEST_CASE("a dynamic section that is cut yields its first entries") {
  const std::string bytes = entries({{DT_SYMTAB, 1}, {DT_STRTAB, 2}});
  const BytesSource source{std::string_view(bytes)};
  CHECK(read_dynamic(source, 0, bytes.size()).strings == 2);
  CHECK(read_dynamic(source, 0, bytes.size() - 1).strings == 0);
  CHECK(read_dynamic(source, 0, UINT64_MAX).strings == 2);
  CHECK(read_dynamic(source, UINT64_MAX - 3, 64).symbols == 0);
}

TEST_CASE("symbols are counted by either hash table") {
  const std::string bytes = gnu_hash();
  const BytesSource source{std::string_view(bytes)};
  CHECK(count_symbols(source, 0, 8) == 4);
  CHECK(count_symbols(source, 0, 0) == 0);
  CHECK(count_symbols(source, 0, bytes.size()) == 0);
  std::string endless = bytes;
  endless[endless.size() - 4] = 0;  // no chain ends
  CHECK(count_symbols(BytesSource(std::string_view(endless)), 0, 8) == 0);
  std::string classic(4, '\0');
  for (const uint32_t word : {1u, 7u}) append(classic, word);
  CHECK(count_symbols(BytesSource(std::string_view(classic)), 4, 0) == 7);
  CHECK(count_symbols(BytesSource(std::string_view(classic)), 8, 0) == 0);
}
