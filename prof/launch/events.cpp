#include "prof/launch/events.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>

#include "analysis/words/nearest_name.h"
#include "hpcrun/sample/perf_event.h"
#include "prof/base/message.h"
#include "prof/base/pfm.h"
#include "prof/launch/waste_events.h"

namespace prof {

namespace {

constexpr uint32_t kDefaultRealRate = 200;
constexpr uint32_t kDefaultCounterRate = 1'000;
constexpr char kContention[] = "contention";
constexpr char kContentionByPages[] = "contention:pages";
constexpr char kLocks[] = "locks";
constexpr uint32_t kDefaultContentionRate = 250;  // of CPUTIME if only contention is requested
constexpr uint32_t kRestingRate = 50;             // the same for repairs, as long as threads do not contend

uint32_t parse_rate(const std::string& text, const std::string& event) {
  uint32_t rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (error != std::errc{} || end != text.data() + text.size() || rate < hpcrun::kMinRate ||
      rate > hpcrun::kMaxRate)
    fail(kOwnFailure, "{}: expected a rate from {} to {} samples per second", event, hpcrun::kMinRate,
         hpcrun::kMaxRate);
  return rate;
}

// Stores the event in `attr`. Returns 0, or libpfm4's error.
int encode(const Pfm& pfm, const std::string& name, perf_event_attr& attr) {
  attr = {};
  attr.size = sizeof attr;
  pfm_perf_encode_arg_t encoding{};
  encoding.attr = &attr;
  encoding.size = sizeof encoding;
  return pfm.get_os_event_encoding(name.c_str(), PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &encoding);
}

// Returns 0 if the kernel lets this user count the event here, else an errno.
int try_counter(const perf_event_attr& attr, uint32_t rate) {
  hpcrun::PerfRequest request;
  request.type = attr.type;
  request.config = attr.config;
  request.rate = rate;
  int descriptor = hpcrun::open_perf_event(request);
  if (descriptor == -EACCES || descriptor == -EPERM) {
    request.exclude_kernel = true;
    descriptor = hpcrun::open_perf_event(request);
  }
  if (descriptor < 0) return -descriptor;
  close(descriptor);
  return 0;
}

// True if the error shows that the machine lacks the counter. EACCES and EPERM are about the user, not about
// the machine.
bool lacks_counters(const perf_event_attr& attr, int error) {
  return attr.type != PERF_TYPE_SOFTWARE && attr.type != PERF_TYPE_TRACEPOINT &&
         (error == ENOENT || error == ENODEV || error == EOPNOTSUPP);
}

bool is_virtual_machine() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags")) return line.find(" hypervisor") != line.npos;
  return false;
}

// Returns the nearest of this machine's event names.
std::string suggestion(const std::string& name) {
  std::vector<std::string> names;
  for (const EventDescription& event : list_events()) {
    names.push_back(event.name);
    if (const size_t pmu = event.name.find("::"); pmu != event.name.npos)
      names.push_back(event.name.substr(pmu + 2));
  }
  return did_you_mean(name, names);
}

void encode_counter(const std::string& name, hpcrun::EventSpec& spec) {
  const Pfm* const pfm = find_pfm();
  if (!pfm) fail(kOwnFailure, "'{}' needs libpfm4, which cannot be loaded; install libpfm4", name);
  perf_event_attr attr;
  if (const int error = encode(*pfm, name, attr); error != PFM_SUCCESS) {
    const std::string meant = suggestion(name);
    fail(kOwnFailure, "unknown event '{}' ({}){}", name, pfm->strerror(error),
         meant.empty() ? "; `prof list events` shows events that this machine can sample" : meant);
  }
  spec.kind = hpcrun::EventKind::Perf;
  spec.perf_type = attr.type;
  spec.perf_config = attr.config;
  const int error = try_counter(attr, spec.rate);
  if (lacks_counters(attr, error))
    fail(kOwnFailure, "'{}' needs hardware counters, which {}; use CPUTIME, or see `prof doctor`", name,
         is_virtual_machine() ? "this virtual machine hides" : "this machine does not have");
  if (error != 0)
    fail(kOwnFailure,
         "this machine cannot count '{}' ({}); `prof list events` shows events that it can sample", name,
         std::strerror(error));
}

hpcrun::EventSpec parse_user_event(const std::string& text) {
  hpcrun::EventSpec spec;
  const size_t at = text.rfind('@');
  const std::string name = text.substr(0, at);
  if (name.empty() || name.size() >= hpcrun::kMaxEventName || name.find_first_of(",#") != std::string::npos)
    fail(kOwnFailure, "'{}' is not an event; `prof list events` shows events that this machine can sample",
         text);
  std::memcpy(spec.name, name.c_str(), name.size() + 1);
  const bool is_cpu = name == "CPUTIME";
  const bool is_real = name == "REALTIME";
  spec.kind = is_real ? hpcrun::EventKind::RealTime : hpcrun::EventKind::CpuTime;
  spec.rate = is_cpu ? hpcrun::kDefaultCpuRate : is_real ? kDefaultRealRate : kDefaultCounterRate;
  if (at != std::string::npos) spec.rate = parse_rate(text.substr(at + 1), text);
  if (!is_cpu && !is_real) encode_counter(name, spec);
  return spec;
}

bool is(const std::string& text, std::string_view name) {
  return text.substr(0, text.rfind('@')) == name;
}

}  // namespace

std::vector<hpcrun::EventSpec> parse_user_events(const std::vector<std::string>& texts) {
  if (texts.empty()) return {parse_user_event("CPUTIME")};
  if (texts.size() > hpcrun::kMaxEvents)
    fail(kOwnFailure, "too many events; sample at most {} in one run", hpcrun::kMaxEvents);
  std::vector<hpcrun::EventSpec> events;
  for (const std::string& text : texts) {
    const hpcrun::EventSpec event = parse_user_event(text);
    for (const hpcrun::EventSpec& other : events)
      if (std::strcmp(event.name, other.name) == 0)
        fail(kOwnFailure, "event {} is selected twice; select it once, with one rate", event.name);
    events.push_back(event);
  }
  return events;
}

bool take_locks(std::vector<std::string>& texts) {
  const auto asked = std::ranges::find_if(texts, [](const std::string& text) { return is(text, kLocks); });
  if (asked == texts.end()) return false;
  if (asked->find('@') != std::string::npos)
    fail(kOwnFailure, "locks takes no rate, because every wait is recorded; use -e locks");
  texts.erase(asked);
  return true;
}

bool asks_for_contention(const std::vector<std::string>& texts) {
  return std::ranges::any_of(
      texts, [](const std::string& text) { return is(text, kContention) || is(text, kContentionByPages); });
}

bool names_cpu_time(const std::vector<std::string>& texts) {
  return std::ranges::any_of(texts, [](const std::string& text) { return is(text, "CPUTIME"); });
}

uint32_t rest_cpu_time(std::vector<hpcrun::EventSpec>& events) {
  for (hpcrun::EventSpec& event : events)
    if (event.kind == hpcrun::EventKind::CpuTime)
      return std::exchange(event.rate, std::min(event.rate, kRestingRate));
  return 0;
}

ContentionRequest take_contention(std::vector<std::string>& texts) {
  const auto asked = std::ranges::find_if(
      texts, [](const std::string& text) { return is(text, kContention) || is(text, kContentionByPages); });
  if (asked == texts.end()) return ContentionRequest::None;
  if (asks_for_contention({asked + 1, texts.end()}))
    fail(kOwnFailure, "contention is selected more than once; use only one -e contention event");
  const ContentionRequest request =
      is(*asked, kContention) ? ContentionRequest::Sampled : ContentionRequest::ByPages;
  const size_t at = asked->rfind('@');
  const auto clock =
      std::ranges::find_if(texts, [&](const std::string& text) { return is(text, "CPUTIME"); });
  if (clock != texts.end()) {
    if (at != std::string::npos)
      fail(kOwnFailure, "contention uses the samples of CPUTIME; set the rate with CPUTIME@RATE alone");
    texts.erase(asked);
  } else {
    *asked = at == std::string::npos ? fmt::format("CPUTIME@{}", kDefaultContentionRate)
                                     : "CPUTIME" + asked->substr(at);
  }
  return request;
}

std::string format_events(const std::vector<hpcrun::EventSpec>& events) {
  std::string text;
  for (const hpcrun::EventSpec& event : events) {
    if (!text.empty()) text += ',';
    text += fmt::format("{}@{}", event.name, event.rate);
    if (event.kind == hpcrun::EventKind::Perf)
      text += fmt::format("#{:x}#{:x}", event.perf_type, event.perf_config);
  }
  return text;
}

std::vector<EventDescription> list_events() {
  std::vector<EventDescription> events = {
      {"CPUTIME", "CPU time of each thread, user and system (s); default, 1000 samples/s"},
      {kContention,
       "false sharing and contended cache lines: data, code and fix; uses the samples of CPUTIME"},
      {kContentionByPages,
       "false sharing, counted on isolated pages: lines that threads write alternately; writes only, no "
       "times"},
      {kLocks, "contended locks: waiting threads and holders; adds no samples"},
      {"REALTIME", "elapsed time of each thread, waiting included (s); default rate 200 samples/s"},
  };
  const std::vector<EventDescription> waste = waste_events();
  events.insert(events.end() - 1, waste.begin(), waste.end());
  const Pfm* const pfm = find_pfm();
  if (!pfm) return events;
  for (int pmu = 0; pmu < PFM_PMU_MAX; ++pmu) {
    pfm_pmu_info_t pmu_info{};
    pmu_info.size = sizeof pmu_info;
    if (pfm->get_pmu_info(static_cast<pfm_pmu_t>(pmu), &pmu_info) != PFM_SUCCESS || !pmu_info.is_present)
      continue;
    for (int index = pmu_info.first_event; index != -1; index = pfm->get_event_next(index)) {
      pfm_event_info_t info{};
      info.size = sizeof info;
      if (pfm->get_event_info(index, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS) continue;
      const std::string name = fmt::format("{}::{}", pmu_info.name, info.name);
      perf_event_attr attr;
      if (encode(*pfm, name, attr) == PFM_SUCCESS && try_counter(attr, kDefaultCounterRate) == 0)
        events.push_back({name, info.desc ? info.desc : ""});
    }
  }
  return events;
}

}  // namespace prof
