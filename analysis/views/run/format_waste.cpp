#include "analysis/views/run/format_waste.h"

#include <fmt/format.h>

#include "analysis/views/run/waste_pattern.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

using hpcrun::WasteKind;

const char* access_word(WasteKind kind) {
  return kind == WasteKind::RedundantLoad ? "load" : "store";
}

const char* first_verb(const WastePair& pair, const WastePaths& paths) {
  if (pair.kind == WasteKind::RedundantLoad) return "loaded";
  if (is_clearing(paths.first)) return "cleared";
  return pair.kind == WasteKind::DeadStore && is_constructing(paths.first) ? "initialized" : "stored";
}

const char* second_verb(WasteKind kind) {
  switch (kind) {
    case WasteKind::DeadStore:
      return "overwritten";
    case WasteKind::SilentStore:
      return "stored again with the same value";
    case WasteKind::RedundantLoad:
      return "loaded again unchanged";
  }
  return "";
}

}  // namespace

std::string format_waste_kind(WasteKind kind) {
  switch (kind) {
    case WasteKind::DeadStore:
      return "Dead store";
    case WasteKind::SilentStore:
      return "Silent store";
    case WasteKind::RedundantLoad:
      return "Redundant load";
  }
  return "";
}

std::string format_share(const WasteShare& share) {
  const std::string value = format_percent(share.value);
  if (!share.is_estimate) return value;
  const std::string low = format_percent(share.low), high = format_percent(share.high);
  // Both bounds have the unit if the lower one is not a plain number.
  const std::string from = low.ends_with(" %") && !low.starts_with('<') ? low.substr(0, low.size() - 2) : low;
  return fmt::format("{} ({} to {})", value, from, high);
}

std::string format_checked(const WasteShare& share, WasteKind kind) {
  return fmt::format("{} bytes {}", share.is_estimate ? "sampled" : "all",
                     kind == WasteKind::RedundantLoad ? "loaded" : "written");
}

std::string format_wasted_data(const CallTree& tree, const WastePair& pair) {
  if (!pair.name.empty()) return pair.name;
  if (pair.allocation != 0)
    return fmt::format("memory allocated by {}", format_code(program_part(frames_of(tree, pair.allocation))));
  return pair.on_stack ? "stack memory" : "memory";
}

std::string format_waste(const CallTree& tree, const WastePair& pair) {
  const WastePaths paths = paths_of(tree, pair);
  const std::string first = fmt::format("{} is {} by {}", format_wasted_data(tree, pair),
                                        first_verb(pair, paths), format_code(paths.first));
  if (pair.frame_ended)
    return fmt::format("{} and not read before {} returns", first, format_function(paths.second));
  const std::string second = is_one_line(paths) ? "there" : fmt::format("by {}", format_code(paths.second));
  return fmt::format("{} and {} {}{}", first, second_verb(pair.kind), second,
                     pair.kind == WasteKind::DeadStore ? " before it is read" : "");
}

std::string format_waste_total(const MemoryWasteRecord& record, const WasteTotal& total) {
  const std::string kind = format_waste_kind(total.kind) + "s";
  if (total.checked_count == 0)
    return fmt::format("{}: no {} was {}", kind, access_word(total.kind),
                       record.is_exact ? "executed" : "decided");
  const std::string noun = (record.is_exact ? "" : "sampled ") + std::string(access_word(total.kind));
  const WasteShare share = waste_share(record, total, total.wasted_bytes);
  std::string text = fmt::format(
      "{}: {} of {}: {} of {}, by {}", kind, format_share(share), format_checked(share, total.kind),
      format_bytes(static_cast<double>(total.wasted_bytes)),
      format_bytes(static_cast<double>(total.checked_bytes)), format_count(total.checked_count, noun));
  if (total.undecided_count > 0) text += fmt::format("; {} more were not decided", total.undecided_count);
  return text;
}

}  // namespace prof
