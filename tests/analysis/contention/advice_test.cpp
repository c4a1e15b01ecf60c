// Findings become changes of the source.

#include "analysis/contention/advice.h"

#include <catch2/catch.hpp>

using namespace prof;
using hpcrun::AccessKind;
using hpcrun::Sharing;

namespace {

NamedSide side(uint32_t thread, uint32_t object, uint64_t offset, AccessKind kind, NamedPart part,
               uint64_t accesses = 100) {
  NamedSide out;
  out.side.thread = thread;
  out.side.object = object;
  out.side.offset = offset;
  out.side.bytes = 8;
  out.side.kind = kind;
  out.side.accesses = accesses;
  out.part = std::move(part);
  return out;
}

bool says(const Advice& advice, const char* text) {
  INFO(advice.text);
  return advice.text.find(text) != std::string::npos;
}

constexpr AccessKind kBoth = AccessKind::ReadWrite;

}  // namespace

TEST_CASE("elements of an array are padded by their type") {
  const Advice advice = advise(Sharing::False,
                               {side(1, 0, 0, kBoth, {"stats", "[0].hits", "long", "s.h:3", 8}),
                                side(2, 0, 24, kBoth, {"stats", "[1].hits", "long", "s.h:3", 8})},
                               ObjectKind::Static);
  CHECK(advice.remedy == Remedy::PadElements);
  CHECK(says(advice, "each element of stats on its own cache lines: alignas(64)"));
}

TEST_CASE("of arrays in arrays those elements are padded that threads own") {
  const Advice advice = advise(Sharing::False,
                               {side(1, 0, 0, kBoth, {"grid", ".rows[2].cells[0]", "int", "", 4}),
                                side(2, 0, 24, kBoth, {"grid", ".rows[2].cells[1]", "int", "", 4})},
                               ObjectKind::Static);
  CHECK(advice.remedy == Remedy::PadElements);
  CHECK(says(advice, "grid.rows[2].cells on its own cache lines"));
}

TEST_CASE("fields of one object are moved apart") {
  const Advice advice = advise(Sharing::False,
                               {side(1, 0, 0, kBoth, {"pool", ".head", "long", "pool.h:7", 8}),
                                side(2, 0, 8, kBoth, {"pool", ".tail", "long", "pool.h:8", 8})},
                               ObjectKind::Static);
  CHECK(advice.remedy == Remedy::SeparateFields);
  CHECK(says(advice, "alignas(64) before head (pool.h:7) and before tail (pool.h:8)"));
}

TEST_CASE("what is only read is kept off the line of what is written") {
  const Advice advice = advise(Sharing::False,
                               {side(1, 0, 0, AccessKind::Read, {"job", ".stop", "bool", "job.h:4", 1}),
                                side(2, 0, 8, kBoth, {"job", ".done", "long", "job.h:5", 8}),
                                side(3, 0, 8, AccessKind::Read, {"job", ".done", "long", "job.h:5", 8}, 10)},
                               ObjectKind::Static);
  CHECK(advice.remedy == Remedy::SeparateFields);
  CHECK(says(advice,
             "Keep job.stop, which is only read, off the line of job.done: put alignas(64) before job.done "
             "(job.h:5)"));
}

TEST_CASE("objects of their own get lines of their own") {
  const std::vector<NamedSide> sides{side(1, 0, 0, kBoth, {"hits", "", "long", "a.c:1", 8}),
                                     side(2, 1, 0, kBoth, {"misses", "", "long", "a.c:2", 8})};
  const Advice variables = advise(Sharing::False, sides, ObjectKind::Static);
  CHECK(variables.remedy == Remedy::AlignObjects);
  CHECK(says(variables, "alignas(64) before hits (a.c:1) and before misses (a.c:2)"));
  const Advice allocations = advise(Sharing::False, sides, ObjectKind::Heap);
  CHECK(allocations.remedy == Remedy::AlignObjects);
  CHECK(says(allocations, "aligned_alloc(64"));
}

TEST_CASE("no layout helps where threads use the same bytes") {
  const std::vector<NamedSide> sides{side(1, 0, 0, kBoth, {"total", "", "long", "", 8}),
                                     side(2, 0, 0, kBoth, {"total", "", "long", "", 8})};
  const Advice advice = advise(Sharing::True, sides, ObjectKind::Static);
  CHECK(advice.remedy == Remedy::CopyPerThread);
  CHECK(says(advice, "really share total"));
}

TEST_CASE("a mixed finding has both kinds of advice") {
  const Advice advice = advise(
      Sharing::Mixed,
      {side(1, 0, 0, kBoth, {"q", ".lock", "int", "", 4}), side(2, 0, 0, kBoth, {"q", ".lock", "int", "", 4}),
       side(1, 0, 8, kBoth, {"q", ".in", "int", "", 4}), side(2, 0, 16, kBoth, {"q", ".out", "int", "", 4})},
      ObjectKind::Static);
  CHECK(advice.remedy == Remedy::SeparateFields);
  CHECK(says(advice, "alignas(64) before"));
  CHECK(says(advice, "really share q.lock"));
}

TEST_CASE("where the layout is known the advice has the very alignment, and what it makes of the sizes") {
  DataType word, job;
  word.bytes = word.alignment = 8;
  job.kind = DataType::Kind::Record;
  job.name = "struct Job";
  job.file = "/src/job.h";
  job.bytes = 16;
  for (const char* const name : {"stop", "done"}) {
    TypeMember& member = job.members.emplace_back();
    member.name = name;
    member.type = 1;
    member.offset = 8 * (job.members.size() - 1);
    member.file = job.file;
    member.line = 3 + static_cast<uint32_t>(job.members.size());
  }
  const TypedObjects objects{{0, {"job", "/src/job.cpp", 9, 0x40, {SourceLanguage::Cpp, {job, word}}}}};
  const auto sides = [](AccessKind first) {
    return std::vector{side(1, 0, 0, first, {"job", ".stop", "long", "job.h:4", 8}),
                       side(2, 0, 8, kBoth, {"job", ".done", "long", "job.h:5", 8})};
  };
  const Advice advice = advise(Sharing::False, sides(kBoth), ObjectKind::Static, objects);
  CHECK(advice.remedy == Remedy::SeparateFields);
  CHECK(advice.text ==
        "Put alignas(64) before done (struct Job, job.h:5); struct Job grows from 16 to 128 bytes.");
  CHECK(advice.separation.changes.size() == 1);
  CHECK(
      advise(Sharing::False, sides(AccessKind::Read), ObjectKind::Static, objects).text ==
      "Keep job.stop, which is only read, off the line of job.done: put alignas(64) before done (struct Job, "
      "job.h:5); struct Job grows from 16 to 128 bytes.");
}

TEST_CASE("where no alignment helps the advice says what does") {
  DataType mask;
  mask.bytes = mask.alignment = 8;
  const TypedObjects objects{{0, {"mask", "", 0, 0x40, {SourceLanguage::Cpp, {mask}}}}};
  std::vector<NamedSide> sides{side(1, 0, 0, kBoth, {"mask", "", "long", "", 8}),
                               side(2, 0, 1, kBoth, {"mask", "", "long", "", 8})};
  for (NamedSide& one : sides) one.side.bytes = 1;
  const Advice advice = advise(Sharing::False, sides, ObjectKind::Static, objects);
  CHECK(says(advice, "split it into fields"));
  CHECK(advice.separation.changes.empty());
}

TEST_CASE("advice is in the language of the source") {
  const auto elements = [](SourceLanguage language) {
    NamedPart first{"C", "[0]", "", "c:4", 8, language}, second{"C", "[1]", "", "c:4", 8, language};
    return advise(Sharing::False, {side(1, 0, 0, kBoth, first), side(2, 0, 8, kBoth, second)},
                  ObjectKind::Static);
  };
  CHECK(
      says(elements(SourceLanguage::Rust), "crossbeam's CachePadded, or put #[repr(align(64))] on its type"));
  CHECK_FALSE(says(elements(SourceLanguage::Rust), "alignas"));
  CHECK(says(elements(SourceLanguage::C), "__attribute__((aligned(64))) on the type"));
  CHECK(says(elements(SourceLanguage::Cpp), "alignas(64) on the type"));
  CHECK(says(elements(SourceLanguage::Go), "cpu.CacheLinePad"));
  CHECK(says(elements(SourceLanguage::Fortran), "first dimension that fills 64 bytes"));

  const auto objects = [](SourceLanguage language) {
    return advise(Sharing::False,
                  {side(1, 0, 0, kBoth, {"a", "", "", "", 8, language}),
                   side(2, 1, 0, kBoth, {"b", "", "", "", 8, language})},
                  ObjectKind::Static);
  };
  CHECK(says(objects(SourceLanguage::C), "Put _Alignas(64) before a and before b"));
  CHECK(says(objects(SourceLanguage::Rust), "CachePadded"));
  CHECK(says(objects(SourceLanguage::Go), "between a and b"));
}

TEST_CASE("elements that all threads use are not padded") {
  const Advice advice = advise(
      Sharing::Mixed,
      {side(1, 0, 0, kBoth, {"locks", "[0]", "", "", 8}), side(1, 0, 8, kBoth, {"locks", "[1]", "", "", 8}),
       side(2, 0, 0, kBoth, {"locks", "[0]", "", "", 8}), side(2, 0, 8, kBoth, {"locks", "[1]", "", "", 8})},
      ObjectKind::Static);
  CHECK(advice.remedy == Remedy::CopyPerThread);
  CHECK_FALSE(says(advice, "alignas"));
}
