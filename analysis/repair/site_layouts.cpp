#include "analysis/repair/site_layouts.h"

#include <algorithm>
#include <map>
#include <set>

#include "hpcrun/measurement/format.h"

namespace prof {
namespace {

using hpcrun::line_of;
using hpcrun::ObjectUse;

// The model's time is quadratic in this number. Uses with most accesses come first.
constexpr size_t kMaxUses = 4096;

ObjectUse use_of(const ContentionSide& side, uint32_t object, uint64_t offset) {
  return {side.thread, object, offset, side.bytes, hpcrun::writes(side.kind), side.accesses};
}

uint64_t address_of(const ContentionSide& side, std::span<const DataObject> objects) {
  return (side.object < objects.size() ? objects[side.object].begin : 0) + side.offset;
}

// Counts the conflicts on the lines that contain objects of the site, including their neighbours.
uint64_t conflicts_as_they_lay(const ContendedData& found, std::span<const DataObject> objects,
                               uint32_t site) {
  std::set<uint64_t> lines;
  for (const ContentionSide& side : found.sides) {
    if (side.object >= objects.size() || objects[side.object].site != site) continue;
    lines.insert(line_of(address_of(side, objects)));
    lines.insert(line_of(address_of(side, objects) + side.bytes - 1));
  }
  std::vector<ObjectUse> uses;
  for (const ContentionSide& side : found.sides) {
    const uint64_t address = address_of(side, objects);
    const bool is_there =
        lines.contains(line_of(address)) || lines.contains(line_of(address + side.bytes - 1));
    if (is_there && uses.size() < kMaxUses) uses.push_back(use_of(side, 0, address));
  }
  return hpcrun::conflicts_at(uses.data(), static_cast<uint32_t>(uses.size()), 0);
}

void note_object(const DataObject& object, SiteLayout& layout) {
  layout.is_mapping &= object.begin % hpcrun::kPageBytes == 0 && object.bytes >= hpcrun::kPageBytes;
  layout.least_bytes = std::min(layout.least_bytes, object.bytes);
  layout.align = std::max(layout.align, object.align);
  layout.most_bytes = std::max(layout.most_bytes, object.bytes == 0 ? INT64_MAX : object.bytes);
}

}  // namespace

std::vector<SiteLayout> lay_out_sites(const ContendedData& found, std::span<const DataObject> objects) {
  std::map<uint32_t, SiteLayout> sites;
  for (const uint32_t object : found.objects) {
    if (objects[object].kind != ObjectKind::Heap) continue;
    const auto [at, is_new] = sites.try_emplace(objects[object].site);
    SiteLayout& layout = at->second;
    if (is_new) {
      layout.site = objects[object].site;
      layout.least_bytes = UINT64_MAX;
      layout.is_mapping = true;
    }
    layout.objects.push_back(object);
    note_object(objects[object], layout);
  }
  std::vector<SiteLayout> all;
  for (auto& [site, layout] : sites) {
    std::vector<ObjectUse> uses;
    for (const ContentionSide& side : found.sides)
      if (side.object < objects.size() && objects[side.object].site == site && uses.size() < kMaxUses)
        uses.push_back(use_of(side, side.object, side.offset));
    layout.conflicts_before = conflicts_as_they_lay(found, objects, site);
    const auto choose = [&uses, conflicts = layout.conflicts_before](uint64_t align) {
      return hpcrun::choose_placement(uses.data(), static_cast<uint32_t>(uses.size()), conflicts, align);
    };
    const hpcrun::ChosenPlacement chosen = choose(layout.align);
    layout.placement = chosen.placement;
    layout.is_bound = layout.placement == hpcrun::kAsAllocated && choose(1).placement != hpcrun::kAsAllocated;
    layout.conflicts_after = chosen.conflicts;
    all.push_back(std::move(layout));
  }
  return all;
}

}  // namespace prof
