#include "analysis/contention/change_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/contention/language_words.h"

namespace prof {
namespace {

using hpcrun::kLineBytes;
using Change = ContendedRecord::Change;
using What = AlignmentChange::What;

std::string file_name(const std::string& file) {
  return file.substr(file.rfind('/') + 1);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

// Returns the source text that aligns, by language. `of_type`: for a position after "struct" instead of
// before a declaration.
std::string text_of(SourceLanguage language, bool of_type) {
  return of_type ? alignment_of_type(language) : alignment_of_declaration(language);
}

Change describe(const ChosenChange& chosen, const Separation& separation, const TypedObject& object) {
  Change change;
  change.file = chosen.file;
  change.line = chosen.line;
  change.alignas_bytes = kLineBytes;
  const bool is_of_type = !chosen.is_of_variable && chosen.change.what == What::Type;
  change.text = text_of(object.tree.language, is_of_type);
  if (chosen.is_of_variable) {
    change.what = ChangedPart::Variable;
    change.name = object.name;
    if (object.tree.types.empty()) return change;
    change.type = object.tree.types[0].name;
    change.bytes_before = object.tree.types[0].bytes;
    change.bytes_after = separation.bytes_after.at(chosen.object);
    return change;
  }
  const DataType& of = object.tree.types[chosen.change.type];
  const Layout layout = separation.layout_of(chosen.object, object);
  change.type = of.name;
  change.bytes_before = of.bytes;
  change.bytes_after = layout.bytes(chosen.change.type);
  switch (chosen.change.what) {
    case What::Member:
      change.what = ChangedPart::Member;
      change.name = of.members[chosen.change.member].name;
      break;
    case What::Type:
      change.what = ChangedPart::Type;
      break;
    case What::Elements:
      change.what = ChangedPart::Elements;
      change.name = object.name + chosen.path;
      change.type = object.tree.types[of.element].name;
      change.bytes_before = of.bytes / of.count;
      change.bytes_after /= of.count;
      break;
  }
  return change;
}

std::string where(const Change& change, const std::string& holder) {
  std::string text = holder;
  if (!change.file.empty() && change.line > 0)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", file_name(change.file), change.line);
  return text.empty() ? "" : " (" + text + ")";
}

bool has_name(const Change& change) {
  return change.type != "?" && !change.type.empty();
}

// Names an unnamed type by its owner.
std::string format_type(const Change& change, const std::string& owner) {
  return has_name(change) ? change.type : "the struct of " + owner;
}

std::string place(const Change& change, const std::string& owner) {
  if (change.what == ChangedPart::Variable) return "before " + change.name + where(change, "");
  if (change.what == ChangedPart::Member)
    return "before " + change.name + where(change, format_type(change, owner));
  return "on " + format_type(change, owner) + where(change, "");
}

std::string growth(const Change& change, const std::string& what) {
  if (change.bytes_after == change.bytes_before)
    return fmt::format("{} keeps its {} bytes and starts a line", what, change.bytes_before);
  std::string text =
      fmt::format("{} grows from {} to {} bytes", what, change.bytes_before, change.bytes_after);
  if (change.what != ChangedPart::Member)
    text += fmt::format(" ({} of padding)", change.bytes_after - change.bytes_before);
  return text;
}

struct Described {
  Change change;
  std::string owner;  // what the change is made in: "stats.rows[2]"
  SourceLanguage language;
};

// Returns changes of one type in several objects as one.
std::vector<Described> distinct(const Separation& separation, const TypedObjects& objects) {
  std::vector<Described> all;
  for (const ChosenChange& chosen : separation.changes) {
    const TypedObject& object = objects.at(chosen.object);
    Described made{describe(chosen, separation, object), object.name + chosen.path, object.tree.language};
    const bool is_known = std::ranges::any_of(all, [&](const Described& one) {
      return one.change.what == made.change.what && one.change.name == made.change.name &&
             one.change.type == made.change.type && one.change.file == made.change.file &&
             one.change.line == made.change.line;
    });
    if (!is_known) all.push_back(std::move(made));
  }
  return all;
}

}  // namespace

std::string format_changes(const Separation& separation, const TypedObjects& objects) {
  std::vector<std::string> clauses, growths, grown;
  const std::vector<Described> all = distinct(separation, objects);
  std::vector<bool> covered(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (covered[i]) continue;
    const Change& change = all[i].change;
    if (change.what == ChangedPart::Elements) {
      clauses.push_back(fmt::format("wrap each element of {}{} in a struct with {}", change.name,
                                    where(change, ""), text_of(all[i].language, false)));
      continue;
    }
    const std::string text = text_of(all[i].language, change.what == ChangedPart::Type);
    std::vector<std::string> places;
    for (size_t j = i; j < all.size(); ++j) {
      if (covered[j] || all[j].change.what == ChangedPart::Elements ||
          text_of(all[j].language, all[j].change.what == ChangedPart::Type) != text)
        continue;
      covered[j] = true;
      places.push_back(place(all[j].change, all[j].owner));
    }
    clauses.push_back("put " + text + " " + joined(places));
  }
  bool any_of_variable = false;
  for (const Described& one : all) {
    any_of_variable |= one.change.what == ChangedPart::Variable;
    if (one.change.what == ChangedPart::Variable) continue;
    const std::string what =
        one.change.what == ChangedPart::Elements ? "an element" : format_type(one.change, one.owner);
    if (std::ranges::find(grown, what) != grown.end()) continue;
    grown.push_back(what);
    growths.push_back(growth(one.change, what));
  }
  // Objects that contain more than what changes.
  for (const auto& [object, bytes] : separation.bytes_after) {
    const uint64_t after = bytes;
    const TypedObject& known = objects.at(object);
    const uint64_t before = known.tree.types[0].bytes;
    const bool is_covered = std::ranges::any_of(all, [&](const Described& one) {
      return one.change.bytes_before == before && one.change.bytes_after == after;
    });
    if (!is_covered && after != before)
      growths.push_back(fmt::format("{} from {} to {}", known.name, before, after));
  }
  if (any_of_variable && growths.empty()) growths.push_back("each then starts its own line");
  std::string text = joined(clauses);
  for (size_t i = 0; i < growths.size(); ++i) text += (i == 0 ? "; " : ", ") + growths[i];
  return text;
}

std::string format_obstacle(const Separation& separation, SourceLanguage language) {
  const std::string align = alignment_of_declaration(language);
  switch (separation.obstacle) {
    case Separation::Obstacle::None:
    case Separation::Obstacle::Unknown:
      return "";
    case Separation::Obstacle::BitFields:
      return fmt::format("Bit fields ({}) cannot be aligned: make them separate fields, each after {}.",
                         separation.at, align);
    case Separation::Obstacle::OnePart:
      return fmt::format(
          "Threads use different bytes of {}, which no alignment separates: split it into fields, each after "
          "{}, or give each thread a copy.",
          separation.at, align);
    case Separation::Obstacle::Blocks:
      return fmt::format(
          "Each thread uses consecutive elements of {}: start each thread's elements at a multiple of {}, "
          "and put {} before the array.",
          separation.at, separation.block_elements, align);
    case Separation::Obstacle::ForeignType:
      return fmt::format(
          "{} is declared outside your program: use your own struct, with {} before each of its fields.",
          separation.at, align);
  }
  return "";
}

std::vector<Change> describe_changes(const Separation& separation, const TypedObjects& objects) {
  std::vector<Change> changes;
  for (const Described& one : distinct(separation, objects)) changes.push_back(one.change);
  return changes;
}

}  // namespace prof
