#include "repair/isolate/atomics/atomic_code.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace hpcrun;

namespace {

AtomicCode of(const std::vector<uint8_t>& code) {
  return find_atomic_code(code.data(), code.size(), 0x1000);
}

struct Text {
  const uint8_t* code = nullptr;
  size_t bytes = 0;
  uint64_t address = 0;  // in the file
};

// Returns the .text of a library of this process, as in its file.
Text text_of(const std::string& path, uint64_t bias) {
  std::FILE* const headers = popen(("objdump -h " + path + " 2>/dev/null").c_str(), "r");
  REQUIRE(headers);
  Text text;
  char line[512];
  while (std::fgets(line, sizeof line, headers)) {
    std::istringstream words(line);
    std::string number, name, size, address;
    if (words >> number >> name >> size >> address && name == ".text") {
      text.bytes = std::stoull(size, nullptr, 16);
      text.address = std::stoull(address, nullptr, 16);
      text.code = reinterpret_cast<const uint8_t*>(bias + text.address);
    }
  }
  pclose(headers);
  return text;
}

// Returns the atomic instructions as objdump prints them: "  addr:\tlock xadd %eax,(%rdi)" and "  addr:\txchg
// %eax,(%rdx)".
std::set<uint64_t> atomic_by_objdump(const std::string& path) {
  std::FILE* const disassembly =
      popen(("objdump -d --no-show-raw-insn -j .text " + path + " 2>/dev/null").c_str(), "r");
  REQUIRE(disassembly);
  std::set<uint64_t> addresses;
  char line[512];
  while (std::fgets(line, sizeof line, disassembly)) {
    const char* const tab = std::strchr(line, '\t');
    if (!tab) continue;
    const std::string text = tab + 1;
    const bool locks = text.find("lock ") != std::string::npos;
    const bool exchanges = text.rfind("xchg ", 0) == 0 && text.find_first_of("(:") != std::string::npos;
    if (locks || exchanges) addresses.insert(std::stoull(line, nullptr, 16));
  }
  pclose(disassembly);
  return addresses;
}

}  // namespace

TEST_CASE("Locked instructions and exchanges are atomic code, others are not") {
  CHECK(of({0xf0, 0x0f, 0xc1, 0x07}).count == 1);        // lock xadd %eax,(%rdi)
  CHECK(of({0x90, 0xf0, 0xff, 0x07}).first == 0x1001);   // nop; lock incl (%rdi)
  CHECK(of({0x87, 0x02}).count == 1);                    // xchg %eax,(%rdx)
  CHECK(of({0x87, 0xc2}).count == 0);                    // xchg %eax,%edx
  CHECK(of({0xff, 0x07}).count == 0);                    // incl (%rdi)
  CHECK(of({0xb8, 0xf0, 0xff, 0x07, 0x00}).count == 0);  // mov $0x7fff0,%eax: within another one
  CHECK(of({0xf0}).undecodable == 1);                    // the end of the code
  CHECK(of({}).count == 0);
}

TEST_CASE("In a library all are found that a disassembler finds, and no others") {
  // A library with many, written by compilers and by hand.
  Dl_info library{};
  const auto symbol = reinterpret_cast<const void*>(&std::fopen);
  REQUIRE(dladdr(symbol, &library) != 0);
  const std::string path = library.dli_fname;
  const Text text = text_of(path, reinterpret_cast<uint64_t>(library.dli_fbase));
  if (!text.code) {
    WARN("skipped: objdump is not here");
    return;
  }
  const std::set<uint64_t> expected = atomic_by_objdump(path);
  std::set<uint64_t> seen;
  const AtomicCode all = find_atomic_code(
      text.code, text.bytes, text.address,
      [](uint64_t address, void* set) { static_cast<std::set<uint64_t>*>(set)->insert(address); }, &seen);
  CHECK(expected.size() > 100);
  std::vector<uint64_t> differ;
  std::ranges::set_symmetric_difference(seen, expected, std::back_inserter(differ));
  CAPTURE(differ);
  CHECK(differ.empty());
  CHECK(all.count == seen.size());
  CHECK(all.first == *seen.begin());
}
