#pragma once
// repair.json: the repairs that `prof analyze` proposes for contention that runs found, and those that it
// declines (docs/json.md, "Repairs"). People may edit it. `prof run --repair=layout:FILE` converts it to the
// plan that the runtime reads (hpcrun/measurement/repair_plan.h).

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/run/allocation_site.h"
#include "hpcrun/model/placement.h"

namespace prof {

// The speed-up that `prof run --repair --verify` measured.
struct RepairTrial {
  double ratio = 0;  // time without over time with the repair, the median of pairs
  uint32_t pairs = 0;

  bool operator==(const RepairTrial&) const = default;
};

// The terms that every repair has.
struct RepairTerms {
  std::string why;        // the finding, as a sentence
  std::string declined;   // why it is not made although it could be; empty if it is made
  bool is_given = false;  // by the file that the program was run with; not found by that run
  std::optional<RepairTrial> trial;

  bool operator==(const RepairTerms&) const = default;
};

struct SiteRepair {
  AllocationSite site;
  hpcrun::Placement placement;
  uint64_t conflicts_before = 0;  // in sampled accesses, for comparison only
  uint64_t conflicts_after = 0;
  RepairTerms terms;

  bool operator==(const SiteRepair&) const = default;
};

// Locks whose cache line is falsely shared: in a variable, or in allocations.
struct LockRepair {
  std::string name;  // of the variable; empty if `site` has the locks
  ModuleAddress variable;
  uint64_t bytes = 0;  // of the variable
  AllocationSite site;
  RepairTerms terms;

  bool operator==(const LockRepair&) const = default;
};

// A finding that no change of the running program can fix.
struct DeclinedRepair {
  std::string what;  // the finding, as a sentence
  std::string why;

  bool operator==(const DeclinedRepair&) const = default;
};

// True if they are about the same data, whatever they do to it.
bool is_same_data(const SiteRepair& left, const SiteRepair& right);
bool is_same_data(const LockRepair& left, const LockRepair& right);

struct RepairFile {
  std::string program;
  std::vector<SiteRepair> sites;
  std::vector<LockRepair> locks;
  std::vector<DeclinedRepair> declined;

  bool is_empty() const { return sites.empty() && locks.empty(); }
  bool operator==(const RepairFile&) const = default;
};

constexpr char kRepairFile[] = "repair.json";  // in the measurement directory
constexpr std::string_view kRepairSchema = "prof-repair/1";

// what() is one line that names the file, what is wrong and how to fix it.
class RepairFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws RepairFileError: no such file, not JSON, another schema, a value that is missing or out of range.
RepairFile read_repair_file(const std::filesystem::path& path);
// Parses a text. `name`: its name in messages.
RepairFile parse_repair_file(std::string_view text, const std::string& name);

// Replaces the file, or leaves it unchanged. Throws RepairFileError if it cannot be written.
void write_repair_file(const RepairFile& file, const std::filesystem::path& path);
std::string repair_file_text(const RepairFile& file);

// Merges repairs that a run found into known ones. Repairs that were tried or given stay unchanged. What an
// earlier analysis found is replaced for the same sites, and removed otherwise. The result has at most as
// many repairs as a file may have.
RepairFile merged(const RepairFile& known, RepairFile found);

}  // namespace prof
