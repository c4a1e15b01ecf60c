// repair.json: what is written is read again, and errors in a file are named.

#include "analysis/repair/repair_file.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace prof;
using Json = nlohmann::json;

namespace {

ModuleAddress code(uint64_t offset) {
  return {"/home/me/app", {0xab, 0x01}, offset};
}

SiteRepair site_repair(uint64_t offset) {
  SiteRepair repair;
  repair.site = {{"make (app.cpp:3)", "main (app.cpp:9)"}, {code(offset), code(0x2000)}, 40, 48};
  repair.placement = {64, 16, 64};
  repair.conflicts_before = 120;
  repair.conflicts_after = 3;
  repair.terms.why = "2 threads use different bytes.";
  return repair;
}

LockRepair lock_in_variable() {
  return {"locks", {"/lib/libl.so", {}, 0x4040}, 320, {}, {"2 threads take locks.", {}, {}, {}}};
}

RepairFile example() {
  RepairFile file{
      "app", {site_repair(0x1000)}, {lock_in_variable()}, {{"They share truly.", "the same bytes"}}};
  file.locks.push_back({{}, {}, 0, site_repair(0x1100).site, {"why", "tried", true, RepairTrial{1.5, 3}}});
  return file;
}

std::string error_of(const std::string& text) {
  try {
    parse_repair_file(text, "repair.json");
  } catch (const RepairFileError& error) {
    return error.what();
  }
  return "";
}

// Returns the error for the example with one value changed.
std::string error_with(const std::string& pointer, const Json& value) {
  Json json = Json::parse(repair_file_text(example()));
  json[Json::json_pointer(pointer)] = value;
  return error_of(json.dump());
}

}  // namespace

TEST_CASE("a repair file is read as it was written") {
  CHECK(parse_repair_file(repair_file_text(example()), "repair.json") == example());
  CHECK(parse_repair_file(repair_file_text({}), "repair.json") == RepairFile{});
}

TEST_CASE("names as long as programs have them are read as they were written") {
  RepairFile file = example();
  file.sites[0].site.frames[0] = {"/" + std::string(1022, 'd'), std::vector<uint8_t>(64, 0xab), 0x1000};
  file.locks[0].variable.build_id.assign(32, 0xcd);  // SHA-256
  CHECK(parse_repair_file(repair_file_text(file), "repair.json") == file);
}

TEST_CASE("what is no repair file is refused with the remedy") {
  CHECK(error_of("{") == "repair.json: not JSON; remove it, and rewrite it with `prof analyze DIR`");
  CHECK(error_of("[]").find("schema unknown") != std::string::npos);
  CHECK(error_with("/schema", "prof-repair/9").find("schema prof-repair/9, but this prof reads prof-repair/1;") !=
        std::string::npos);
}

TEST_CASE("values out of range are named with their place") {
  struct Case {
    const char* pointer;
    Json value;
    const char* says;
  };
  for (const Case& one : std::vector<Case>{
           {"/sites", 3, "sites is not a list of at most 256"},
           {"/sites/0", "x", "sites[0] is not an object"},
           {"/sites/0/align", 48, "sites[0].align is not 16, 32, 64 or 128"},
           {"/sites/0/align", 256, "sites[0].align is not a number from 16 to 128"},
           {"/sites/0/align", -64, "sites[0].align is not a number"},
           {"/sites/0/align", "64", "sites[0].align is not a number"},
           {"/sites/0/offset", 8, "sites[0].offset is not a multiple of 16 below align"},
           {"/sites/0/offset", 64, "sites[0].offset is not a number from 0 to 63"},
           {"/sites/0/pad", 32, "sites[0].pad is not 1, 64 or 128"},
           {"/sites/0/most_bytes", 39, "sites[0].most_bytes is not a number from 40"},
           {"/sites/0/frames", Json::array(), "sites[0].frames is not a list of 1 to 16"},
           {"/sites/0/frames/1/offset", 1e20, "sites[0].frames[1].offset is not a number"},
           {"/sites/0/frames/1/build_id", "xyz", "sites[0].frames[1].build_id is not a build ID"},
           {"/sites/0/frames/1/build_id", std::string(130, '0'), "frames[1].build_id is not a build ID"},
           {"/sites/0/frames/1/module", "", "sites[0].frames[1].module is not the path of a file"},
           {"/sites/0/frames/1/module", std::string("a\0b", 3), "module is not the path of a file"},
           {"/sites/0/path", "main", "sites[0].path is not a list of strings"},
           {"/locks/0/bytes", 0, "locks[0].bytes is not a number from 1"},
           {"/locks/1/trial/ratio", 0, "locks[1].trial.ratio is not a number above 0"},
           {"/locks/1/given", 1, "locks[1].given is not true or false"},
           {"/declined/0/why", 1, "declined[0].why is not a text"},
       }) {
    CAPTURE(one.pointer, one.value.dump());
    const std::string says = error_with(one.pointer, one.value);
    CHECK(says.find(one.says) != std::string::npos);
    CHECK(says.size() < 160);
  }
}

TEST_CASE("keys that are not known, and those that may be absent, do no harm") {
  CHECK(error_with("/sites/0/new", 1).empty());
  CHECK(error_with("/new", Json::object()).empty());
  CHECK(parse_repair_file(R"({"schema": "prof-repair/1"})", "repair.json") == RepairFile{});
}

TEST_CASE("an analysis keeps what was given or tried, and replaces what was found before") {
  RepairFile known;
  known.sites = {site_repair(1), site_repair(2), site_repair(3), site_repair(4)};
  known.sites[1].terms.is_given = true;
  known.sites[2].terms.declined = "tried";
  known.sites[3].terms.trial = RepairTrial{1.9, 3};
  known.locks = {lock_in_variable()};
  known.declined = {{"old", "old"}};
  RepairFile found;
  found.program = "app";
  found.sites = {site_repair(3), site_repair(5)};
  found.declined = {{"new", "new"}};
  const RepairFile all = merged(known, found);
  REQUIRE(all.sites.size() == 4);
  CHECK(all.sites[0] == known.sites[1]);
  CHECK(all.sites[1] == known.sites[2]);
  CHECK(all.sites[2] == known.sites[3]);
  CHECK(all.sites[3] == found.sites[1]);
  CHECK(all.locks.empty());
  CHECK(all.declined == found.declined);
  CHECK(merged(all, found) == all);
}

TEST_CASE("however much was found, the file can be read again") {
  RepairFile found;
  for (uint64_t i = 0; i < 300; ++i) {
    found.sites.push_back(site_repair(i));
    found.locks.push_back(lock_in_variable());
    found.locks.back().variable.offset = i;
    found.declined.push_back({"finding " + std::to_string(i), "why"});
  }
  RepairFile all = merged({}, found);
  CHECK(parse_repair_file(repair_file_text(all), "repair.json") == all);
  CHECK(all.declined.size() == 256);
  found.declined.assign(300, {"the same of each process", "why"});
  all = merged({}, found);
  CHECK(all.declined.size() == 1);
}
