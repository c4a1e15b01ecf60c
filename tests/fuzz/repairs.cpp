// libFuzzer entry: arbitrary bytes as a repair file (repair.json). If it is read, it can be written and read
// again, and becomes a valid plan.

#include <cstdlib>
#include <string_view>

#include "analysis/repair/repair_file.h"
#include "hpcrun/measurement/repair_plan.h"

using namespace prof;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check(const AllocationSite& site) {
  check(!site.frames.empty() && site.frames.size() <= hpcrun::kMaxPlanFrames);
  check(site.least_bytes <= site.most_bytes);
  for (const ModuleAddress& frame : site.frames)
    check(frame.module.size() < sizeof(hpcrun::PlanModule::path) &&
          frame.build_id.size() <= sizeof(hpcrun::PlanModule::build_id));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const RepairFile file = parse_repair_file(text, "repair.json");
    for (const SiteRepair& repair : file.sites) {
      check(repair.site);
      const hpcrun::Placement& placement = repair.placement;
      check((placement.align & (placement.align - 1)) == 0 && placement.align >= 16 &&
            placement.align <= 128);
      check(placement.offset < placement.align && placement.offset % 16 == 0);
      check(placement.pad == 1 || placement.pad == 64 || placement.pad == 128);
    }
    for (const LockRepair& repair : file.locks)
      if (repair.name.empty()) check(repair.site);
    const std::string written = repair_file_text(file);
    check(repair_file_text(parse_repair_file(written, "repair.json")) == written);
  } catch (const RepairFileError& error) {
    check(std::string_view(error.what()).starts_with("repair.json: "));
  }
  return 0;
}
