#include "analysis/views/run/format_repairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/call_path_json.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

using Site = RepairsRecord::Site;

bool is_placed(const Site& site) {
  return site.kind != SiteFate::Declined;
}

const char* format_layout_obstacle(LockObstacle obstacle) {
  switch (obstacle) {
    case LockObstacle::Robust:
      return "robust mutexes, which the kernel releases if a thread dies";
    case LockObstacle::Priority:
      return "mutexes with priority inheritance or protection";
    case LockObstacle::Shared:
      return "process-shared mutexes";
    case LockObstacle::Spin:
      return "spin locks, which have no room for a pointer to another line";
    case LockObstacle::Elided:
      return "mutexes elided by the processor's transactions";
    case LockObstacle::Memory:
      return "out of memory";
  }
  return "";
}

std::string format_site(const CallTree& tree, const Site& site) {
  std::string text = "Allocations";
  if (site.bytes > 0) text += fmt::format(" of {}", format_bytes(static_cast<double>(site.bytes)));
  if (site.context != 0) text += " from " + format_code(frames_of(tree, site.context));
  const std::string since = format_duration(site.since_s);
  if (!is_placed(site))
    return fmt::format(
        "{}: declined after {}, because no placement separates the threads ({} accesses in conflict, {} "
        "would remain).",
        text, since, site.conflicts, site.remaining);
  text += fmt::format(": after {}, placed {}", since, format_placement(site.align, site.offset, site.pad));
  if (site.kind == SiteFate::Planned) return text + ", by the plan.";
  return text + fmt::format("; {} of {} accesses in conflict remain.", site.remaining, site.conflicts);
}

std::string format_page(const RepairsRecord::Page& page) {
  const std::string what = page.name.empty() ? fmt::format("The page at {:#x}", page.address)
                                             : fmt::format("The page of {}", page.name);
  const std::string since = format_duration(page.since_s);
  if (page.kind == PageFate::Isolated)
    return fmt::format("{}: isolated after {} ({:.0f} % of the CPU time was spent where threads shared it).",
                       what, since, 100 * page.share);
  return fmt::format("{}: shared by all threads after {}, because {}.", what, since, name_of(page.why));
}

double average(double sum, uint64_t count) {
  return count ? sum / static_cast<double>(count) : 0;
}

std::string format_conversions(const RepairsRecord& repairs) {
  return fmt::format(
      "Threads were converted to processes {} times, in {} on average and {} at most; {}, {} each; converted "
      "threads used {} of CPU time.",
      repairs.conversions, format_duration(average(repairs.conversion_s, repairs.conversions)),
      format_duration(repairs.longest_conversion_s), format_count(repairs.commits, "commit"),
      format_duration(average(repairs.commit_s, repairs.commits)), format_duration(repairs.converted_s));
}

// As a share of the CPU time of converted threads.
double cost_of_isolation(const RepairsRecord& repairs) {
  constexpr double kBothWays = 2;  // a conversion, and the way back
  const double cost = repairs.commit_s + kBothWays * repairs.conversion_s;
  return repairs.converted_s > 0 ? std::min(cost / repairs.converted_s, 1.0) : 0;
}

// As a share of CPU time, the maximum before the pages were isolated. A page may have been isolated several
// times.
double shared_before(const RepairsRecord& repairs) {
  std::map<uint64_t, double> shares;
  for (const RepairsRecord::Page& page : repairs.pages)
    if (page.kind == PageFate::Isolated) shares[page.address] = std::max(shares[page.address], page.share);
  double sum = 0;
  for (const auto& [address, share] : shares) sum += share;
  return std::min(sum, 1.0);
}

std::string percent(double share) {
  const double value = 100 * share;
  return fmt::format("{:.{}f} %", value, value < 10 ? 1 : 0);
}

std::string format_balance(const RepairsRecord& repairs) {
  std::string text = fmt::format(
      "Converted threads made {} per second; commits and conversions took {} of their CPU time",
      format_count(
          static_cast<uint64_t>(std::lround(static_cast<double>(repairs.commits) / repairs.converted_s)),
          "commit"),
      percent(cost_of_isolation(repairs)));
  if (const double before = shared_before(repairs); before > 0)
    text += fmt::format(". Before, sharing the pages took {} at most", percent(before));
  text += ".";
  if (repairs.common_meetings > 0)
    text += fmt::format(" Threads synchronized {:.2f} times as often as with shared pages.",
                        repairs.isolated_meetings / repairs.common_meetings);
  return text;
}

std::string balance_in_short(const RepairsRecord& repairs) {
  if (repairs.converted_s == 0) return {};
  const double before = shared_before(repairs);
  return fmt::format(": costs {}{}", percent(cost_of_isolation(repairs)),
                     before > 0 ? fmt::format(", sharing cost {}", percent(before)) : "");
}

std::string format_guarantee(const RepairsRecord& repairs) {
  if (repairs.guarantee == Guarantee::Annotated)
    return "All of the program's code is annotated: the memory model of C and C++ is kept.";
  return "Not all of the program's code is annotated: its data are correct if threads synchronize by calls, "
         "or by atomic instructions, which end isolation.";
}

}  // namespace

std::string repairs_in_short(const RepairsRecord& repairs) {
  if (!repairs.was_asked_for()) return {};
  std::vector<std::string> parts;
  double since_s = 0;
  uint64_t placed = 0;
  for (const Site& site : repairs.sites) {
    if (!is_placed(site)) continue;
    if (placed++ == 0) since_s = site.since_s;
  }
  const auto declined = static_cast<uint64_t>(repairs.sites.size()) - placed;
  const auto isolated = static_cast<uint64_t>(
      std::ranges::count(repairs.pages, PageFate::Isolated, &RepairsRecord::Page::kind));
  if (placed > 0) {
    // Returns one line. Leaves out its middle if it is too long.
    std::string part = fmt::format("{} after {}", format_count(placed, "site"), format_duration(since_s));
    if (repairs.placed_allocations > 0 || isolated == 0)
      part += fmt::format(": {} placed", format_count(repairs.placed_allocations, "allocation"));
    if (isolated == 0)
      part += fmt::format(", {} of padding", format_bytes(static_cast<double>(repairs.padding_bytes)));
    parts.push_back(std::move(part));
  }
  if (repairs.moved_locks > 0) parts.push_back(format_count(repairs.moved_locks, "lock") + " moved");
  if (declined > 0) parts.push_back(format_count(declined, "site") + " declined");
  const uint64_t shared = repairs.pages.size() - isolated;
  if (isolated > 0 && repairs.conversions == 0)
    parts.push_back(
        fmt::format("{} to be isolated, no thread was converted", format_count(isolated, "page")));
  else if (isolated > 0)
    parts.push_back(fmt::format(
        "{} isolated after {}{}", format_count(isolated, "page"),
        format_duration(
            std::ranges::find(repairs.pages, PageFate::Isolated, &RepairsRecord::Page::kind)->since_s),
        balance_in_short(repairs)));
  if (shared > 0) parts.push_back(fmt::format("{} left shared", format_count(shared, "page")));
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<std::string> format_repairs(const CallTree& tree, const RepairsRecord& repairs) {
  std::vector<std::string> lines;
  for (const Site& site : repairs.sites) lines.push_back(format_site(tree, site));
  if (repairs.placed_allocations > 0)
    lines.push_back(fmt::format("{} placed, with {} of padding.",
                                format_count(repairs.placed_allocations, "allocation"),
                                format_bytes(static_cast<double>(repairs.padding_bytes))));
  if (repairs.refused_allocations > 0)
    lines.push_back(
        fmt::format("{} could not be placed, because the program's allocator does not support it.",
                    format_count(repairs.refused_allocations, "allocation")));
  for (const RepairsRecord::Page& page : repairs.pages) lines.push_back(format_page(page));
  if (repairs.conversions > 0) lines.push_back(format_conversions(repairs));
  if (repairs.conversions > 0 && repairs.converted_s > 0) lines.push_back(format_balance(repairs));
  if (repairs.guarantee != Guarantee::None) lines.push_back(format_guarantee(repairs));
  if (repairs.moved_locks > 0)
    lines.push_back(
        fmt::format("{} moved to their own cache lines.", format_count(repairs.moved_locks, "lock")));
  for (const auto& [obstacle, count] : by_count(repairs.declined_locks))
    lines.push_back(
        fmt::format("{} not moved: {}.", format_count(count, "lock"), format_layout_obstacle(obstacle)));
  return lines;
}

nlohmann::ordered_json repairs_as_json(const CallTree& tree, const RepairsRecord& repairs) {
  using Json = nlohmann::ordered_json;
  Json json = fields_as_json<Json>(repairs);
  json["declined_locks"] = counts_as_json<Json>(repairs.declined_locks);
  json["sites"] = Json::array();
  for (const Site& site : repairs.sites) {
    Json& entry = json["sites"].emplace_back(fields_as_json<Json>(site, {"context"}));
    entry["frames"] = Json::array();
    if (site.context != 0) entry["frames"] = frames_as_json(frames_of(tree, site.context));
  }
  json["pages"] = Json::array();
  for (const RepairsRecord::Page& page : repairs.pages) json["pages"].push_back(fields_as_json<Json>(page));
  return json;
}

}  // namespace prof
