// Layouts with other alignments equal those that the compiler makes of the same types.

#include "analysis/contention/layout.h"

#include <dlfcn.h>
#include <link.h>
#include <catch2/catch.hpp>

#include "analysis/attribution/variables.h"

using namespace prof;
using What = AlignmentChange::What;

namespace {

// The variables of one build of the fixture.
class Fixture {
 public:
  explicit Fixture(const std::string& name)
      : path_(FIXTURE_FOLDER "/lib" + name + ".so"), handle_(dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    REQUIRE(handle_ != nullptr);
    REQUIRE(file_.open({path_, {}}, options_) == OpenFailure::None);
    variables_ = std::make_unique<Variables>(file_);
  }
  ~Fixture() { dlclose(handle_); }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  TypeTree tree(const std::string& name) const {
    link_map* map = nullptr;
    dlinfo(handle_, RTLD_DI_LINKMAP, &map);
    const auto at = reinterpret_cast<uint64_t>(dlsym(handle_, name.c_str()));
    REQUIRE(at != 0);
    const Variable* const variable = variables_->find(at - map->l_addr);
    REQUIRE(variable != nullptr);
    return variables_->type_tree(*variable).value();
  }

 private:
  std::string path_;
  void* handle_;
  AttributionOptions options_;
  ModuleFile file_;
  std::unique_ptr<Variables> variables_;
};

// Returns a change of the first type with the name, and of its member with the name: the one that has the
// alignment.
AlignmentChange change_of(const TypeTree& tree, const std::string& type, const std::string& member) {
  for (size_t i = 0; i < tree.types.size(); ++i) {
    if (tree.types[i].name != type) continue;
    if (member.empty()) return {What::Type, i, 0};
    for (size_t m = 0; m < tree.types[i].members.size(); ++m)
      if (tree.types[i].members[m].name == member) return {What::Member, i, m};
  }
  throw std::logic_error(type + " " + member);
}

// Compares sizes, and the offset of each member, down to the innermost.
void agree(const TypeTree& before, const Layout& layout, size_t b, const TypeTree& after, size_t a) {
  const DataType& was = before.types[b];
  const DataType& is = after.types[a];
  INFO(was.name);
  CHECK(layout.bytes(b) == is.bytes);
  REQUIRE(was.kind == is.kind);
  if (was.kind == DataType::Kind::Array) {
    REQUIRE(was.count == is.count);
    agree(before, layout, was.element, after, is.element);
  }
  REQUIRE(was.members.size() == is.members.size());
  for (size_t i = 0; i < was.members.size(); ++i) {
    INFO(was.members[i].name << " of " << was.name);
    CHECK(was.members[i].name == is.members[i].name);
    if (before.types[was.members[i].type].bytes > 0 && member_at(before, b, was.members[i].offset) == i)
      CHECK(layout.moved(b, was.members[i].offset) == is.members[i].offset);
    agree(before, layout, was.members[i].type, after, is.members[i].type);
  }
}

struct Case {
  const char* variable;
  const char* type;
  const char* member;
};

constexpr Case kCases[] = {
    {"fields", "struct Fields", "errors"},
    {"elements", "struct Element", ""},
    {"holders", "struct Element", ""},
    {"bits", "struct Bits", "value"},
    {"either", "struct Either", "last"},
    {"derived", "struct Derived", "hits"},
    {"numbers", "struct Numbers", "i"},
    {"around_packed", "struct AroundPacked", "last"},
    {"aligned_before", "struct AlignedBefore", "last"},
    {"aligned_words", "struct AlignedWords", "last"},
};

}  // namespace

TEST_CASE("with an alignment data lie where the compiler puts them with it") {
  const char* const build = GENERATE("layouts", "layouts_dwarf4");
  const Fixture plain(build), aligned("layouts_aligned");
  for (const Case& one : kCases) {
    INFO(build << " " << one.variable);
    const TypeTree before = plain.tree(one.variable), after = aligned.tree(one.variable);
    const Layout unchanged(before);
    CHECK(unchanged.follows_rules(0));
    agree(before, unchanged, 0, before, 0);
    const AlignmentChange change = change_of(before, one.type, one.member);
    const Layout layout(before, {change});
    CHECK(layout.is_known());
    CHECK(layout.alignment() == 64);
    agree(before, layout, 0, after, 0);
  }
}

TEST_CASE("elements in a struct of their own lie on lines of their own") {
  const Fixture plain("layouts");
  const TypeTree cells = plain.tree("cells");
  REQUIRE(cells.types[0].kind == DataType::Kind::Array);
  CHECK(cells.types[0].name == "short int[2][3]");
  CHECK(cells.types[0].count == 2);
  const Layout rows(cells, {{What::Elements, 0, 0}});
  CHECK(rows.bytes() == 128);
  CHECK(rows.moved(4) == 4);
  CHECK(rows.moved(6) == 64);
  const Layout each(cells, {{What::Elements, cells.types[0].element, 0}});
  CHECK(each.bytes() == 6 * 64);
  CHECK(each.moved(11) == 5 * 64 + 1);

  const TypeTree sums = plain.tree("sums");
  REQUIRE(sums.types[0].members.size() == 1);
  const size_t elements = sums.types[0].members[0].type;
  REQUIRE(sums.types[elements].kind == DataType::Kind::Array);
  CHECK(sums.types[elements].count == 4);
  CHECK(Layout(sums, {{What::Elements, elements, 0}}).moved(24) == 3 * 64);
}

TEST_CASE("what follows no known rules is not laid out anew") {
  const Fixture plain("layouts");
  const TypeTree packed = plain.tree("packed");
  CHECK_FALSE(Layout(packed).follows_rules(0));
  CHECK_FALSE(Layout(packed, {change_of(packed, "struct Packed", "count")}).is_known());
  // `value` of Base is followed by a byte of Derived, which may or may not lie in the padding of a larger
  // Base.
  const TypeTree derived = plain.tree("derived");
  CHECK_FALSE(Layout(derived, {change_of(derived, "class Base", "padded")}).is_known());
}
