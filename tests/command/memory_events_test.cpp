// The events with which processors sample memory accesses. libpfm4 knows each of them, its encodings match
// Intel's manuals, and the runtime reads them as they were written.

#include "prof/launch/memory_events.h"
#include "prof/base/pfm.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <set>
#include <string>

using namespace prof;
using hpcrun::EventSpec;
using hpcrun::MemoryEvent;

namespace {

// Encodes events of all processors, not only of this one.
bool knows_all_processors() {
  setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
  return find_pfm() != nullptr;
}

EventSpec encoded(const char* pmu, const NamedMemoryEvent& event) {
  EventSpec spec;
  INFO(pmu << "::" << event.name);
  REQUIRE(encode_memory_event(pmu, event, spec));
  return spec;
}

}  // namespace

TEST_CASE("libpfm4 knows every memory event by its name") {
  REQUIRE(knows_all_processors());
  constexpr uint32_t kRaw = 4;  // PERF_TYPE_RAW
  for (const CoreMemoryEvents& core : intel_memory_events())
    for (const NamedMemoryEvent& event : core.events) {
      if (!event.name) continue;
      const EventSpec spec = encoded(core.pmu, event);
      CHECK(spec.perf_type == kRaw);
      CHECK(spec.memory == event.kind);
      CHECK(spec.kind == hpcrun::EventKind::Memory);
      CHECK(spec.excludes_kernel);
    }
}

TEST_CASE("their encodings are those of Intel's manuals") {
  REQUIRE(knows_all_processors());
  // Unit mask and event number.
  const std::map<std::string, std::set<uint64_t>> known = {{"snb", {0x01cd, 0x02cd}},
                                                           {"ivb_ep", {0x01cd, 0x02cd}},
                                                           {"hsw", {0x04d2, 0x82d0}},
                                                           {"hsw_ep", {0x04d2, 0x10d3, 0x82d0}},
                                                           {"bdw_ep", {0x04d2, 0x10d3, 0x82d0}},
                                                           {"skl", {0x04d2, 0x82d0}},
                                                           {"skx", {0x04d2, 0x04d3, 0x82d0}},
                                                           {"clx", {0x04d2, 0x04d3, 0x82d0}},
                                                           {"icl", {0x04d2, 0x82d0}},
                                                           {"icx", {0x04d2, 0x04d3, 0x82d0}},
                                                           {"spr", {0x04d2, 0x04d3, 0x82d0}}};
  size_t compared = 0;
  for (const CoreMemoryEvents& core : intel_memory_events()) {
    const auto expected = known.find(core.pmu);
    if (expected == known.end()) continue;
    std::set<uint64_t> found;
    for (const NamedMemoryEvent& event : core.events)
      if (event.name) found.insert(encoded(core.pmu, event).perf_config);
    INFO(core.pmu);
    CHECK(found == expected->second);
    ++compared;
  }
  CHECK(compared == known.size());
}

TEST_CASE("every processor's events find both loads of contended lines and stores") {
  for (const CoreMemoryEvents& core : intel_memory_events()) {
    bool loads = false, stores = false;
    for (const NamedMemoryEvent& event : core.events) {
      if (!event.name) continue;
      loads |= hpcrun::finds_transfers(event.kind);
      stores |= event.kind == MemoryEvent::Stores;
    }
    INFO(core.pmu);
    CHECK(loads);
    CHECK(stores);
  }
}

TEST_CASE("an event that libpfm4 does not know has no encoding") {
  REQUIRE(knows_all_processors());
  EventSpec ignored;
  CHECK_FALSE(encode_memory_event("hsw", {MemoryEvent::Loads, "MEM_LOAD_L3_HIT_RETIRED:XSNP_HITM"}, ignored));
  CHECK_FALSE(encode_memory_event("vax", {MemoryEvent::Stores, "MEM_INST_RETIRED:ALL_STORES"}, ignored));
}

TEST_CASE("the runtime reads the events as they were meant") {
  CHECK(format_memory_events({}).empty());
  MemoryEvents found;
  found.hardware = hpcrun::MemoryHardware::Pebs;
  EventSpec loads;
  loads.memory = MemoryEvent::Loads;
  loads.rate = 250;
  loads.perf_type = 4;
  loads.perf_config = 0x1cd;
  loads.perf_config1 = 30;
  loads.precise_ip = 2;
  loads.excludes_kernel = true;
  EventSpec all;
  all.memory = MemoryEvent::Operations;
  all.rate = 1'000;
  all.perf_type = 11;
  all.perf_config = 0x80000;
  all.perf_config2 = 1;
  found.events = {loads, all};
  const std::string text = format_memory_events(found);
  CHECK(text == "pebs,2@250#4#1cd#1e#0#2#1,1@1000#b#80000#0#1#0#0");
  setenv(hpcrun::kEnvDirectory, "/tmp", 1);
  setenv(hpcrun::kEnvEvents, "CPUTIME@250", 1);
  setenv(hpcrun::kEnvContention, "1", 1);
  setenv(hpcrun::kEnvMemoryEvents, text.c_str(), 1);
  hpcrun::Config config;
  const bool was_read = hpcrun::read_config(config);
  for (const char* name :
       {hpcrun::kEnvDirectory, hpcrun::kEnvEvents, hpcrun::kEnvContention, hpcrun::kEnvMemoryEvents})
    unsetenv(name);
  REQUIRE(was_read);
  CHECK(config.memory_hardware == hpcrun::MemoryHardware::Pebs);
  REQUIRE(config.event_count == 3);
  for (size_t i = 0; i < 2; ++i) {
    const EventSpec& meant = found.events[i];
    const EventSpec& read = config.events[1 + i];
    CHECK(read.kind == hpcrun::EventKind::Memory);
    CHECK(read.memory == meant.memory);
    CHECK(read.rate == meant.rate);
    CHECK(read.perf_type == meant.perf_type);
    CHECK(read.perf_config == meant.perf_config);
    CHECK(read.perf_config1 == meant.perf_config1);
    CHECK(read.perf_config2 == meant.perf_config2);
    CHECK(read.precise_ip == meant.precise_ip);
    CHECK(read.excludes_kernel == meant.excludes_kernel);
  }
}
