#include "analysis/contention/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "analysis/contention/change_words.h"
#include "analysis/contention/language_words.h"

namespace prof {
namespace {

using hpcrun::kLineBytes;

// The first step in which two paths differ: ".hits" and ".misses", "[0]" and "[1]".
struct Difference {
  std::string owner;  // the common part of both
  std::string left;
  std::string right;
};

std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps;
  for (const char letter : path) {
    if (steps.empty() || letter == '.' || letter == '[' || letter == '(') steps.emplace_back();
    steps.back() += letter;
  }
  return steps;
}

Difference difference(const std::string& left, const std::string& right) {
  const std::vector<std::string> a = steps_of(left);
  const std::vector<std::string> b = steps_of(right);
  Difference out;
  size_t i = 0;
  for (; i < a.size() && i < b.size() && a[i] == b[i]; ++i) out.owner += a[i];
  if (i < a.size()) out.left = a[i];
  if (i < b.size()) out.right = b[i];
  return out;
}

bool is_index(const std::string& step) {
  return !step.empty() && (step[0] == '[' || step[0] == '(');
}

bool writes_any(const std::vector<NamedSide>& sides, const NamedPart& part) {
  return std::any_of(sides.begin(), sides.end(), [&](const NamedSide& side) {
    return side.part.object == part.object && side.part.path == part.path && hpcrun::writes(side.side.kind);
  });
}

// The two sides with the most accesses that belong to different threads, at least one of them writing.
struct Conflict {
  const NamedSide* left = nullptr;
  const NamedSide* right = nullptr;
};

// True if each of the two threads also uses what the other one does. Then the data move with the threads
// wherever they lie, and separate lines mean more transfers.
bool use_both(const std::vector<NamedSide>& sides, const ContentionSide& a, const ContentionSide& b) {
  const auto uses = [&](uint32_t thread, const ContentionSide& what) {
    return std::ranges::any_of(sides, [&](const NamedSide& side) {
      return side.side.thread == thread && have_common_bytes(side.side, what);
    });
  };
  return uses(a.thread, b) && uses(b.thread, a);
}

Conflict main_conflict(const std::vector<NamedSide>& sides, bool common_bytes) {
  Conflict worst;
  uint64_t most = 0;
  for (size_t i = 0; i < sides.size(); ++i) {
    for (size_t j = i + 1; j < sides.size(); ++j) {
      const ContentionSide& a = sides[i].side;
      const ContentionSide& b = sides[j].side;
      const bool conflicts = is_conflict(a, b) && have_common_bytes(a, b) == common_bytes &&
                             (common_bytes || !use_both(sides, a, b));
      const uint64_t size = std::min(a.accesses, b.accesses);
      if (!conflicts || size <= most) continue;
      most = size;
      worst = {&sides[i], &sides[j]};
    }
  }
  return worst;
}

std::string called(const NamedPart& part) {
  return part.object + part.path;
}

// ".hits" -> "hits"
std::string field(const std::string& step) {
  return step.substr(std::min<size_t>(1, step.size()));
}

std::string as_sentence(std::string clause) {
  clause[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(clause[0])));
  return clause;
}

std::string at(const NamedPart& part) {
  return part.declared.empty() ? "" : fmt::format(" ({})", part.declared);
}

Advice separate_objects(const Conflict& conflict, ObjectKind kind) {
  const NamedPart& left = conflict.left->part;
  const NamedPart& right = conflict.right->part;
  if (kind == ObjectKind::Heap)
    return {Remedy::AlignObjects, fmt::format("Allocate each on its own cache lines: aligned_alloc({0}, "
                                              "size rounded up to {0}), or alignas({0}) on "
                                              "the type that `new` creates.",
                                              kLineBytes)};
  return {Remedy::AlignObjects,
          as_sentence(align_both(left.language, left.object + at(left), right.object + at(right))) +
              ": each then has its own cache lines."};
}

// Used if only the address is known.
Advice separate_memory() {
  return {Remedy::AlignObjects,
          fmt::format(
              "Put each thread's part of it on its own cache lines: alignas({0}) on its type, or allocate "
              "it by aligned_alloc({0}, size rounded up to {0}).",
              kLineBytes)};
}

// Fields and elements of allocations are unknown.
Advice separate_parts(const std::vector<NamedSide>& sides, const Conflict& conflict) {
  const NamedPart& left = conflict.left->part;
  const NamedPart& right = conflict.right->part;
  const bool left_is_read = !writes_any(sides, left);
  if (left_is_read != !writes_any(sides, right)) {
    const NamedPart& read = left_is_read ? left : right;
    const NamedPart& written = left_is_read ? right : left;
    return {Remedy::SeparateFields,
            fmt::format("Keep {0}, which are only read, off the line of {1}: put alignas({2}) before the "
                        "written data, and nothing else after it on its line.",
                        read.object, written.object, kLineBytes)};
  }
  return {
      Remedy::PadElements,
      fmt::format("Put each thread's part of the allocation on its own cache lines: alignas({0}) on the type "
                  "of its elements or before its fields (from malloc, round their size up to {0} and use "
                  "aligned_alloc({0}, ...)), or let each thread allocate its own.",
                  kLineBytes)};
}

Advice separate_elements(const NamedPart& part, const Difference& where) {
  const std::string array = part.object + where.owner;
  return {Remedy::PadElements, fmt::format("Put each element of {} on its own cache lines: {}.", array,
                                           align_elements(part.language, at(part)))};
}

// Returns an empty string unless one of the parts is only read, and the other one written.
std::string keep_apart(const std::vector<NamedSide>& sides, const Conflict& conflict) {
  const NamedPart& left = conflict.left->part;
  const NamedPart& right = conflict.right->part;
  const bool left_is_read = !writes_any(sides, left);
  if (left_is_read == !writes_any(sides, right)) return "";
  return fmt::format("Keep {}, which is only read, off the line of {}: ", called(left_is_read ? left : right),
                     called(left_is_read ? right : left));
}

Advice separate_fields(const std::vector<NamedSide>& sides, const Conflict& conflict,
                       const Difference& where) {
  const NamedPart& left = conflict.left->part;
  const NamedPart& right = conflict.right->part;
  if (const std::string apart = keep_apart(sides, conflict); !apart.empty()) {
    const NamedPart& written = writes_any(sides, left) ? left : right;
    return {Remedy::SeparateFields,
            apart + align_alone(written.language, called(written) + at(written)) + "."};
  }
  return {Remedy::SeparateFields, as_sentence(align_both(left.language, field(where.left) + at(left),
                                                         field(where.right) + at(right))) +
                                      ": the fields are then on different cache lines."};
}

Advice copy_per_thread(const Conflict& conflict) {
  const std::string what = conflict.left ? called(conflict.left->part) : "the data";
  return {
      Remedy::CopyPerThread,
      fmt::format("Threads really share {}: let each thread count in its own copy ({}, or an array of "
                  "{}-byte elements) and add the copies up when the value is needed, or access it less "
                  "often.",
                  what, copy_of_thread(conflict.left ? conflict.left->part.language : SourceLanguage::Other),
                  kLineBytes)};
}

// Returns what helps according to the layout itself, or why nothing does; empty if that is unknown.
std::string exact_words(const Separation& separation, const TypedObjects& objects, SourceLanguage language,
                        const std::string& lead) {
  std::string words = format_changes(separation, objects);
  if (words.empty()) return format_obstacle(separation, language);
  return lead.empty() ? as_sentence(std::move(words)) + "." : lead + words + ".";
}

Advice separate_by_name(const std::vector<NamedSide>& sides, const Conflict& conflict, ObjectKind kind,
                        const Difference& where) {
  const NamedSide& left = *conflict.left;
  const NamedSide& right = *conflict.right;
  if (left.side.object == kNoObject && right.side.object == kNoObject) return separate_memory();
  if (left.side.object != right.side.object) return separate_objects(conflict, kind);
  if (kind == ObjectKind::Heap) return separate_parts(sides, conflict);
  if (is_index(where.left) && is_index(where.right)) return separate_elements(left.part, where);
  return separate_fields(sides, conflict, where);
}

}  // namespace

Advice advise(hpcrun::Sharing sharing, const std::vector<NamedSide>& sides, ObjectKind kind,
              const TypedObjects& objects) {
  const bool is_true = sharing == hpcrun::Sharing::True;
  const Conflict conflict = main_conflict(sides, is_true);
  if (is_true || conflict.left == nullptr) return copy_per_thread(main_conflict(sides, true));
  const Difference where = difference(conflict.left->part.path, conflict.right->part.path);
  Advice advice = separate_by_name(sides, conflict, kind, where);
  std::vector<ContentionSide> plain;
  for (const NamedSide& side : sides) plain.push_back(side.side);
  advice.separation = separate(plain, objects);
  const std::string lead = advice.remedy == Remedy::SeparateFields ? keep_apart(sides, conflict) : "";
  if (std::string exact = exact_words(advice.separation, objects, conflict.left->part.language, lead);
      !exact.empty())
    advice.text = std::move(exact);
  if (sharing == hpcrun::Sharing::Mixed) {
    const Advice rest = copy_per_thread(main_conflict(sides, true));
    advice.text += " " + rest.text;
  }
  return advice;
}

}  // namespace prof
