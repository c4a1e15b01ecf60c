#include "analysis/repair/repair_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/database/database.h"
#include "analysis/database/input.h"
#include "analysis/database/output.h"
#include "hpcrun/measurement/repair_plan.h"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr uint64_t kMaxFileBytes = 16 << 20;  // people write far less
constexpr size_t kMaxRepairs = hpcrun::kMaxPlanEntries;
constexpr size_t kMaxPathNames = 256;
constexpr uint64_t kMaxOffset = (uint64_t{1} << 48) - 1;
constexpr uint64_t kMaxBytes = INT64_MAX;
constexpr size_t kMaxBuildIdBytes = sizeof(hpcrun::PlanModule::build_id);
constexpr size_t kMaxModuleName = sizeof(hpcrun::PlanModule::path) - 1;

// Reads values of one file, and reports which of them is wrong.
class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  RepairFile read(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) fail("not JSON; remove it, and rewrite it with `prof analyze DIR`");
    const Json& schema = member(json, "schema");
    if (schema != kRepairSchema)
      fail(fmt::format("schema {}, but this prof reads {}; remove it, and rewrite it with `prof analyze DIR`",
                       schema.is_string() ? schema.get<std::string>().substr(0, 32) : "unknown",
                       kRepairSchema));
    RepairFile file;
    file.program = text_in(json, "program");
    for_each(json, "sites", [&](const Json& one) { file.sites.push_back(site_repair(one)); });
    for_each(json, "locks", [&](const Json& one) { file.locks.push_back(lock_repair(one)); });
    for_each(json, "declined", [&](const Json& one) {
      file.declined.push_back({text_in(one, "what"), text_in(one, "why")});
    });
    return file;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw RepairFileError(name_ + ": " + what); }

  [[noreturn]] void fail_at(const char* key, const char* expected) const {
    fail(fmt::format("{}{}{} is not {}; correct it, or remove the file and run `prof analyze DIR`", at_,
                     at_.empty() ? "" : ".", key, expected));
  }

  static const Json& member(const Json& object, const char* key) {
    static const Json kAbsent;
    if (!object.is_object()) return kAbsent;
    const auto at = object.find(key);
    return at == object.end() ? kAbsent : *at;
  }

  std::string text_in(const Json& object, const char* key) const {
    const Json& value = member(object, key);
    if (value.is_null()) return {};
    if (!value.is_string()) fail_at(key, "a text");
    return value.get<std::string>();
  }

  uint64_t number_in(const Json& object, const char* key, uint64_t least, uint64_t most) const {
    const Json& value = member(object, key);
    if (!value.is_number_unsigned() || value.get<uint64_t>() < least || value.get<uint64_t>() > most)
      fail_at(key, fmt::format("a number from {} to {}", least, most).c_str());
    return value.get<uint64_t>();
  }

  template <typename Visit>
  void for_each(const Json& object, const char* key, Visit visit) {
    const Json& list = member(object, key);
    if (list.is_null()) return;
    if (!list.is_array() || list.size() > kMaxRepairs)
      fail_at(key, fmt::format("a list of at most {}", kMaxRepairs).c_str());
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string outer = at_;
      at_ += fmt::format("{}{}[{}]", at_.empty() ? "" : ".", key, i);
      if (!list[i].is_object())
        fail(at_ + " is not an object; correct it, or remove the file and run `prof analyze DIR`");
      visit(list[i]);
      at_ = outer;
    }
  }

  std::vector<uint8_t> build_id_in(const Json& object) const {
    const std::string text = text_in(object, "build_id");
    std::vector<uint8_t> bytes;
    const bool is_hex = text.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_hex || text.size() % 2 != 0 || text.size() > 2 * kMaxBuildIdBytes)
      fail_at("build_id", fmt::format("a build ID, up to {} digits 0-9a-f", 2 * kMaxBuildIdBytes).c_str());
    for (size_t i = 0; i < text.size(); i += 2)
      bytes.push_back(static_cast<uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    return bytes;
  }

  ModuleAddress address_in(const Json& object) const {
    ModuleAddress address;
    address.module = text_in(object, "module");
    if (address.module.empty() || address.module.size() > kMaxModuleName ||
        address.module.find('\0') != std::string::npos)
      fail_at("module", fmt::format("the path of a file, up to {} bytes", kMaxModuleName).c_str());
    address.build_id = build_id_in(object);
    address.offset = number_in(object, "offset", 0, kMaxOffset);
    return address;
  }

  AllocationSite site_in(const Json& object) {
    AllocationSite site;
    const Json& path = member(object, "path");
    if (!path.is_null() && (!path.is_array() || path.size() > kMaxPathNames))
      fail_at("path", "a list of strings");
    for (const Json& name : path) {
      if (!name.is_string()) fail_at("path", "a list of strings");
      site.path.push_back(name.get<std::string>());
    }
    for_each(object, "frames", [&](const Json& one) { site.frames.push_back(address_in(one)); });
    if (site.frames.empty() || site.frames.size() > hpcrun::kMaxPlanFrames)
      fail_at("frames", fmt::format("a list of 1 to {}", hpcrun::kMaxPlanFrames).c_str());
    site.least_bytes = number_in(object, "least_bytes", 0, kMaxBytes);
    site.most_bytes = number_in(object, "most_bytes", site.least_bytes, kMaxBytes);
    return site;
  }

  RepairTerms terms_in(const Json& object) const {
    RepairTerms terms{text_in(object, "why"), text_in(object, "declined"), false, {}};
    if (const Json& given = member(object, "given"); !given.is_null()) {
      if (!given.is_boolean()) fail_at("given", "true or false");
      terms.is_given = given.get<bool>();
    }
    if (const Json& trial = member(object, "trial"); !trial.is_null()) {
      const Json& ratio = member(trial, "ratio");
      if (!ratio.is_number() || !(ratio.get<double>() > 0) || !(ratio.get<double>() < 1e6))
        fail_at("trial.ratio", "a number above 0");
      terms.trial =
          RepairTrial{ratio.get<double>(), static_cast<uint32_t>(number_in(trial, "pairs", 1, 1000))};
    }
    return terms;
  }

  SiteRepair site_repair(const Json& object) {
    SiteRepair repair;
    repair.site = site_in(object);
    hpcrun::Placement& placement = repair.placement;
    placement.align = static_cast<uint32_t>(number_in(object, "align", 16, 128));
    if ((placement.align & (placement.align - 1)) != 0) fail_at("align", "16, 32, 64 or 128");
    placement.offset = static_cast<uint32_t>(number_in(object, "offset", 0, placement.align - 1));
    if (placement.offset % 16 != 0) fail_at("offset", "a multiple of 16 below align");
    placement.pad = static_cast<uint32_t>(number_in(object, "pad", 1, 128));
    if (placement.pad != 1 && placement.pad != 64 && placement.pad != 128) fail_at("pad", "1, 64 or 128");
    repair.conflicts_before = number_in(object, "conflicts_before", 0, UINT64_MAX);
    repair.conflicts_after = number_in(object, "conflicts_after", 0, UINT64_MAX);
    repair.terms = terms_in(object);
    return repair;
  }

  LockRepair lock_repair(const Json& object) {
    LockRepair repair;
    repair.name = text_in(object, "name");
    if (repair.name.empty()) {
      repair.site = site_in(object);
    } else {
      repair.variable = address_in(object);
      repair.bytes = number_in(object, "bytes", 1, kMaxBytes);
    }
    repair.terms = terms_in(object);
    return repair;
  }

  const std::string name_;
  std::string at_;  // current position: "sites[0].frames[2]"
};

void put_address(const ModuleAddress& address, Json& json) {
  json["module"] = address.module;
  std::string digits;
  for (const uint8_t byte : address.build_id) digits += fmt::format("{:02x}", byte);
  json["build_id"] = digits;
  json["offset"] = address.offset;
}

void put_site(const AllocationSite& site, Json& json) {
  json["path"] = site.path;
  json["frames"] = Json::array();
  for (const ModuleAddress& frame : site.frames)
    put_address(frame, json["frames"].emplace_back(Json::object()));
  json["least_bytes"] = site.least_bytes;
  json["most_bytes"] = site.most_bytes;
}

void put_terms(const RepairTerms& terms, Json& json) {
  json["why"] = terms.why;
  if (!terms.declined.empty()) json["declined"] = terms.declined;
  if (terms.is_given) json["given"] = true;
  if (terms.trial) json["trial"] = {{"ratio", terms.trial->ratio}, {"pairs", terms.trial->pairs}};
}

bool is_kept(const RepairTerms& terms) {
  return terms.is_given || terms.trial || !terms.declined.empty();
}

template <typename Repair>
std::vector<Repair> merge(const std::vector<Repair>& known, std::vector<Repair> found) {
  std::vector<Repair> all;
  for (const Repair& one : known)
    if (is_kept(one.terms)) all.push_back(one);
  for (Repair& one : found)
    if (std::none_of(all.begin(), all.end(), [&](const Repair& other) { return is_same_data(one, other); }))
      all.push_back(std::move(one));
  if (all.size() > kMaxRepairs) all.resize(kMaxRepairs);
  return all;
}

// Removes duplicates, because several processes may report the same.
std::vector<DeclinedRepair> each_once(const std::vector<DeclinedRepair>& all) {
  std::vector<DeclinedRepair> some;
  for (const DeclinedRepair& one : all)
    if (some.size() < kMaxRepairs && std::find(some.begin(), some.end(), one) == some.end())
      some.push_back(one);
  return some;
}

}  // namespace

bool is_same_data(const SiteRepair& left, const SiteRepair& right) {
  return left.site.frames == right.site.frames;
}

bool is_same_data(const LockRepair& left, const LockRepair& right) {
  return left.variable == right.variable && left.site.frames == right.site.frames;
}

RepairFile parse_repair_file(std::string_view text, const std::string& name) {
  return Reader(name).read(text);
}

RepairFile read_repair_file(const fs::path& path) {
  std::string text;
  try {
    text = read_text_file(path, kMaxFileBytes);
  } catch (const DatabaseError& error) {
    throw RepairFileError(error.what());
  }
  return parse_repair_file(text, path.string());
}

std::string repair_file_text(const RepairFile& file) {
  Json json{{"schema", kRepairSchema}, {"program", file.program}};
  for (const char* key : {"sites", "locks", "declined"}) json[key] = Json::array();
  for (const SiteRepair& repair : file.sites) {
    Json& one = json["sites"].emplace_back(Json::object());
    put_site(repair.site, one);
    one["align"] = repair.placement.align;
    one["offset"] = repair.placement.offset;
    one["pad"] = repair.placement.pad;
    one["conflicts_before"] = repair.conflicts_before;
    one["conflicts_after"] = repair.conflicts_after;
    put_terms(repair.terms, one);
  }
  for (const LockRepair& repair : file.locks) {
    Json& one = json["locks"].emplace_back(Json::object());
    if (repair.name.empty()) {
      put_site(repair.site, one);
    } else {
      one["name"] = repair.name;
      put_address(repair.variable, one);
      one["bytes"] = repair.bytes;
    }
    put_terms(repair.terms, one);
  }
  for (const DeclinedRepair& declined : file.declined)
    json["declined"].push_back({{"what", declined.what}, {"why", declined.why}});
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_repair_file(const RepairFile& file, const fs::path& path) {
  try {
    write_text_file(path, repair_file_text(file));
  } catch (const std::exception& error) {
    throw RepairFileError(error.what());
  }
}

RepairFile merged(const RepairFile& known, RepairFile found) {
  found.sites = merge(known.sites, std::move(found.sites));
  found.locks = merge(known.locks, std::move(found.locks));
  found.declined = each_once(found.declined);
  return found;
}

}  // namespace prof
