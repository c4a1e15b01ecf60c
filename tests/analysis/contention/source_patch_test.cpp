// Alignments are inserted at the position from the debug information, if the line matches.

#include "analysis/contention/source_patch.h"

#include <catch2/catch.hpp>

using namespace prof;
using Change = ContendedRecord::Change;

namespace {

Change change(ChangedPart what, uint64_t line, const std::string& name, const std::string& type = "",
              const std::string& text = "alignas(64)") {
  Change made;
  made.what = what;
  made.line = line;
  made.name = name;
  made.type = type;
  made.text = text;
  return made;
}

// Returns the added lines of the diff, without their mark.
std::string added(const std::string& source, const Change& one) {
  SourcePatch patch(source);
  const std::string why = patch.make(one);
  if (!why.empty()) return "! " + why;
  std::string diff = patch.diff("x"), lines;
  for (size_t at = diff.find("\n+", diff.find("@@")); at != diff.npos; at = diff.find("\n+", at + 1))
    lines += diff.substr(at + 2, diff.find('\n', at + 2) - at - 2);
  return lines;
}

constexpr const char* kOther = "! does not look like its declaration";

}  // namespace

TEST_CASE("members and variables get it before their declaration") {
  CHECK(added("struct S {\n  std::atomic<long> done;\n};\n", change(ChangedPart::Member, 2, "done")) ==
        "  alignas(64) std::atomic<long> done;");
  CHECK(added("struct S { int a; int b = 3; };\n", change(ChangedPart::Member, 1, "b")) ==
        "struct S { int a; alignas(64) int b = 3; };");
  CHECK(added("class C {\n public: std::map<int, long> own{};\n", change(ChangedPart::Member, 2, "own")) ==
        " public: alignas(64) std::map<int, long> own{};");
  CHECK(added("static long hits[2];  // hits, of both\n", change(ChangedPart::Variable, 1, "net::hits")) ==
        "alignas(64) static long hits[2];  // hits, of both");
  CHECK(added("  int first; /* done; */ char done;\n",
              change(ChangedPart::Member, 1, "done", "", "_Alignas(64)")) ==
        "  int first; /* done; */ _Alignas(64) char done;");
  CHECK(added("long bits : 3;\n", change(ChangedPart::Member, 1, "bits")) ==
        "! declares a bit field, which cannot be aligned");
}

TEST_CASE("types get it behind struct or class") {
  CHECK(added("struct Counter {\n", change(ChangedPart::Type, 1, "", "struct Counter")) ==
        "struct alignas(64) Counter {");
  CHECK(added("class Stats\n{\n", change(ChangedPart::Type, 1, "", "class net::Stats<int>")) ==
        "class alignas(64) Stats");
  CHECK(added("typedef struct {\n  int x;\n} T;\n",
              change(ChangedPart::Type, 1, "", "?", "__attribute__((aligned(64)))")) ==
        "typedef struct __attribute__((aligned(64))) {");
  CHECK(added("template <class T> struct Cell final : Base {\n",
              change(ChangedPart::Type, 1, "", "struct Cell<long>")) ==
        "template <class T> struct alignas(64) Cell final : Base {");
}

TEST_CASE("lines that look otherwise are left as they are") {
  CHECK(added("int a;\n", change(ChangedPart::Member, 1, "b")) == kOther);
  CHECK(added("int a;\n", change(ChangedPart::Member, 2, "a")) == "! does not exist");
  CHECK(added("int a;\n", change(ChangedPart::Member, 0, "a")) == "! does not exist");
  CHECK(added("// int done;\n", change(ChangedPart::Member, 1, "done")) == kOther);
  CHECK(added("extern int done;\n", change(ChangedPart::Variable, 1, "done")) == kOther);
  CHECK(added("  other.done = 3;\n", change(ChangedPart::Member, 1, "done")) == kOther);
  CHECK(added("int a, b;\n", change(ChangedPart::Member, 1, "b")) == "! declares several names at once");
  CHECK(added("int a, b;\n", change(ChangedPart::Member, 1, "a")) == "! declares several names at once");
  CHECK(
      added("int\n  done;\n", change(ChangedPart::Member, 2, "done")).starts_with("! has the declared name"));
  CHECK(added("static\nint done;\n", change(ChangedPart::Member, 2, "done")) ==
        "! continues the previous line");
  CHECK(added("struct Counter;\nint x{};\n", change(ChangedPart::Type, 1, "", "struct Counter"))
            .starts_with("! "));
  CHECK(added("struct Other {\n", change(ChangedPart::Type, 1, "", "struct Counter")).starts_with("! "));
  CHECK(added("long a[8];\n", change(ChangedPart::Elements, 1, "a")).starts_with("! has elements"));
}

TEST_CASE("changes that are near each other are one hunk, and one that is listed twice is made once") {
  std::string source;
  for (int i = 1; i <= 30; ++i) source += "int a" + std::to_string(i) + ";\n";
  SourcePatch patch(source);
  for (const int line : {2, 5, 25, 5})
    CHECK(patch.make(change(ChangedPart::Variable, static_cast<uint64_t>(line), "a" + std::to_string(line)))
              .empty());
  const std::string diff = patch.diff("src/a.c");
  CHECK(diff.starts_with(
      "--- src/a.c\n+++ src/a.c\n@@ -1,8 +1,8 @@\n int a1;\n-int a2;\n+alignas(64) int a2;\n"));
  CHECK(diff.find("@@ -22,7 +22,7 @@\n int a22;") != std::string::npos);
  CHECK(diff.find("alignas(64) alignas") == std::string::npos);
  CHECK(SourcePatch(source).diff("a").empty());
}

TEST_CASE("a last line without an end stays one") {
  SourcePatch patch("int a;\nint b;");
  CHECK(patch.make(change(ChangedPart::Variable, 2, "b")).empty());
  CHECK(patch.diff("a") ==
        "--- a\n+++ a\n@@ -1,2 +1,2 @@\n int a;\n-int b;\n\\ No newline at end of file\n"
        "+alignas(64) int b;\n\\ No newline at end of file\n");
}
