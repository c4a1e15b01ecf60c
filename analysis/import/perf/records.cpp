#include "analysis/import/perf/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "analysis/import/perf/cursor.h"

namespace prof::perf {
namespace {

constexpr size_t kNumberBytes = 8;
// Bits that are newer than the kernel headers that prof is compiled with.
constexpr uint64_t kSampleWeightStruct = uint64_t{1} << 24;
constexpr uint64_t kBranchHardwareIndex = uint64_t{1} << 17;
constexpr uint64_t kBranchCounters = uint64_t{1} << 19;
constexpr uint64_t kReadLost = uint64_t{1} << 4;
constexpr size_t kBranchBytes = 24;

perf_event_header header_of(std::span<const uint8_t> record) {
  return Cursor(record).take<perf_event_header>();
}

void skip_read_values(Cursor& in, uint64_t format) {
  const auto bits = [&](uint64_t mask) { return static_cast<uint64_t>(std::popcount(format & mask)); };
  const uint64_t times = bits(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
  const uint64_t of_value = 1 + bits(PERF_FORMAT_ID | kReadLost);
  if ((format & PERF_FORMAT_GROUP) == 0) {
    in.skip((times + of_value) * kNumberBytes);
    return;
  }
  const auto values = in.take<uint64_t>();
  if (values > in.left() / kNumberBytes) return in.skip(UINT64_MAX);
  in.skip((times + values * of_value) * kNumberBytes);
}

void skip_branches(Cursor& in, uint64_t branch_type) {
  const auto branches = in.take<uint64_t>();
  if (branches > in.left() / kBranchBytes) return in.skip(UINT64_MAX);
  if (branch_type & kBranchHardwareIndex) in.skip(kNumberBytes);
  in.skip(branches * kBranchBytes);
  if (branch_type & kBranchCounters) in.skip(branches * kNumberBytes);
}

void take_numbers(Cursor& in, uint64_t count, std::vector<uint64_t>& out) {
  out.clear();
  if (count > in.left() / kNumberBytes) return in.skip(UINT64_MAX);
  out.resize(static_cast<size_t>(count));
  for (uint64_t& number : out) number = in.take<uint64_t>();
}

// Reads fields in the order of the kernel's description of PERF_RECORD_SAMPLE.
bool read_sample(Cursor in, uint16_t misc, const perf_event_attr& attributes, Sample& sample) {
  const uint64_t type = attributes.sample_type;
  const auto has = [type](uint64_t bit) { return (type & bit) != 0; };
  std::vector<uint64_t> call_chain = std::move(sample.call_chain),
                        registers = std::move(sample.user_registers);
  const size_t event = sample.event;
  sample = {};
  sample.event = event;
  sample.misc = misc;
  sample.call_chain = std::move(call_chain);
  sample.user_registers = std::move(registers);
  sample.call_chain.clear();
  sample.user_registers.clear();
  sample.period = std::max<uint64_t>(attributes.freq ? 1 : attributes.sample_period, 1);

  if (has(PERF_SAMPLE_IDENTIFIER)) sample.id = in.take<uint64_t>();
  if (has(PERF_SAMPLE_IP)) sample.ip = in.take<uint64_t>();
  if (has(PERF_SAMPLE_TID)) {
    sample.pid = in.take<int32_t>();
    sample.tid = in.take<int32_t>();
  }
  if (has(PERF_SAMPLE_TIME)) sample.time_ns = in.take<uint64_t>();
  if (has(PERF_SAMPLE_ADDR)) sample.data_address = in.take<uint64_t>();
  if (has(PERF_SAMPLE_ID)) sample.id = in.take<uint64_t>();
  if (has(PERF_SAMPLE_STREAM_ID)) in.skip(kNumberBytes);
  if (has(PERF_SAMPLE_CPU)) {
    sample.cpu = in.take<uint32_t>();
    in.skip(sizeof(uint32_t));
  }
  if (has(PERF_SAMPLE_PERIOD)) sample.period = in.take<uint64_t>();
  if (has(PERF_SAMPLE_READ)) skip_read_values(in, attributes.read_format);
  if (has(PERF_SAMPLE_CALLCHAIN)) {
    const auto count = in.take<uint64_t>();
    take_numbers(in, count, sample.call_chain);
  }
  if (has(PERF_SAMPLE_RAW)) sample.raw = in.take_bytes(in.take<uint32_t>());
  if (has(PERF_SAMPLE_BRANCH_STACK)) skip_branches(in, attributes.branch_sample_type);
  if (has(PERF_SAMPLE_REGS_USER)) {
    sample.user_abi = in.take<uint64_t>();
    sample.user_register_mask = attributes.sample_regs_user;
    if (sample.user_abi != PERF_SAMPLE_REGS_ABI_NONE)
      take_numbers(in, static_cast<uint64_t>(std::popcount(attributes.sample_regs_user)),
                   sample.user_registers);
  }
  if (has(PERF_SAMPLE_STACK_USER)) {
    if (const auto bytes = in.take<uint64_t>(); bytes != 0) {
      sample.user_stack = in.take_bytes(bytes);
      const uint64_t used = std::min<uint64_t>(in.take<uint64_t>(), sample.user_stack.size());
      sample.user_stack = sample.user_stack.first(static_cast<size_t>(used));
    }
  }
  if (has(PERF_SAMPLE_WEIGHT)) sample.weight = in.take<uint64_t>();
  if (has(kSampleWeightStruct)) {
    sample.weight = in.take<uint32_t>();
    in.skip(sizeof(uint32_t));
  }
  if (has(PERF_SAMPLE_DATA_SRC)) sample.data_source = in.take<uint64_t>();
  if (has(PERF_SAMPLE_TRANSACTION)) sample.transaction = in.take<uint64_t>();
  if (has(PERF_SAMPLE_REGS_INTR) && in.take<uint64_t>() != PERF_SAMPLE_REGS_ABI_NONE)
    in.skip(static_cast<uint64_t>(std::popcount(attributes.sample_regs_intr)) * kNumberBytes);
  if (has(PERF_SAMPLE_PHYS_ADDR)) sample.physical_address = in.take<uint64_t>();
  if (has(PERF_SAMPLE_CGROUP)) in.skip(kNumberBytes);
  if (has(PERF_SAMPLE_DATA_PAGE_SIZE)) sample.data_page_bytes = in.take<uint64_t>();
  if (has(PERF_SAMPLE_CODE_PAGE_SIZE)) sample.code_page_bytes = in.take<uint64_t>();
  return in.good();
}

bool is_kernel(const perf_event_header& header, int32_t pid) {
  const unsigned mode = header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
  return pid == kKernelProcess || mode == PERF_RECORD_MISC_KERNEL;
}

bool visit_mapping(Cursor in, const perf_event_header& header, Visitor& visitor) {
  Mapping mapping;
  mapping.pid = in.take<int32_t>();
  mapping.tid = in.take<int32_t>();
  mapping.start = in.take<uint64_t>();
  mapping.bytes = in.take<uint64_t>();
  mapping.file_offset = in.take<uint64_t>();
  mapping.data = (header.misc & PERF_RECORD_MISC_MMAP_DATA) != 0;
  mapping.kernel = is_kernel(header, mapping.pid);
  if (header.type == PERF_RECORD_MMAP2) {
    if (header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
      const size_t bytes = std::min<size_t>(in.take<uint8_t>(), kBuildIdBytes);
      in.skip(3);
      mapping.build_id = in.take_bytes(kBuildIdBytes);
      if (in.good()) mapping.build_id = mapping.build_id.first(bytes);
    } else {
      in.skip(24);  // device and inode
    }
    in.skip(8);  // protection and flags
  }
  mapping.path = in.take_text();
  if (!in.good()) return false;
  // A range that wraps around is not usable.
  if (mapping.bytes != 0 && mapping.start + mapping.bytes - 1 >= mapping.start) visitor.visit(mapping);
  return true;
}

std::string_view name_in(std::span<const std::string_view> names, uint64_t index) {
  return index < names.size() ? names[index] : "";
}

// Returns the position of the time in the fields that may end every record, counted in numbers from the
// record's end.
size_t numbers_from_time(uint64_t type) {
  return static_cast<size_t>(std::popcount(type & (PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                                                   PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)));
}

// Returns how many numbers precede the time in a sample.
size_t numbers_before_time(uint64_t type) {
  return static_cast<size_t>(
      std::popcount(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID)));
}

std::optional<uint64_t> number_at(std::span<const uint8_t> record, size_t offset) {
  if (offset > record.size() || record.size() - offset < kNumberBytes) return std::nullopt;
  uint64_t number = 0;
  std::memcpy(&number, record.data() + offset, sizeof number);
  return number;
}

}  // namespace

std::optional<uint64_t> Sample::user_register(unsigned number) const {
  if ((user_register_mask >> number & 1) == 0) return std::nullopt;
  const uint64_t before = user_register_mask & ((uint64_t{1} << number) - 1);
  const auto index = static_cast<size_t>(std::popcount(before));
  return index < user_registers.size() ? std::optional(user_registers[index]) : std::nullopt;
}

std::string event_name(const perf_event_attr& attributes) {
  static constexpr std::array<std::string_view, 12> kSoftware = {
      "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
      "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
      "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
  static constexpr std::array<std::string_view, 10> kHardware = {
      "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
      "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
  std::string_view name;
  if (attributes.type == PERF_TYPE_SOFTWARE) name = name_in(kSoftware, attributes.config);
  if (attributes.type == PERF_TYPE_HARDWARE) name = name_in(kHardware, attributes.config);
  if (!name.empty()) return std::string(name);
  return fmt::format("event-{}:{:#x}", static_cast<uint32_t>(attributes.type),
                     static_cast<uint64_t>(attributes.config));
}

bool visit_record(std::span<const uint8_t> record, size_t event, const perf_event_attr& attributes,
                  Sample& scratch, Visitor& visitor) {
  Cursor in(record);
  const auto header = in.take<perf_event_header>();
  switch (header.type) {
    case PERF_RECORD_SAMPLE:
      scratch.event = event;
      if (!read_sample(in, header.misc, attributes, scratch)) return false;
      visitor.visit(scratch);
      return true;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
      return visit_mapping(in, header, visitor);
    case PERF_RECORD_COMM: {
      Name name;
      name.pid = in.take<int32_t>();
      name.tid = in.take<int32_t>();
      name.executed = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
      name.name = in.take_text();
      if (in.good()) visitor.visit(name);
      return in.good();
    }
    case PERF_RECORD_FORK: {
      Fork fork;
      fork.pid = in.take<int32_t>();
      fork.parent_pid = in.take<int32_t>();
      fork.tid = in.take<int32_t>();
      fork.parent_tid = in.take<int32_t>();
      fork.time_ns = in.take<uint64_t>();
      if (in.good()) visitor.visit(fork);
      return in.good();
    }
    case PERF_RECORD_LOST:
      in.skip(kNumberBytes);
      [[fallthrough]];
    case PERF_RECORD_LOST_SAMPLES:
      if (const auto samples = in.take<uint64_t>(); in.good()) visitor.lost(samples);
      return in.good();
    case PERF_RECORD_KSYMBOL: {
      KernelSymbol symbol;
      symbol.start = in.take<uint64_t>();
      symbol.bytes = in.take<uint32_t>();
      in.skip(2);  // kind
      const bool gone = (in.take<uint16_t>() & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0;
      symbol.name = in.take_text();
      if (in.good() && !gone) visitor.visit(symbol);
      return in.good();
    }
    default:
      return true;
  }
}

std::optional<uint64_t> time_of(std::span<const uint8_t> record, const perf_event_attr& attributes) {
  const uint64_t type = attributes.sample_type;
  const perf_event_header header = header_of(record);
  if ((type & PERF_SAMPLE_TIME) == 0 || header.type >= kToolRecords) return std::nullopt;
  if (header.type == PERF_RECORD_SAMPLE)
    return number_at(record, sizeof header + numbers_before_time(type) * kNumberBytes);
  const size_t from_end = numbers_from_time(type) * kNumberBytes;
  if (!attributes.sample_id_all || record.size() < sizeof header + from_end) return std::nullopt;
  return number_at(record, record.size() - from_end);
}

std::optional<uint64_t> id_of_sample(std::span<const uint8_t> record, const perf_event_attr& attributes) {
  const uint64_t type = attributes.sample_type;
  size_t before = 0;
  if ((type & PERF_SAMPLE_IDENTIFIER) == 0) {
    if ((type & PERF_SAMPLE_ID) == 0) return std::nullopt;
    before = numbers_before_time(type) +
             static_cast<size_t>(std::popcount(type & (PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR)));
  }
  return number_at(record, sizeof(perf_event_header) + before * kNumberBytes);
}

}  // namespace prof::perf
