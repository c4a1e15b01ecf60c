// Functions, lines and inlined calls from debug information, wherever it is stored.

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/analysis/attribution/elf_probe.h"
#include "tests/analysis/attribution/scratch_directory.h"

namespace {

namespace fs = std::filesystem;
using prof::AttributedFrame;
using prof::AttributedModule;

const fs::path kSource = FIXTURE_SOURCE;
const fs::path kFixtures = FIXTURE_FOLDER;
const fs::path kPlain = kFixtures / "libfixture.so";

void run(const std::string& command) {
  INFO(command);
  REQUIRE(std::system(command.c_str()) == 0);
}

// Returns "function@line" of each frame, outermost first; "~" precedes an inlined function.
std::string describe(const AttributedModule& module, size_t address) {
  std::string text;
  for (const AttributedFrame& frame : module.chain(address)) {
    text += fmt::format("{}{}{}@{}", text.empty() ? "" : " ", frame.inlined ? "~" : "",
                        module.functions[frame.function].name, frame.line);
  }
  return text;
}

bool has_chain(const AttributedModule& module, const std::string& wanted) {
  for (size_t i = 0; i + 1 < module.first.size(); ++i) {
    if (describe(module, i) == wanted) return true;
  }
  return false;
}

// Checks what the fixture's source defines for fixture::work, at every address of its code.
void check_work(const fs::path& module, Extent extent, const prof::AttributionOptions& options = {}) {
  INFO(module);
  const AttributedModule result =
      prof::attribute_module({module.string(), build_id(module)}, addresses_of(extent), options);
  CHECK(result.warnings.empty());

  CHECK(has_chain(result, fmt::format("fixture::work(unsigned long)@{}", marked_line(kSource, "work body"))));
  CHECK(has_chain(
      result, fmt::format("fixture::work(unsigned long)@{} ~fixture::twice@{} "
                          "~fixture::Multiplier::apply(unsigned long) const@{}",
                          marked_line(kSource, "work calls twice"), marked_line(kSource, "twice calls apply"),
                          marked_line(kSource, "apply body"))));

  for (size_t i = 0; i + 1 < result.first.size(); ++i) {
    const AttributedFrame& outermost = result.chain(i).front();
    const prof::AttributedFunction& function = result.functions[outermost.function];
    REQUIRE(function.name == "fixture::work(unsigned long)");
    CHECK(function.offset == extent.start);
    CHECK(function.line == marked_line(kSource, "work"));
    REQUIRE(function.file != prof::kNoFile);
    CHECK(result.files[function.file] == kSource.string());
    for (const AttributedFrame& frame : result.chain(i)) CHECK(result.files[frame.file] == kSource.string());
  }
}

struct Stripped {
  fs::path module;
  fs::path debug;
};

// The fixture in `folder` without symbols and debug information, and a separate file with them.
Stripped strip_into(const fs::path& folder) {
  const Stripped out{folder / "libstripped.so", folder / "libstripped.so.debug"};
  run(fmt::format("objcopy --only-keep-debug {} {}", kPlain.string(), out.debug.string()));
  run(fmt::format("objcopy --strip-all {} {}", kPlain.string(), out.module.string()));
  return out;
}

std::string build_id_digits(const fs::path& file) {
  std::string digits;
  for (const uint8_t byte : build_id(file)) digits += fmt::format("{:02x}", byte);
  return digits;
}

}  // namespace

TEST_CASE("inlined calls, lines and definitions are found in each form of debug information") {
  for (const char* name : {"libfixture.so", "libfixture_dwarf4.so", "libfixture_split.so",
                           "libfixture_packed.so", "libfixture_relative.so"}) {
    check_work(kFixtures / name, function_extent(kFixtures / name, "fixture4workEm"));
  }
}

TEST_CASE("debug information and symbols that are compressed by zstd are read") {
  const ScratchDirectory scratch;
  const Extent work = function_extent(kPlain, "fixture4workEm");
  const fs::path debug = scratch.path() / "libdebug.so", all = scratch.path() / "liball.so";
  compress_by_zstd(kPlain, debug, {".debug_"});
  check_work(debug, work);
  compress_by_zstd(kPlain, all, {".debug_", ".symtab", ".strtab"});
  check_work(all, work);
  const AttributedModule named = prof::attribute_module(
      {all.string(), build_id(kPlain)}, addresses_of(function_extent(kPlain, "exported_entry")));
  CHECK(named.warnings.empty());
  REQUIRE(!named.functions.empty());
  CHECK(named.functions[0].name == "exported_entry");
}

TEST_CASE("a function that is inlined everywhere has no start") {
  const AttributedModule result = prof::attribute_module(
      {kPlain.string(), build_id(kPlain)}, addresses_of(function_extent(kPlain, "fixture4workEm")));
  for (const prof::AttributedFunction& function : result.functions) {
    if (function.name == "fixture::twice") {
      CHECK(function.offset == 0);
      return;
    }
  }
  FAIL("fixture::twice was not found");
}

TEST_CASE("a lambda is named by the function that it stands in") {
  const AttributedModule result = prof::attribute_module(
      {kPlain.string(), build_id(kPlain)}, addresses_of(function_extent(kPlain, "lambda_hostE")));
  REQUIRE_FALSE(result.functions.empty());
  CHECK(result.functions[0].name == "lambda_host::{lambda}::operator()");
}

TEST_CASE("a separate debug file is found by its link beside the module and in .debug") {
  const Extent work = function_extent(kPlain, "fixture4workEm");
  const prof::AttributionOptions nowhere_else{.debug_roots = {}};
  for (const bool hidden : {false, true}) {
    const ScratchDirectory scratch;
    const Stripped stripped = strip_into(scratch.path());
    run(fmt::format("cd {} && objcopy --add-gnu-debuglink={} {}", scratch.path().string(),
                    stripped.debug.filename().string(), stripped.module.string()));
    if (hidden) {
      fs::create_directory(scratch.path() / ".debug");
      fs::rename(stripped.debug, scratch.path() / ".debug" / stripped.debug.filename());
    }
    check_work(stripped.module, work, nowhere_else);
  }
}

TEST_CASE("a separate debug file is found by build-id") {
  const ScratchDirectory scratch;
  const Stripped stripped = strip_into(scratch.path());
  const std::string digits = build_id_digits(kPlain);
  const fs::path folder = scratch.path() / "root" / ".build-id" / digits.substr(0, 2);
  fs::create_directories(folder);
  fs::rename(stripped.debug, folder / (digits.substr(2) + ".debug"));
  check_work(stripped.module, function_extent(kPlain, "fixture4workEm"),
             {.debug_roots = {scratch.path() / "root"}});
}

TEST_CASE("a debug file of another build is not used") {
  const ScratchDirectory scratch;
  const Stripped stripped = strip_into(scratch.path());
  run(fmt::format("objcopy --only-keep-debug {} {}", (kFixtures / "libfixture_dwarf4.so").string(),
                  stripped.debug.string()));
  run(fmt::format("cd {} && objcopy --add-gnu-debuglink={} {}", scratch.path().string(),
                  stripped.debug.filename().string(), stripped.module.string()));
  const Extent work = function_extent(kPlain, "fixture4workEm");
  const AttributedModule result = prof::attribute_module({stripped.module.string(), build_id(kPlain)},
                                                         addresses_of(work), {.debug_roots = {}});
  CHECK(describe(result, 0) == fmt::format("libstripped.so+{:#x}@0", work.start));
}
