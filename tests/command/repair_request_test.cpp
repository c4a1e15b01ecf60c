// Whatever a repair file contains, the plan made from it is valid for the runtime.

#include "prof/repair/repair_request.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "hpcrun/measurement/repair_plan.h"

using namespace prof;

namespace {

// A plan as the runtime maps it: at a multiple of 8.
class MappedPlan {
 public:
  explicit MappedPlan(const RepairFile& file) {
    const std::string bytes = repair_plan(file);
    words_.resize((bytes.size() + 7) / 8);
    std::memcpy(words_.data(), bytes.data(), bytes.size());
    REQUIRE(hpcrun::check_repair_plan(words_.data(), bytes.size(), view_));
  }
  const hpcrun::PlanView& view() const { return view_; }

 private:
  std::vector<uint64_t> words_;
  hpcrun::PlanView view_;
};

AllocationSite site(uint64_t least_bytes, uint64_t most_bytes) {
  return {{}, {{"/bin/app", {0xab}, 0x1000}, {"/bin/app", {0xab}, 0x2000}}, least_bytes, most_bytes};
}

SiteRepair placed(const AllocationSite& site, const hpcrun::Placement& placement) {
  return {site, placement, 9, 0, {}};
}

}  // namespace

TEST_CASE("a site of which the sizes are not known is placed whatever its allocations have") {
  RepairFile file;
  file.sites = {placed(site(0, INT64_MAX), {64, 16, 64})};
  file.locks = {{{}, {}, 0, site(0, INT64_MAX), {}},
                {"pool", {"/bin/app", {0xab}, 0x4000}, INT64_MAX, {}, {}}};
  const MappedPlan plan(file);
  REQUIRE(plan.view().entry_count == 2);  // no variable is that large
  for (uint32_t i = 0; i < 2; ++i) {
    CHECK(plan.view().entries[i].least_bytes == 1);
    CHECK(plan.view().entries[i].most_bytes == hpcrun::kMaxPlannedBytes);
  }
}

TEST_CASE("a placement that changes nothing, and sizes that no allocation has, are left out of the plan") {
  RepairFile file;
  file.sites = {placed(site(24, 40), {16, 0, 1}), placed(site(24, 40), {64, 0, 64}),
                placed(site(uint64_t{1} << 50, uint64_t{1} << 51), {64, 0, 64})};
  const MappedPlan plan(file);
  REQUIRE(plan.view().entry_count == 1);
  CHECK(plan.view().entries[0].align == 64);
  file.sites.resize(1);
  CHECK(repair_plan(file).empty());
}

TEST_CASE("modules are distinguished by names as long as files have them") {
  RepairFile file;
  file.sites = {placed(site(24, 40), {64, 0, 64})};
  ModuleAddress& frame = file.sites[0].site.frames[1];
  frame.module = "/" + std::string(1022, 'd');
  frame.build_id.assign(64, 0xcd);
  const MappedPlan plan(file);
  REQUIRE(plan.view().module_count == 2);
  CHECK(plan.view().modules[1].path == frame.module);
  CHECK(plan.view().modules[1].build_id_bytes == 64);
  CHECK(plan.view().modules[1].build_id[63] == 0xcd);
}
