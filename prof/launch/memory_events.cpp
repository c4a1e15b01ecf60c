#include "prof/launch/memory_events.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>

#include "hpcrun/sample/perf_event.h"
#include "prof/base/pfm.h"

namespace prof {

namespace {

using hpcrun::EventSpec;
using hpcrun::MemoryEvent;
using hpcrun::MemoryHardware;

// On Sandy and Ivy Bridge the address of a load is sampled only with its latency, and its origin is in the
// data source. From Haswell on, all PEBS events of loads and stores have the address (Intel's manual, volume
// 3B, "Data Address Profiling"), and a separate event counts loads that hit modified lines. On Sapphire
// Rapids that event also counts lines that were forwarded unmodified. Hybrid processors are not listed: a
// thread's event would count on one kind of core only.
constexpr NamedMemoryEvent kLatency{MemoryEvent::Loads, "MEM_TRANS_RETIRED:LATENCY_ABOVE_THRESHOLD:ldlat=30"};
constexpr NamedMemoryEvent kPreciseStores{MemoryEvent::Stores, "MEM_TRANS_RETIRED:PRECISE_STORE"};
constexpr NamedMemoryEvent kUopsHitm{MemoryEvent::ModifiedLoads, "MEM_LOAD_UOPS_L3_HIT_RETIRED:XSNP_HITM"};
constexpr NamedMemoryEvent kUopsRemoteHitm{MemoryEvent::RemoteModifiedLoads,
                                           "MEM_LOAD_UOPS_L3_MISS_RETIRED:REMOTE_HITM"};
constexpr NamedMemoryEvent kUopsStores{MemoryEvent::Stores, "MEM_UOPS_RETIRED:ALL_STORES"};
constexpr NamedMemoryEvent kHitm{MemoryEvent::ModifiedLoads, "MEM_LOAD_L3_HIT_RETIRED:XSNP_HITM"};
constexpr NamedMemoryEvent kForwardedLoads{MemoryEvent::ForwardedLoads, "MEM_LOAD_L3_HIT_RETIRED:XSNP_FWD"};
constexpr NamedMemoryEvent kRemoteHitm{MemoryEvent::RemoteModifiedLoads,
                                       "MEM_LOAD_L3_MISS_RETIRED:REMOTE_HITM"};
constexpr NamedMemoryEvent kStores{MemoryEvent::Stores, "MEM_INST_RETIRED:ALL_STORES"};

constexpr CoreMemoryEvents kIntel[] = {
    {"snb", {kLatency, kPreciseStores}},
    {"snb_ep", {kLatency, kPreciseStores}},
    {"ivb", {kLatency, kPreciseStores}},
    {"ivb_ep", {kLatency, kPreciseStores}},
    {"hsw", {kUopsHitm, kUopsStores}},
    {"hsw_ep", {kUopsHitm, kUopsRemoteHitm, kUopsStores}},
    {"bdw", {kUopsHitm, kUopsStores}},
    {"bdw_ep", {kUopsHitm, kUopsRemoteHitm, kUopsStores}},
    {"skl", {kHitm, kStores}},
    {"skx", {kHitm, kRemoteHitm, kStores}},
    {"clx", {kHitm, kRemoteHitm, kStores}},
    {"icl", {kHitm, kStores}},
    {"icx", {kHitm, kRemoteHitm, kStores}},
    {"spr", {kForwardedLoads, kRemoteHitm, kStores}},
};

// With precise_ip 3 ("precise distribution") some processors have one counter for all events. With 1 the
// sample shows the next instruction.
constexpr uint8_t kPreciseIp[] = {2, 1};

constexpr const char* kIbs = "/sys/bus/event_source/devices/ibs_op/";
constexpr uint64_t kCountsOperations = 1u << 19;  // config of ibs_op, format cnt_ctl: not cycles
constexpr uint64_t kFiltersKernel = 1;            // config2, format swfilt (Linux 6.14)
// Few of all instructions that it samples are relevant accesses.
constexpr uint32_t kIbsSamples = 4;

bool is_forbidden(int error) {
  return error == EACCES || error == EPERM;
}

// Returns 0, or an errno.
int try_event(const EventSpec& spec) {
  hpcrun::PerfRequest request;
  request.type = spec.perf_type;
  request.config = spec.perf_config;
  request.config1 = spec.perf_config1;
  request.config2 = spec.perf_config2;
  request.precise_ip = spec.precise_ip;
  request.exclude_kernel = spec.excludes_kernel;
  request.excludes_nothing = !spec.excludes_kernel;
  request.rate = spec.rate;
  const int descriptor = hpcrun::open_perf_event(request);
  if (descriptor < 0) return -descriptor;
  close(descriptor);
  return 0;
}

// Most virtual machines hide counters. A single test avoids trying each event there.
bool may_have_counters() {
  EventSpec cycles;
  cycles.perf_type = PERF_TYPE_HARDWARE;
  cycles.perf_config = PERF_COUNT_HW_CPU_CYCLES;
  cycles.excludes_kernel = true;
  cycles.rate = 1;
  const int error = try_event(cycles);
  return error == 0 || is_forbidden(error);
}

bool is_present(const Pfm& pfm, const char* pmu) {
  for (int number = 0; number < PFM_PMU_MAX; ++number) {
    pfm_pmu_info_t info{};
    info.size = sizeof info;
    if (pfm.get_pmu_info(static_cast<pfm_pmu_t>(number), &info) == PFM_SUCCESS && info.is_present &&
        std::string_view(info.name) == pmu)
      return true;
  }
  return false;
}

// Returns the most precise event that the kernel accepts, or the first that it forbids.
std::optional<EventSpec> exactest(EventSpec spec) {
  for (const uint8_t precise_ip : kPreciseIp) {
    spec.precise_ip = precise_ip;
    const int error = try_event(spec);
    if (error == 0 || is_forbidden(error)) return spec;
  }
  return std::nullopt;
}

MemoryEvents find_pebs(uint32_t rate) {
  MemoryEvents found;
  if (!__builtin_cpu_is("intel") || !may_have_counters()) return found;
  const Pfm* const pfm = find_pfm();
  if (!pfm) return found;
  const auto* const core = std::ranges::find_if(
      kIntel, [&](const CoreMemoryEvents& known) { return is_present(*pfm, known.pmu); });
  if (core == std::end(kIntel)) return found;
  for (const NamedMemoryEvent& event : core->events) {
    EventSpec spec;
    spec.rate = rate;
    if (!event.name || !encode_memory_event(core->pmu, event, spec)) continue;
    if (const std::optional<EventSpec> known = exactest(spec)) found.events.push_back(*known);
  }
  if (std::ranges::any_of(found.events,
                          [](const EventSpec& spec) { return hpcrun::finds_transfers(spec.memory); }))
    found.hardware = MemoryHardware::Pebs;
  return found;
}

// Restricts samples to user code if the kernel can filter them; IBS itself cannot.
MemoryEvents find_ibs(uint32_t rate) {
  MemoryEvents found;
  uint32_t type = 0;
  if (!(std::ifstream(std::string(kIbs) + "type") >> type)) return found;
  std::error_code error;
  const bool has_filter = std::filesystem::exists(std::filesystem::path(kIbs) / "format/swfilt", error);
  EventSpec spec;
  spec.kind = hpcrun::EventKind::Memory;
  spec.memory = MemoryEvent::Operations;
  spec.perf_type = type;
  spec.perf_config = kCountsOperations;
  spec.perf_config2 = has_filter ? kFiltersKernel : 0;
  spec.excludes_kernel = has_filter;
  spec.rate = std::min(rate * kIbsSamples, hpcrun::kMaxRate);
  if (const int refused = try_event(spec); refused && !is_forbidden(refused)) return found;
  found.hardware = MemoryHardware::Ibs;
  found.events.push_back(spec);
  return found;
}

}  // namespace

std::span<const CoreMemoryEvents> intel_memory_events() {
  return kIntel;
}

bool encode_memory_event(const char* pmu, const NamedMemoryEvent& event, EventSpec& out) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  pfm_perf_encode_arg_t encoding{};
  encoding.attr = &attr;
  encoding.size = sizeof encoding;
  const Pfm* const pfm = find_pfm();
  const std::string name = fmt::format("{}::{}", pmu, event.name);
  if (!pfm || pfm->get_os_event_encoding(name.c_str(), PFM_PLM3, PFM_OS_PERF_EVENT, &encoding) != PFM_SUCCESS)
    return false;
  out.kind = hpcrun::EventKind::Memory;
  out.memory = event.kind;
  out.perf_type = attr.type;
  out.perf_config = attr.config;
  out.perf_config1 = attr.config1;
  out.excludes_kernel = true;
  return true;
}

MemoryEvents find_memory_events(uint32_t rate) {
  MemoryEvents found = find_ibs(rate);
  return found.hardware == MemoryHardware::None ? find_pebs(rate) : found;
}

std::string format_memory_events(const MemoryEvents& found) {
  if (found.hardware == MemoryHardware::None) return "";
  std::string text = name_of(found.hardware);
  for (const EventSpec& spec : found.events)
    text += fmt::format(",{}@{}#{:x}#{:x}#{:x}#{:x}#{:x}#{:x}", static_cast<unsigned>(spec.memory), spec.rate,
                        spec.perf_type, spec.perf_config, spec.perf_config1, spec.perf_config2,
                        spec.precise_ip, static_cast<unsigned>(spec.excludes_kernel));
  return text;
}

}  // namespace prof
