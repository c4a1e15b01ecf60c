// The settings that `prof run` passes to the runtime in the environment.

#include "hpcrun/sample/config.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

using namespace hpcrun;

namespace {

bool parses(const std::string& text, EventSpec& spec) {
  return parse_event(text.data(), text.data() + text.size(), spec);
}

bool parses(const std::string& text) {
  EventSpec ignored;
  return parses(text, ignored);
}

struct Environment {
  Environment(const char* directory, const char* events) {
    set(kEnvDirectory, directory);
    set(kEnvEvents, events);
  }
  ~Environment() {
    for (const char* name : {kEnvDirectory, kEnvEvents, kEnvTrace, kEnvDeviceTrace, kEnvTrigger,
                             kEnvContention, kEnvSearchRate, kEnvMemoryEvents, kEnvRepair, kEnvRepairPlan})
      unsetenv(name);
  }
  static void set(const char* name, const char* value) {
    if (value) setenv(name, value, 1);
  }
};

}  // namespace

TEST_CASE("an event is a name, a rate and, for hardware, what perf knows it by") {
  EventSpec spec;
  REQUIRE(parses("CPUTIME@1000", spec));
  CHECK(spec.kind == EventKind::CpuTime);
  CHECK(spec.rate == 1000);
  REQUIRE(parses("REALTIME@200", spec));
  CHECK(spec.kind == EventKind::RealTime);
  REQUIRE(parses("cycles:u@4000#0#ff01", spec));
  CHECK(spec.kind == EventKind::Perf);
  CHECK(std::string(spec.name) == "cycles:u");
  CHECK(spec.perf_type == 0);
  CHECK(spec.perf_config == 0xff01);
}

TEST_CASE("an event that is not whole is refused") {
  for (const char* text : {"", "@", "CPUTIME", "CPUTIME@", "CPUTIME@x", "CPUTIME@0", "CPUTIME@1000000",
                           "CPUTIME@-5", "@1000", "CPUTIME@1000#0#1", "cycles@1000", "cycles@1000#",
                           "cycles@1000#0", "cycles@1000#0#", "cycles@1000#0#1x"}) {
    INFO(text);
    CHECK(!parses(text));
  }
  CHECK(!parses(std::string(kMaxEventName, 'x') + "@1000#0#1"));
}

TEST_CASE("a memory event that is not whole is refused") {
  const auto parses_memory = [](const std::string& text) {
    EventSpec ignored;
    return parse_memory_event(text.data(), text.data() + text.size(), ignored);
  };
  REQUIRE(parses_memory("3@250#4#4d2#0#0#2#1"));
  for (const char* text :
       {"", "3", "3@250", "3@250#4#4d2#0#0#2", "3@250#4#4d2#0#0#2#1x", "3@250#4#4d2#0#0#4#1",
        "3@0#4#4d2#0#0#2#1", "0@250#4#4d2#0#0#2#1", "7@250#4#4d2#0#0#2#1", "x@250#4#4d2#0#0#2#1"}) {
    INFO(text);
    CHECK_FALSE(parses_memory(text));
  }
}

TEST_CASE("memory events belong to runs that look for contention") {
  const Environment environment("/tmp", "CPUTIME@250");
  Environment::set(kEnvMemoryEvents, "pebs,3@250#4#4d2#0#0#2#1,6@250#4#82d0#0#0#2#1");
  Config without;
  REQUIRE(read_config(without));
  CHECK(without.event_count == 1);
  CHECK(without.memory_hardware == MemoryHardware::None);
  Environment::set(kEnvContention, "1");
  Config with;
  REQUIRE(read_config(with));
  CHECK(with.event_count == 3);
  CHECK(with.memory_hardware == MemoryHardware::Pebs);
  CHECK(with.events[1].memory == MemoryEvent::ModifiedLoads);
  CHECK(with.events[2].memory == MemoryEvent::Stores);
  Environment::set(kEnvMemoryEvents, "");
  Config none;
  REQUIRE(read_config(none));
  CHECK(none.event_count == 1);
  for (const char* text : {"pebs", "abacus,3@250#4#4d2#0#0#2#1", "ibs,3@250"}) {
    Environment::set(kEnvMemoryEvents, text);
    Config malformed;
    INFO(text);
    CHECK_FALSE(read_config(malformed));
  }
}

TEST_CASE("what may be repaired is named, and others are left out") {
  const Environment environment("/tmp", "CPUTIME@250");
  const auto repairs = [](const char* text) {
    Environment::set(kEnvRepair, text);
    Config config;
    REQUIRE(read_config(config));
    return std::pair(config.repairs_layout, config.repairs_locks);
  };
  CHECK(repairs("") == std::pair(false, false));
  CHECK(repairs("layout") == std::pair(true, false));
  CHECK(repairs("locks") == std::pair(false, true));
  CHECK(repairs("locks,layout") == std::pair(true, true));
  CHECK(repairs("barriers,layout") == std::pair(true, false));
  CHECK(repairs("layouts,,lock,") == std::pair(false, false));
  for (const auto& [text, is_there] : {std::pair{"1", true}, {"0", false}, {"", false}}) {
    Environment::set(kEnvRepairPlan, text);
    Config config;
    REQUIRE(read_config(config));
    CHECK(config.has_repair_plan == is_there);
  }
}

TEST_CASE("the configuration is the environment's, or there is none") {
  {
    const Environment none(nullptr, nullptr);
    Config config;
    CHECK(!read_config(config));
  }
  {
    const Environment bad("/tmp", "CPUTIME@1000,nonsense");
    Config config;
    CHECK(!read_config(config));
  }
  const Environment good("/tmp/measurements", "CPUTIME@1000,REALTIME@200");
  Environment::set(kEnvTrace, "1");
  Environment::set(kEnvTrigger, "timer");
  Config config;
  REQUIRE(read_config(config));
  CHECK(std::string(config.directory) == "/tmp/measurements");
  REQUIRE(config.event_count == 2);
  CHECK(config.events[1].rate == 200);
  CHECK(config.trace);
  CHECK(config.device_trace_period_ns == 0);
  CHECK(config.trigger == Trigger::Timer);
  CHECK(config.search_rate == 0);
  Environment::set(kEnvSearchRate, "250");
  Config paced;
  REQUIRE(read_config(paced));
  CHECK(paced.search_rate == 250);
  for (const char* const malformed : {"", "x", "250x", "-1", "20001"}) {
    Environment::set(kEnvSearchRate, malformed);
    Config refused;
    CHECK(!read_config(refused));
  }
  unsetenv(kEnvSearchRate);
  Environment::set(kEnvDeviceTrace, kSampledDeviceTrace);
  Config sampled;
  REQUIRE(read_config(sampled));
  CHECK(sampled.device_trace_period_ns == 1'000'000);
}
