#include "tests/analysis/pipeline/measured_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "analysis/attribution/attribution.h"
#include "tests/analysis/attribution/elf_probe.h"

namespace prof::test {

namespace {

std::string chain_path(const AttributedModule& module, size_t address) {
  std::string path;
  for (const AttributedFrame& frame : module.chain(address)) {
    path +=
        fmt::format("/{}{}:{}", frame.inlined ? "~" : "", module.functions[frame.function].name, frame.line);
  }
  return path;
}

// Returns the first address of a function whose chain has that many frames, and the line at its end.
std::pair<uint64_t, std::string> address_with_chain(const std::string& symbol, size_t frames) {
  const std::vector<uint64_t> addresses = addresses_of(function_extent(fixture_module(), symbol));
  const AttributedModule attributed = attribute_module({fixture_module().string(), {}}, addresses);
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (attributed.chain(i).size() == frames) return {addresses[i], chain_path(attributed, i)};
  }
  FAIL("no chain of " << frames << " in " << symbol);
  return {};
}

}  // namespace

std::filesystem::path fixture_module() {
  return FIXTURE_MODULE;
}

FixturePlaces fixture_places() {
  FixturePlaces places;
  std::tie(places.outer, places.outer_path) = address_with_chain("exported_entry", 1);
  std::tie(places.inlined, places.inlined_path) = address_with_chain("fixture4workEm", 3);
  std::tie(places.plain, places.plain_path) = address_with_chain("fixture4workEm", 1);
  return places;
}

void make_stripped_module(const std::filesystem::path& path) {
  const std::string command =
      fmt::format("objcopy --strip-all {} {}", fixture_module().string(), path.string());
  REQUIRE(std::system(command.c_str()) == 0);
}

uint64_t fixture_address(const std::string& symbol) {
  return function_extent(fixture_module(), symbol).start;
}

std::string stripped_name(const std::filesystem::path& module, uint64_t address) {
  return fmt::format("{}+{:#x}", module.filename().string(), address);
}

void describe(hpcrun::MeasurementFile& file, const std::filesystem::path& module) {
  file.write_metric({kTime, "CPUTIME", "sec", 1e-9, "test clock", 1000, ""});
  file.write_metric({kMisses, "MISSES", "", 1, "test counter", 0, ""});
  const std::vector<uint8_t> id = build_id(module);
  file.write_module(kModule, module.c_str(), 0x10000, 0x20000, 0x10000, id.data(),
                    static_cast<uint32_t>(id.size()));
}

void sample(RecordedThread& thread, std::vector<uint64_t> path, uint16_t metric, uint64_t value) {
  std::vector<hpcrun::FrameKey> frames;
  for (const uint64_t offset : path) frames.push_back(hpcrun::make_frame(kModule, offset));
  std::reverse(frames.begin(), frames.end());
  const hpcrun::NodeId node = thread.tree.insert(frames.data(), static_cast<uint32_t>(frames.size()));
  REQUIRE(node != hpcrun::kNoNode);
  REQUIRE(thread.tree.add(node, metric, value));
}

std::string path_of(const Database& database, uint32_t context) {
  const Context& here = database.contexts[context];
  switch (here.kind) {
    case ContextKind::Entry:
      return here.entry;
    case ContextKind::Function:
      return path_of(database, here.parent) + (here.relation == Relation::InlinedCall ? "/~" : "/") +
             database.functions[here.function].name;
    case ContextKind::Line:
      return fmt::format("{}:{}", path_of(database, here.parent), here.line);
    default:
      return path_of(database, here.parent) + "/?";
  }
}

std::map<std::string, Values> values_by_path(const Database& database, const Profile& profile,
                                             uint32_t metric) {
  std::map<std::string, Values> values;
  for (const ProfileValue& value : profile.values) {
    if (value.metric != metric) continue;
    const bool unique = values.emplace(path_of(database, value.context), value.values).second;
    CHECK(unique);
  }
  return values;
}

}  // namespace prof::test
