#include "prof/repair/repair_request.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>

#include "analysis/attribution/module_file.h"
#include "analysis/files/folder.h"
#include "analysis/words/nearest_name.h"
#include "hpcrun/measurement/repair_plan.h"
#include "hpcrun/sample/config.h"
#include "prof/base/message.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFileOfLayout = "layout:";
// Kinds that may follow a file's name, which may contain commas.
constexpr std::string_view kBehindFile[] = {",locks", ",isolate", ",isolate:always", ",layout"};

fs::path file_of(const std::string& text) {
  std::error_code error;
  return fs::is_directory(text, error) ? fs::path(text) / kRepairFile : fs::path(text);
}

std::string_view without_kinds_behind(std::string_view text) {
  for (;;) {
    const auto* const kind =
        std::ranges::find_if(kBehindFile, [&](std::string_view one) { return text.ends_with(one); });
    if (kind == std::end(kBehindFile)) return text;
    text.remove_suffix(kind->size());
  }
}

// Compares modules with what they were when the repairs were found. Each is examined once.
class Modules {
 public:
  // Returns how its code has changed; empty if it is the same.
  const std::string& change(const ModuleAddress& address) {
    const auto [at, is_new] = changes_.try_emplace({address.module, address.build_id});
    if (!is_new) return at->second;
    ModuleFile file;
    switch (file.open({address.module, address.build_id, 0}, options_)) {
      case OpenFailure::None:
        break;
      case OpenFailure::Changed:
      case OpenFailure::Another:
        at->second = "was rebuilt since";
        break;
      case OpenFailure::Missing:
        at->second = "no longer exists";
        break;
      default:
        at->second = "cannot be read";
    }
    return at->second;
  }

 private:
  AttributionOptions options_;
  std::map<std::pair<std::string, std::vector<uint8_t>>, std::string> changes_;
};

// Returns the reason for the code of a site, or for a variable; empty if all of it is unchanged.
std::string reason_left_out(const std::vector<ModuleAddress>& addresses, Modules& modules) {
  for (const ModuleAddress& address : addresses)
    if (const std::string& change = modules.change(address); !change.empty())
      return address.module + " " + change;
  return {};
}

class PlanWriter {
 public:
  void add_site(const AllocationSite& site, const hpcrun::Placement& placement) {
    if (placement != hpcrun::kAsAllocated)
      add(hpcrun::PlanKind::Place, site.frames, placement, site.least_bytes, site.most_bytes);
  }

  void add_locks(const AllocationSite& site) {
    add(hpcrun::PlanKind::SiteLocks, site.frames, {}, site.least_bytes, site.most_bytes);
  }

  void add_variable(const ModuleAddress& variable, uint64_t bytes) {
    add(hpcrun::PlanKind::GlobalLocks, std::span(&variable, 1), {}, bytes, bytes);
  }

  std::string finish() const {
    hpcrun::PlanHeader header{};
    std::memcpy(header.magic, hpcrun::kRepairPlanMagic, sizeof header.magic);
    header.entry_count = static_cast<uint32_t>(entries_.size());
    header.frame_count = static_cast<uint32_t>(frames_.size());
    header.module_count = static_cast<uint32_t>(modules_.size());
    return entries_.empty() ? ""
                            : bytes_of(header) + bytes_of(entries_) + bytes_of(frames_) + bytes_of(modules_);
  }

 private:
  template <typename T>
  static std::string bytes_of(const T& one) {
    return std::string(reinterpret_cast<const char*>(&one), sizeof one);
  }
  template <typename T>
  static std::string bytes_of(const std::vector<T>& all) {
    return std::string(reinterpret_cast<const char*>(all.data()), all.size() * sizeof(T));
  }

  // Adds an entry. Anything beyond the plan's limits, which are larger than any finding, is omitted. Unknown
  // sizes match all allocations.
  void add(hpcrun::PlanKind kind, std::span<const ModuleAddress> frames, const hpcrun::Placement& placement,
           uint64_t least_bytes, uint64_t most_bytes) {
    least_bytes = std::max<uint64_t>(least_bytes, 1);
    most_bytes = std::min(most_bytes, hpcrun::kMaxPlannedBytes);
    if (entries_.size() == hpcrun::kMaxPlanEntries || least_bytes > most_bytes) return;
    const auto first = static_cast<uint32_t>(frames_.size());
    for (const ModuleAddress& frame : frames) {
      const uint32_t module = module_of(frame);
      if (module == hpcrun::kMaxPlanModules) break;
      frames_.push_back({module, 0, frame.offset});
    }
    const auto count = static_cast<uint32_t>(frames_.size()) - first;
    if (count > 0)
      entries_.push_back(
          {kind, first, count, placement.align, placement.offset, placement.pad, least_bytes, most_bytes});
  }

  uint32_t module_of(const ModuleAddress& address) {
    hpcrun::PlanModule module{};
    module.build_id_bytes = static_cast<uint8_t>(std::min(address.build_id.size(), sizeof module.build_id));
    std::copy_n(address.build_id.begin(), module.build_id_bytes, module.build_id);
    address.module.copy(module.path, sizeof module.path - 1);
    const auto known = std::ranges::find_if(modules_, [&](const hpcrun::PlanModule& other) {
      return std::memcmp(&other, &module, sizeof module) == 0;
    });
    const auto index = static_cast<uint32_t>(known - modules_.begin());
    if (known == modules_.end() && index < hpcrun::kMaxPlanModules) modules_.push_back(module);
    return index;
  }

  std::vector<hpcrun::PlanEntry> entries_;
  std::vector<hpcrun::PlanFrame> frames_;
  std::vector<hpcrun::PlanModule> modules_;
};

}  // namespace

RepairRequest parse_repair_request(const std::string& text) {
  RepairRequest request;
  if (text == "none") return request;
  for (std::string_view rest = text;;) {
    const size_t end = std::min(rest.find(','), rest.size());
    std::string_view kind = rest.substr(0, end);
    if (rest.starts_with(kFileOfLayout)) {
      kind = without_kinds_behind(rest);
      request.layout = true;
      request.file = file_of(std::string(kind.substr(kFileOfLayout.size())));
      if (request.file.empty())
        fail(kOwnFailure, "--repair=layout: needs a file; use the repair.json that `prof analyze` writes");
    } else if (kind == hpcrun::kRepairLayout) {
      request.layout = true;
    } else if (kind == hpcrun::kRepairLocks) {
      request.locks = true;
    } else if (kind == hpcrun::kRepairIsolate || kind == hpcrun::kRepairIsolateAlways) {
      const bool is_always = kind == hpcrun::kRepairIsolateAlways;
      request.isolate = true;
      request.isolate_always |= is_always;
      // The strongest repair includes the others: data that a placement separates has no further cost, and
      // the page of a lock is never isolated.
      request.layout |= !is_always;
      request.locks |= !is_always;
    } else {
      fail(kOwnFailure,
           "--repair: '{}' is not one of: layout, layout:FILE, locks, isolate, isolate:always, none{}", kind,
           did_you_mean(std::string(kind), {"layout", "locks", "isolate", "isolate:always", "none"}));
    }
    if (kind.size() == rest.size()) return request;
    rest.remove_prefix(kind.size() + 1);
  }
}

// Before that version, a signal of an event kills a thread that blocks it briefly.
void require_kernel_for_isolation(const std::string& release, const std::string& asked,
                                  const std::string& instead) {
  constexpr std::pair kMinKernel{5, 19};
  std::pair version{0, 0};
  if (std::sscanf(release.c_str(), "%d.%d", &version.first, &version.second) == 2 && version < kMinKernel)
    fail(kOwnFailure, "{} needs Linux 5.19 or later, but this is {}; leave it out, or use {}", asked, release,
         instead);
}

std::vector<RepairKindDescription> list_repairs() {
  return {{"layout", "heap layout: re-lays out falsely shared allocations for the rest of the run"},
          {"layout:FILE", "heap layout from the start, with the repair.json of an earlier run"},
          {"locks", "moves locks that share a cache line to separate lines"},
          {"isolate",
           "isolates falsely shared pages: private per thread, merged at synchronization; includes layout "
           "and locks"},
          {"isolate:always", "isolates small objects and variables, shared or not; to test the mechanism"}};
}

std::string name_of(const AllocationSite& site) {
  return site.path.empty() ? fmt::format("allocations of {} bytes", site.least_bytes)
                           : "allocations of " + site.path[std::min<size_t>(1, site.path.size() - 1)];
}

std::string name_of(const LockRepair& locks) {
  return "locks in " + (locks.name.empty() ? name_of(locks.site) : locks.name);
}

RepairFile applicable_repairs(const RepairFile& file, const RepairRequest& request,
                              std::vector<std::string>& left_out) {
  Modules modules;
  RepairFile all;
  all.program = file.program;
  const auto applies = [&](const RepairTerms& terms, const std::vector<ModuleAddress>& addresses,
                           const std::string& name) {
    if (!terms.declined.empty()) return false;
    const std::string why = reason_left_out(addresses, modules);
    if (!why.empty()) left_out.push_back(fmt::format("{}: not repaired, because {}", name, why));
    return why.empty();
  };
  if (request.layout)
    for (const SiteRepair& repair : file.sites)
      if (applies(repair.terms, repair.site.frames, name_of(repair.site))) all.sites.push_back(repair);
  if (request.locks)
    for (const LockRepair& repair : file.locks) {
      const bool is_variable = !repair.name.empty();
      if (applies(repair.terms, is_variable ? std::vector{repair.variable} : repair.site.frames,
                  name_of(repair)))
        all.locks.push_back(repair);
    }
  return all;
}

GivenRepairs read_given_repairs(const RepairRequest& request) {
  GivenRepairs given;
  if (request.file.empty()) return given;
  try {
    given.repairs = applicable_repairs(read_repair_file(request.file), request, given.left_out);
  } catch (const RepairFileError& error) {
    given.problem = error.what();
    return given;
  }
  for (SiteRepair& repair : given.repairs.sites) repair.terms.is_given = true;
  for (LockRepair& repair : given.repairs.locks) repair.terms.is_given = true;
  return given;
}

std::string repair_plan(const RepairFile& file) {
  PlanWriter plan;
  for (const SiteRepair& repair : file.sites) plan.add_site(repair.site, repair.placement);
  for (const LockRepair& repair : file.locks) {
    if (repair.name.empty())
      plan.add_locks(repair.site);
    else
      plan.add_variable(repair.variable, repair.bytes);
  }
  return plan.finish();
}

void write_repair_plan(const std::string& plan, const fs::path& directory) {
  const fs::path path = directory / hpcrun::kRepairPlanFile;
  try {
    write_own_file(path, plan);
  } catch (const WriteError&) {
    fail(kOwnFailure, "cannot write {}; free disk space, or choose another directory with -o", path.string());
  }
}

void add_repair_environment(const RepairRequest& request, bool has_plan,
                            std::vector<std::pair<std::string, std::string>>& environment) {
  if (!request.is_for_anything()) return;
  std::string kinds = request.layout ? hpcrun::kRepairLayout : "";
  if (request.locks) kinds += (kinds.empty() ? "" : ",") + std::string(hpcrun::kRepairLocks);
  if (request.isolate)
    kinds += (kinds.empty() ? "" : ",") +
             std::string(request.isolate_always ? hpcrun::kRepairIsolateAlways : hpcrun::kRepairIsolate);
  environment.emplace_back(hpcrun::kEnvRepair, kinds);
  if (request.isolate)
    environment.emplace_back(hpcrun::kEnvIsolate, request.isolate_always ? "1" : hpcrun::kIsolateWhenAsked);
  if (has_plan) environment.emplace_back(hpcrun::kEnvRepairPlan, "1");
}

void add_isolating_allocator(const fs::path& allocator, const std::string& users_tunables,
                             std::vector<std::pair<std::string, std::string>>& environment) {
  constexpr const char* kRoom = "glibc.rtld.optional_static_tls=4096";
  environment.emplace_back(hpcrun::kEnvIsolatingAllocator, allocator.string());
  environment.emplace_back(hpcrun::kEnvTunables,
                           users_tunables.empty() ? kRoom : fmt::format("{}:{}", users_tunables, kRoom));
}

}  // namespace prof
