#include "analysis/views/run/waste_pattern.h"

#include <algorithm>
#include <string_view>

#include "analysis/views/tree/format_code.h"

namespace prof {
namespace {

using hpcrun::WasteKind;

constexpr uint64_t kMaxRegisterBytes = 64;  // of the widest vector

constexpr Spelling<WastePattern> kPatterns[] = {
    {WastePattern::Other, "other"},
    {WastePattern::ClearThenFill, "clear-then-fill"},
    {WastePattern::SparseInitialization, "sparse-initialization"},
    {WastePattern::OversizedClear, "oversized-clear"},
    {WastePattern::ConstructThenAssign, "construct-then-assign"},
    {WastePattern::RegisterSpill, "register-spill"},
    {WastePattern::RepeatedStore, "repeated-store"},
    {WastePattern::UnusedLocal, "unused-local"},
    {WastePattern::SameValue, "same-value"},
    {WastePattern::InvariantLoad, "invariant-load"},
    {WastePattern::RepeatedLoad, "repeated-load"},
};

// Parts of names of functions that set memory to one value: memset(), std::fill_n(), and their variants.
constexpr std::string_view kClearing[] = {"memset", "bzero", "std::fill", "std::__fill", "calloc"};

// Splits off the last part of a name in front of which "::" is, outside of template arguments.
std::string_view take_last_part(std::string_view& name) {
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == '>') ++depth;
    if (name[i] == '<') --depth;
    if (depth > 0 || i == 0 || name[i] != ':' || name[i - 1] != ':') continue;
    const std::string_view last = name.substr(i + 1);
    name = name.substr(0, i - 1);
    return last;
  }
  return std::exchange(name, {});
}

std::string_view without_arguments(std::string_view name) {
  return name.substr(0, name.find('<'));
}

// True for "net::Buffer<int>::Buffer(unsigned long)".
bool is_constructor(std::string_view function) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string plain(function);
  for (size_t at; (at = plain.find(kUnnamed)) != std::string::npos;) plain.erase(at, kUnnamed.size());
  std::string_view name = std::string_view(plain).substr(0, plain.find('('));
  const std::string_view last = without_arguments(take_last_part(name));
  return !last.empty() && last == without_arguments(take_last_part(name));
}

// True if a test holds for the function of the program, or for one that it calls for the access.
template <typename Test>
bool is_reached_by(const std::vector<CodeFrame>& frames, const Test& test) {
  if (frames.empty()) return false;
  const auto own = frames.begin() + (&telling_frame(frames) - frames.data());
  return std::any_of(frames.begin(), own + 1, [&](const CodeFrame& frame) { return test(frame.function); });
}

bool is_one_function(const WastePaths& paths) {
  return !paths.first.empty() && !paths.second.empty() &&
         telling_frame(paths.first).function == telling_frame(paths.second).function;
}

bool is_spill(const WastePair& pair, const WastePaths& paths) {
  return pair.on_stack && pair.access_bytes <= kMaxRegisterBytes && is_one_function(paths);
}

bool is_array(const WastePair& pair) {
  return pair.name.find("[]") != std::string::npos;
}

WastePattern pattern_of_clearing(const WastePair& pair, const WastePaths& paths) {
  if (pair.frame_ended) return WastePattern::OversizedClear;
  if (!is_clearing(paths.second)) return WastePattern::ClearThenFill;
  return pair.on_stack ? WastePattern::OversizedClear : WastePattern::SparseInitialization;
}

WastePattern pattern_of_dead_store(const WastePair& pair, const WastePaths& paths) {
  if (is_clearing(paths.first)) return pattern_of_clearing(pair, paths);
  if (pair.frame_ended) return WastePattern::UnusedLocal;
  if (is_constructing(paths.first) && !is_constructing(paths.second))
    return WastePattern::ConstructThenAssign;
  if (is_spill(pair, paths)) return WastePattern::RegisterSpill;
  if (!is_one_function(paths)) return WastePattern::Other;
  if (!is_one_line(paths)) return WastePattern::RepeatedStore;
  if (is_array(pair)) return WastePattern::SparseInitialization;
  return pair.name.empty() ? WastePattern::Other : WastePattern::RepeatedStore;
}

WastePattern pattern_of_load(const WastePair& pair, const WastePaths& paths) {
  if (!is_one_function(paths)) return WastePattern::RepeatedLoad;
  return is_spill(pair, paths) ? WastePattern::RegisterSpill : WastePattern::InvariantLoad;
}

}  // namespace

template <>
std::span<const Spelling<WastePattern>> spellings() {
  return kPatterns;
}

WastePattern pattern_of(const WastePair& pair, const WastePaths& paths) {
  switch (pair.kind) {
    case WasteKind::DeadStore:
      return pattern_of_dead_store(pair, paths);
    case WasteKind::SilentStore:
      if (is_clearing(paths.first) && is_clearing(paths.second)) return pattern_of_clearing(pair, paths);
      return WastePattern::SameValue;
    case WasteKind::RedundantLoad:
      return pattern_of_load(pair, paths);
  }
  return WastePattern::Other;
}

bool is_clearing(const std::vector<CodeFrame>& frames) {
  return is_reached_by(frames, [](std::string_view function) {
    return std::ranges::any_of(
        kClearing, [&](std::string_view part) { return function.find(part) != std::string_view::npos; });
  });
}

bool is_constructing(const std::vector<CodeFrame>& frames) {
  return is_reached_by(frames, is_constructor);
}

}  // namespace prof
