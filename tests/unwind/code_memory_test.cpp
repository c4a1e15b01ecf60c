// Code bytes as a walk reads them: by blocks, each once.

#include "hpcrun/unwind/code_memory.h"

#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <memory>

using hpcrun::CodeMemory;

namespace {

constexpr size_t kPage = 4096;

// A readable page, followed by one that is not.
struct Pages {
  Pages() {
    at = static_cast<unsigned char*>(
        mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(at != MAP_FAILED);
    for (size_t i = 0; i < kPage; ++i) at[i] = static_cast<unsigned char>(i * 7 % 251);
    mprotect(at + kPage, kPage, PROT_NONE);
  }
  ~Pages() { munmap(at, 2 * kPage); }
  uint64_t address(size_t offset) const { return reinterpret_cast<uint64_t>(at + offset); }
  unsigned char* at;
};

}  // namespace

TEST_CASE("code that a walk comes by again is read once") {
  const Pages pages;
  const auto code = std::make_unique<CodeMemory>();
  code->begin();
  unsigned char bytes[8];
  for (int frame = 0; frame < 1000; ++frame) {
    for (size_t at = 40; at < 60; ++at) {
      REQUIRE(code->read(pages.address(at), bytes, sizeof bytes));
      REQUIRE(std::memcmp(bytes, pages.at + at, sizeof bytes) == 0);
    }
  }
  CHECK(code->reads() == 1);
}

TEST_CASE("bytes in two blocks are read whole, and none where one of them cannot be read") {
  const Pages pages;
  const auto code = std::make_unique<CodeMemory>();
  code->begin();
  unsigned char bytes[8];
  REQUIRE(code->read(pages.address(252), bytes, sizeof bytes));
  CHECK(std::memcmp(bytes, pages.at + 252, sizeof bytes) == 0);
  CHECK(code->read(pages.address(kPage - 8), bytes, 8));
  CHECK_FALSE(code->read(pages.address(kPage - 7), bytes, 8));
  CHECK_FALSE(code->read(~uint64_t{0} - 3, bytes, 8));
}

TEST_CASE("the next walk reads anew") {
  const Pages pages;
  const auto code = std::make_unique<CodeMemory>();
  unsigned char byte = 0;
  for (const unsigned char written : {uint8_t{1}, uint8_t{2}}) {
    pages.at[100] = written;
    code->begin();
    REQUIRE(code->read(pages.address(100), &byte, 1));
    CHECK(byte == written);
    CHECK(code->reads() == 1);
  }
}
