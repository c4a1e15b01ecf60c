// Which alignments separate the data of threads, and that they do.

#include "analysis/contention/separation.h"

#include <catch2/catch.hpp>

#include <random>

#include "analysis/contention/change_words.h"

using namespace prof;
using hpcrun::AccessKind;
using What = AlignmentChange::What;
using Obstacle = Separation::Obstacle;

namespace {

// Types for composing a test; the last one is the whole.
class Types {
 public:
  size_t number(uint64_t bytes) {
    DataType& made = tree_.types.emplace_back();
    made.name = "number";
    made.bytes = made.alignment = bytes;
    return tree_.types.size() - 1;
  }

  size_t array(size_t element, uint64_t count) {
    DataType made;
    made.kind = DataType::Kind::Array;
    made.name = tree_.types[element].name + "[]";
    made.bytes = tree_.types[element].bytes * count;
    made.element = element;
    made.count = count;
    tree_.types.push_back(made);
    return tree_.types.size() - 1;
  }

  size_t record(const char* name, std::vector<std::pair<const char*, size_t>> members,
                const char* file = "/src/a.h") {
    DataType made;
    made.kind = DataType::Kind::Record;
    made.name = std::string("struct ") + name;
    made.file = file;
    made.line = 10;
    uint64_t end = 0, largest = 1;
    for (const auto& [member, type] : members) {
      const uint64_t alignment = Layout(whole(type)).alignment();
      TypeMember& of = made.members.emplace_back();
      of.name = member;
      of.type = type;
      of.offset = (end + alignment - 1) / alignment * alignment;
      of.file = file;
      of.line = 10 + static_cast<uint32_t>(made.members.size());
      end = of.offset + tree_.types[type].bytes;
      largest = std::max(largest, alignment);
    }
    made.bytes = (end + largest - 1) / largest * largest;
    tree_.types.push_back(made);
    return tree_.types.size() - 1;
  }

  DataType& at(size_t type) { return tree_.types[type]; }

  // Returns a tree whose first type is the whole.
  TypeTree whole(size_t root) const {
    TypeTree tree = tree_;
    std::swap(tree.types[0], tree.types[root]);
    const auto renumber = [root](size_t& type) { type = type == 0 ? root : type == root ? 0 : type; };
    for (DataType& type : tree.types) {
      renumber(type.element);
      for (TypeMember& member : type.members) renumber(member.type);
    }
    return tree;
  }

  TypedObjects variable(const char* name, size_t root, uint64_t begin = 0x1000) const {
    return {{0, {name, "/src/a.cpp", 7, begin, whole(root)}}};
  }

 private:
  TypeTree tree_;
};

ContentionSide use(uint32_t thread, uint64_t offset, uint16_t bytes, AccessKind kind = AccessKind::ReadWrite,
                   uint32_t object = 0) {
  ContentionSide side;
  side.thread = thread;
  side.object = object;
  side.offset = offset;
  side.bytes = bytes;
  side.kind = kind;
  side.accesses = 100;
  return side;
}

// True if two threads have bytes on one line after the changes, in an object that starts at a line because of
// them.
bool meet(const Separation& separation, const TypedObjects& objects, const ContentionSide& a,
          const ContentionSide& b) {
  const Layout layout = separation.layout_of(0, objects.at(0));
  const uint64_t begin = layout.alignment() >= 64 ? 0 : objects.at(0).begin;
  const auto line = [&](uint64_t offset) { return (begin + layout.moved(offset)) / 64; };
  return line(a.offset) <= line(b.offset + b.bytes - 1) && line(b.offset) <= line(a.offset + a.bytes - 1);
}

}  // namespace

TEST_CASE("of fields the later one is aligned, and the sizes are reported") {
  Types types;
  const size_t word = types.number(8), half = types.number(4);
  const size_t stats =
      types.record("Stats", {{"hits", word}, {"name", types.array(word, 4)}, {"misses", half}});
  const TypedObjects objects = types.variable("stats", stats);
  const Separation parted = separate({use(1, 0, 8), use(2, 40, 4)}, objects);
  REQUIRE(parted.changes.size() == 1);
  CHECK(parted.changes[0].change.what == What::Member);
  CHECK(parted.bytes_after.at(0) == 128);
  CHECK(format_changes(parted, objects) ==
        "put alignas(64) before misses (struct Stats, a.h:13); struct Stats grows from 48 to 128 bytes");
  const auto changes = describe_changes(parted, objects);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].what == ChangedPart::Member);
  CHECK(changes[0].name == "misses");
  CHECK(changes[0].type == "struct Stats");
  CHECK(changes[0].file == "/src/a.h");
  CHECK(changes[0].line == 13);
  CHECK(changes[0].alignas_bytes == 64);
  CHECK(changes[0].bytes_before == 48);
  CHECK(changes[0].bytes_after == 128);
}

TEST_CASE("fields of threads by turns are all aligned but the first") {
  Types types;
  const size_t word = types.number(8);
  const TypedObjects objects =
      types.variable("stats", types.record("Stats", {{"a", word}, {"b", word}, {"c", word}, {"d", word}}));
  const Separation parted = separate({use(1, 0, 8), use(2, 8, 8), use(1, 16, 8), use(2, 24, 8)}, objects);
  CHECK(format_changes(parted, objects).starts_with("put alignas(64) before "));
  CHECK(parted.changes.size() == 3);
  CHECK(parted.bytes_after.at(0) == 256);
}

TEST_CASE("fields of one thread stay together, and so does what is only read") {
  Types types;
  const size_t word = types.number(8);
  const TypedObjects objects =
      types.variable("stats", types.record("Stats", {{"a", word}, {"b", word}, {"c", word}, {"d", word}}));
  CHECK(separate({use(1, 0, 8), use(1, 8, 8), use(2, 16, 8), use(2, 24, 8)}, objects).changes.size() == 1);
  CHECK(separate({use(1, 0, 8, AccessKind::Read), use(2, 8, 8, AccessKind::Read)}, objects).changes.empty());
}

TEST_CASE("elements of an own type are aligned by the type") {
  Types types;
  const size_t word = types.number(8);
  const size_t counter = types.record("Counter", {{"hits", word}});
  const TypedObjects objects = types.variable("counters", types.array(counter, 4));
  const Separation parted = separate({use(1, 0, 8), use(2, 8, 8)}, objects);
  CHECK(
      format_changes(parted, objects) ==
      "put alignas(64) on struct Counter (a.h:10); struct Counter grows from 8 to 64 bytes (56 of padding), "
      "counters from 32 to 256");
  CHECK(describe_changes(parted, objects)[0].what == ChangedPart::Type);
}

TEST_CASE("elements that straddle lines are padded to whole ones") {
  Types types;
  const size_t row = types.record("Row", {{"cells", types.array(types.number(8), 6)}});
  const TypedObjects objects = types.variable("rows", types.array(row, 4));
  const Separation parted = separate({use(1, 40, 8), use(2, 48, 8)}, objects);
  CHECK(format_changes(parted, objects) ==
        "put alignas(64) on struct Row (a.h:10); struct Row grows from 48 to 64 bytes (16 of padding), "
        "rows from 192 to 256");
}

TEST_CASE("elements of whole lines need only begin one") {
  Types types;
  const size_t row = types.record("Row", {{"cells", types.array(types.number(8), 8)}});
  const TypedObjects objects = types.variable("rows", types.array(row, 4), 0x1020);
  const Separation parted = separate({use(1, 56, 8), use(2, 64, 8)}, objects);
  CHECK(format_changes(parted, objects) ==
        "put alignas(64) on struct Row (a.h:10); struct Row keeps its 64 bytes and starts a line");
}

TEST_CASE("elements that are numbers, or of a library's type, need a struct around them") {
  Types types;
  const size_t lock = types.number(4);
  const size_t theirs = types.record("atomic<int>", {{"", lock}}, "/usr/include/c++/12/atomic");
  for (const size_t element : {lock, theirs}) {
    const TypedObjects objects = types.variable("locks", types.array(element, 8));
    const Separation parted = separate({use(1, 0, 4), use(2, 4, 4)}, objects);
    CHECK(format_changes(parted, objects) ==
          "wrap each element of locks (a.cpp:7) in a struct with alignas(64); an element grows from 4 to 64 "
          "bytes "
          "(60 of padding), locks from 32 to 512");
    CHECK(describe_changes(parted, objects)[0].what == ChangedPart::Elements);
  }
}

TEST_CASE("an array inside elements is identified by its place") {
  Types types;
  const size_t grid =
      types.record("Grid", {{"head", types.number(8)}, {"cells", types.array(types.number(4), 6)}});
  const TypedObjects objects = types.variable("grids", types.array(grid, 2));
  const Separation parted = separate({use(1, 40, 4), use(2, 44, 4)}, objects);
  CHECK(format_changes(parted, objects)
            .starts_with("wrap each element of grids[1].cells (a.h:12) in a struct with alignas(64)"));
}

TEST_CASE("variables are aligned both") {
  Types types;
  const size_t word = types.number(8);
  const TypedObjects objects{{0, {"hits", "/src/a.c", 1, 0x1000, types.whole(word)}},
                             {1, {"misses", "/src/a.c", 2, 0x1008, {}}}};
  const Separation parted = separate({use(1, 0, 8), use(2, 0, 8, AccessKind::ReadWrite, 1)}, objects);
  CHECK(format_changes(parted, objects) ==
        "put alignas(64) before hits (a.c:1) and before misses (a.c:2); each then starts its own line");
}

TEST_CASE("in C it is written as C has it") {
  Types types;
  const size_t word = types.number(8);
  const size_t pair = types.record("pair", {{"a", word}, {"b", word}});
  TypedObjects objects = types.variable("pairs", types.array(pair, 2));
  objects.at(0).tree.language = SourceLanguage::C;
  const auto text = [&](const ContentionSide& a, const ContentionSide& b) {
    return format_changes(separate({a, b}, objects), objects);
  };
  CHECK(text(use(1, 8, 8), use(2, 16, 8))
            .starts_with("put __attribute__((aligned(64))) on struct pair (a.h:10);"));
  CHECK(text(use(1, 0, 8), use(2, 8, 8)).starts_with("put _Alignas(64) before b (struct pair, a.h:12);"));
}

TEST_CASE("what nobody used on the line before does not come to it") {
  Types types;
  const size_t word = types.number(8);
  const size_t job = types.record(
      "Job",
      {{"stop", word}, {"plan", types.array(word, 6)}, {"done", word}, {"results", types.array(word, 8)}});
  const TypedObjects objects = types.variable("job", job);
  const Separation parted = separate({use(1, 0, 8, AccessKind::Read), use(2, 56, 8)}, objects);
  REQUIRE(parted.changes.size() == 2);
  CHECK(format_changes(parted, objects)
            .starts_with(
                "put alignas(64) before done (struct Job, a.h:13) and before results (struct Job, a.h:14)"));
}

TEST_CASE("where no alignment parts what threads use it is said why") {
  Types types;
  const size_t word = types.number(8);
  const auto obstacle = [](const TypedObjects& objects, const ContentionSide& a, const ContentionSide& b) {
    const Separation parted = separate({a, b}, objects);
    CHECK(parted.changes.empty());
    return std::pair(parted.obstacle, format_obstacle(parted, SourceLanguage::Cpp));
  };
  SECTION("bytes of one number, or of a union") {
    const auto [why, words] = obstacle(types.variable("mask", word), use(1, 0, 1), use(2, 1, 1));
    CHECK(why == Obstacle::OnePart);
    CHECK(words.find("different bytes of mask") != std::string::npos);
  }
  SECTION("bit fields") {
    const size_t flags = types.record("Flags", {{"a", word}, {"low, high", types.number(4)}});
    types.at(flags).members[1].is_bit_field = true;
    const auto [why, words] = obstacle(types.variable("flags", flags), use(1, 0, 8), use(2, 8, 1));
    CHECK(why == Obstacle::BitFields);
    CHECK(words.find("Bit fields (low, high)") != std::string::npos);
  }
  SECTION("a library's type") {
    const size_t pair =
        types.record("pair<long, long>", {{"first", word}, {"second", word}}, "/usr/include/u.h");
    const auto [why, words] = obstacle(types.variable("both", pair), use(1, 0, 8), use(2, 8, 8));
    CHECK(why == Obstacle::ForeignType);
    CHECK(words.find("struct pair<long, long> is declared outside your program") != std::string::npos);
  }
  SECTION("blocks of elements, which would each need a line") {
    const TypedObjects objects = types.variable("sums", types.array(types.number(4), 32));
    const Separation parted = separate({use(1, 4, 4), use(1, 12, 4), use(2, 16, 4)}, objects);
    CHECK(parted.obstacle == Obstacle::Blocks);
    CHECK(format_obstacle(parted, SourceLanguage::Cpp) ==
          "Each thread uses consecutive elements of sums: start each thread's elements at a multiple of 16, "
          "and put alignas(64) before the array.");
    // Used alternately they are not blocks.
    CHECK(separate({use(1, 4, 4), use(1, 12, 4), use(2, 8, 4)}, objects).changes.size() == 1);
  }
  SECTION("a layout that is not known") {
    const size_t packed = types.record("Packed", {{"a", types.number(1)}, {"b", word}});
    types.at(packed).members[1].offset = 1;
    types.at(packed).bytes = 9;
    const auto [why, words] = obstacle(types.variable("packed", packed), use(1, 0, 1), use(2, 1, 8));
    CHECK(why == Obstacle::Unknown);
    CHECK(words.empty());
  }
  SECTION("an object of which nothing is known") {
    const auto [why, words] =
        obstacle(types.variable("a", word), use(1, 0, 8), use(2, 0, 8, AccessKind::Write, 5));
    CHECK(why == Obstacle::Unknown);
  }
}

TEST_CASE("whatever is found to help parts all that conflicts") {
  std::mt19937 random(20);
  const auto below = [&](uint64_t end) { return random() % end; };
  size_t parted_ones = 0;
  for (int round = 0; round < 3000; ++round) {
    Types types;
    std::vector<size_t> made;
    for (const uint64_t bytes : {1u, 2u, 4u, 8u}) made.push_back(types.number(bytes));
    for (int i = 0; i < 4; ++i) {
      if (below(2) == 0) {
        made.push_back(types.array(made[below(made.size())], 1 + below(5)));
        continue;
      }
      std::vector<std::pair<const char*, size_t>> members;
      for (const char* const name : {"a", "b", "c", "d", "e"})
        if (below(3) != 0) members.emplace_back(name, made[below(made.size())]);
      if (!members.empty())
        made.push_back(types.record(i == 0 ? "A" : i == 1 ? "B" : i == 2 ? "C" : "D", members));
    }
    const size_t root = made.back();
    const uint64_t bytes = types.at(root).bytes;
    const TypedObjects objects = types.variable("data", root, 0x1000 + below(8) * 8);
    std::vector<ContentionSide> sides;
    for (size_t i = 0; i < 2 + below(5); ++i) {
      const uint64_t at = below(std::min<uint64_t>(bytes, 256));
      sides.push_back(use(static_cast<uint32_t>(below(3)), at, 1,
                          below(3) == 0 ? AccessKind::Read : AccessKind::ReadWrite));
    }
    const Separation parted = separate(sides, objects);
    if (parted.obstacle != Obstacle::None) continue;
    parted_ones += !parted.changes.empty();
    for (const ContentionSide& a : sides)
      for (const ContentionSide& b : sides)
        if (a.thread != b.thread && a.offset != b.offset &&
            (hpcrun::writes(a.kind) || hpcrun::writes(b.kind)))
          REQUIRE_FALSE(meet(parted, objects, a, b));
  }
  CHECK(parted_ones > 500);
}
