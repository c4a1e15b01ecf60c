#include "analysis/attribution/go_functions.h"

#include <catch2/catch.hpp>

#include "tests/analysis/attribution/go_table.h"

using namespace prof;
using test::GoTable;

namespace {

constexpr uint64_t kText = 0x401000;

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

TEST_CASE("an address of Go code has the function around it, and the line that is inlined there") {
  const std::string table = test::known_go_table().bytes();
  const auto functions = GoFunctions::read(bytes_of(table), kText);
  REQUIRE(functions);
  struct Expected {
    uint64_t offset;
    const char *name, *file;
    uint32_t line;
  };
  for (const auto& [offset, name, file, line] :
       {Expected{0x40, "main.work", "/src/main.go", 11},
        {0x4f, "main.work", "/src/main.go", 11},
        {0x50, "main.work", "/go/src/strings/strings.go", 300},
        {0x7f, "main.work", "/src/main.go", 12},
        {0x80, "strings.Index", "/go/src/strings/strings.go", 291},
        {0xbf, "strings.Index", "/go/src/strings/strings.go", 291}}) {
    INFO(offset);
    const auto location = functions->find(kText + offset);
    REQUIRE(location);
    CHECK(location->name == name);
    CHECK(location->file == file);
    CHECK(location->line == line);
  }
  const auto location = functions->find(kText + 0x60);
  CHECK(location->start == kText + 0x40);
  CHECK(location->definition_file == "/src/main.go");
  CHECK(location->definition_line == 10);
}

TEST_CASE("addresses outside of Go code have no function") {
  const std::string table = test::known_go_table().bytes();
  const auto functions = GoFunctions::read(bytes_of(table), kText);
  REQUIRE(functions);
  for (const uint64_t address : {uint64_t{0}, kText, kText + 0x3f, kText + 0xc0, UINT64_MAX})
    CHECK(!functions->find(address));
}

TEST_CASE("tables before Go 1.26 say where the code is, those before 1.20 not where functions begin") {
  GoTable table = test::known_go_table();
  CHECK(!GoFunctions::read(bytes_of(table.bytes()), 0));
  table.text = kText;
  table.magic = 0xfffffff0;
  const std::string bytes = table.bytes();
  const auto functions = GoFunctions::read(bytes_of(bytes), 0);
  REQUIRE(functions);
  const auto location = functions->find(kText + 0x80);
  REQUIRE(location);
  CHECK(location->name == "strings.Index");
  CHECK(location->line == 291);
  CHECK(location->definition_line == 0);
}

TEST_CASE("tables of other layouts are left alone") {
  GoTable table = test::known_go_table();
  for (const uint32_t magic : {0u, 0xfffffffau, 0xfffffffbu, 0xf1ffffffu}) {
    table.magic = magic;
    CHECK(!GoFunctions::read(bytes_of(table.bytes()), kText));
  }
}

TEST_CASE("a table that ends early gives less and never another answer") {
  const std::string whole = test::known_go_table().bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string table = whole.substr(0, size);
    const auto functions = GoFunctions::read(bytes_of(table), kText);
    const auto location = functions ? functions->find(kText + 0x60) : std::nullopt;
    if (location) CHECK(location->name == "main.work");
  }
}
