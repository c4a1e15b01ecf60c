#include "analysis/import/perf/memory_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "analysis/words/numbers.h"
#include "hpcrun/model/access_shape.h"

namespace prof::perf {
namespace {

using hpcrun::AccessKind;
using hpcrun::AccessShape;
using hpcrun::DataSource;
using Operation = DataSource::Operation;

// Higher addresses belong to the kernel, on all machines on which perf records memory accesses.
constexpr uint64_t kFirstKernelAddress = uint64_t{1} << 63;
// Far larger than perf requests; larger values are damaged.
constexpr uint64_t kMaxPeriod = uint64_t{1} << 32;

bool contains(const std::string& text, std::string_view part) {
  const auto is_same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), is_same) != text.end();
}

// True for events that only count loads of lines from another core's cache, whatever data source their
// samples have.
bool counts_transfers(const Event& event) {
  return contains(event.name, "xsnp_hitm") || contains(event.name, "xsnp_fwd") ||
         contains(event.name, "remote_hitm") || contains(event.name, "snp_hitm");
}

// IBS samples all instructions. Other events have an address and no source: page faults, breakpoints.
bool is_no_access(const DataSource& source) {
  return source.operation == Operation::Unknown && source.origin == DataSource::Origin::Unknown &&
         !source.reports_snoops;
}

AccessKind kind_of(Operation operation) {
  return operation == Operation::Store ? AccessKind::Write : AccessKind::Read;
}

// The use of one line: whether several threads use it, and which ones write.
struct LineUse {
  uint32_t thread = kNone, writer = kNone;
  bool several_threads = false, several_writers = false;
  uint64_t transfers = 0;

  void note(uint32_t by, bool writes, bool transfer) {
    several_threads |= thread != kNone && thread != by;
    thread = by;
    if (writes) {
      several_writers |= writer != kNone && writer != by;
      writer = by;
    }
    transfers += transfer;
  }
  bool is_explained() const { return several_writers || (several_threads && writer != kNone); }
};

}  // namespace

bool MemorySamples::has_accesses(const Event& event) {
  const uint64_t type = event.attributes.sample_type;
  return (type & PERF_SAMPLE_ADDR) != 0 && ((type & PERF_SAMPLE_DATA_SRC) != 0 || counts_transfers(event));
}

uint32_t MemorySamples::process(int32_t pid) {
  processes_.push_back({{recording_.about().host, -1, pid, {}, {}}, {}});
  return static_cast<uint32_t>(processes_.size() - 1);
}

void MemorySamples::add(const Sample& sample, uint32_t process, uint32_t thread, uint32_t node,
                        const MappedFiles::CodeInFile& code) {
  const Event& event = recording_.events()[sample.event];
  DataSource source = hpcrun::decode_data_source(sample.data_source);
  if (counts_transfers(event)) {
    source.operation = Operation::Load;
    source.reports_snoops = source.came_from_peer = true;
    source.was_modified |= contains(event.name, "hitm");
  }
  if (is_no_access(source)) return;
  ++samples_;
  sampled_.resize(recording_.events().size());
  sampled_[sample.event] = true;
  if (sample.time_ns) {
    first_ns_ = std::min(first_ns_.value_or(*sample.time_ns), *sample.time_ns);
    last_ns_ = std::max(last_ns_.value_or(*sample.time_ns), *sample.time_ns);
  }
  reports_snoops_ |= source.reports_snoops && source.operation == Operation::Load;
  if (sample.data_address == 0 || sample.data_address >= kFirstKernelAddress ||
      source.operation == Operation::Prefetch || source.operation == Operation::Execute)
    return;

  std::optional<AccessShape> shape;
  if (!code.module.path.empty() && (sample.misc & PERF_RECORD_MISC_EXACT_IP) != 0)
    if (const hpcrun::Instruction* const found = code_.instruction(code.module, code.address))
      shape = shape_of(*found, source.operation);
  if (!shape && source.operation == Operation::Unknown) return;
  ++used_;
  widths_known_ += shape.has_value();
  const AccessShape known = shape.value_or(AccessShape{1, kind_of(source.operation)});
  const bool is_load = source.operation != Operation::Store;
  processes_[process].accesses.push_back(
      {.address = sample.data_address,
       .time_ns = sample.time_ns.value_or(0),
       .period = std::clamp<uint64_t>(sample.period, 1, kMaxPeriod),
       .cycles = static_cast<uint32_t>(std::min<uint64_t>(sample.weight, UINT32_MAX)),
       .thread = thread,
       .node = node,
       .bytes = static_cast<uint8_t>(known.bytes),
       .kind = known.kind,
       .is_modified_elsewhere = is_load && source.was_modified,
       .is_remote = is_load && source.is_remote,
       .is_from_peer = is_load && source.is_transfer(),
       .is_from_shared_cache = is_load && !source.missed &&
                               (source.origin == DataSource::Origin::SharedCache ||
                                source.origin == DataSource::Origin::RemoteCache)});
}

bool MemorySamples::is_transfer(const Access& access) const {
  return reports_snoops_ ? access.is_from_peer : access.is_from_shared_cache;
}

// Returns accesses to lines that came from other caches, and to their neighbours, which may be fetched
// together with them.
std::vector<ContentionAccess> MemorySamples::contended_accesses(const Process& process,
                                                                uint64_t& lines_without_stores) const {
  constexpr uint64_t kPair = 2 * uint64_t{hpcrun::kLineBytes};
  std::unordered_map<uint64_t, LineUse> lines;
  for (const Access& access : process.accesses)
    lines[hpcrun::line_of(access.address)].note(access.thread, hpcrun::writes(access.kind),
                                                is_transfer(access));
  const auto is_suspect = [&](uint64_t line) {
    const auto known = lines.find(line);
    return known != lines.end() && known->second.transfers >= 1 && known->second.is_explained();
  };
  for (const auto& [line, use] : lines)
    lines_without_stores += use.transfers >= kHardwareFinding.least_transfers && !use.is_explained();

  std::vector<ContentionAccess> chosen;
  for (const Access& access : process.accesses) {
    const uint64_t pair = access.address / kPair * kPair;
    if (!is_suspect(pair) && !is_suspect(pair + hpcrun::kLineBytes)) continue;
    ContentionAccess& made = chosen.emplace_back();
    made.thread = access.thread;
    made.time_ns = access.time_ns;
    made.address = access.address;
    made.bytes = access.bytes;
    made.kind = access.kind;
    made.stands_for = access.period;
    made.context = access.node;
    if (!is_transfer(access)) continue;
    const auto loads = static_cast<double>(access.period);
    made.transfers = {1, loads, access.is_modified_elsewhere ? loads : 0,
                      access.is_modified_elsewhere && access.is_remote ? loads : 0, access.cycles * loads};
  }
  return chosen;
}

EvidenceSource MemorySamples::source() const {
  const std::string& processor = recording_.about().processor;
  bool any_ibs = processor.starts_with("AuthenticAMD");
  bool any_pebs = processor.starts_with("GenuineIntel");
  for (size_t i = 0; i < sampled_.size() && processor.empty(); ++i) {
    const std::string& event = recording_.events()[i].name;
    any_ibs |= sampled_[i] && contains(event, "ibs_op");
    any_pebs |= sampled_[i] && (contains(event, "mem-loads") || contains(event, "mem-stores") ||
                                contains(event, "mem_") || contains(event, "ldlat"));
  }
  if (any_ibs) return EvidenceSource::IbsByPerf;
  return any_pebs ? EvidenceSource::PebsByPerf : EvidenceSource::MemoryEventsOfPerf;
}

void MemorySamples::warn(const std::string& name, uint64_t lines_without_stores,
                         std::vector<std::string>& warnings) const {
  if (used_ == 0) {
    warnings.push_back(
        fmt::format("{}: none of its {} memory samples has an address in a program", name, samples_));
    return;
  }
  if (lines_without_stores > 0)
    warnings.push_back(
        fmt::format("{}: {} came from other caches, but no other thread wrote there in the recording; record "
                    "stores as well (perf c2c record)",
                    name, format_count(lines_without_stores, "cache line")));
  if (widths_known_ < used_)
    warnings.push_back(
        fmt::format("{}: the sizes of {} of {} memory accesses are not known, because their instructions are "
                    "not available; import on a machine with the same programs",
                    name, used_ - widths_known_, used_));
}

std::optional<std::vector<ContendedRecord>> MemorySamples::records(const std::vector<uint32_t>& contexts,
                                                                   const std::string& name,
                                                                   std::vector<std::string>& warnings) {
  if (samples_ == 0) return std::nullopt;
  const double seconds = first_ns_ ? static_cast<double>(*last_ns_ - *first_ns_) * 1e-9 : 0;
  std::vector<ContendedRecord> all;
  uint64_t lines_without_stores = 0;
  for (Process& process : processes_) {
    std::vector<ContentionAccess> accesses = contended_accesses(process, lines_without_stores);
    process.accesses = {};
    if (accesses.empty()) continue;
    for (ContentionAccess& access : accesses) access.context = contexts[access.context];
    for (ContendedRecord& record :
         contended_records(process.data, std::move(accesses), kHardwareFinding, options_, warnings))
      if (note_transfers(record, seconds, source())) all.push_back(std::move(record));
  }
  std::ranges::stable_sort(all, std::greater(), &ContendedRecord::transfers);
  warn(name, lines_without_stores, warnings);
  return all;
}

}  // namespace prof::perf
