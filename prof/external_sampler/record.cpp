#include "prof/external_sampler/record.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "hpcrun/elf/dwarf.h"

namespace prof {

namespace {

struct RegisterName {
  unsigned perf;
  unsigned dwarf;
};

// In the order in which the kernel writes them.
constexpr std::array kRegisters = std::to_array<RegisterName>({
    {PERF_REG_X86_AX, hpcrun::kRax},
    {PERF_REG_X86_BX, hpcrun::kRbx},
    {PERF_REG_X86_CX, 2},
    {PERF_REG_X86_DX, hpcrun::kRdx},
    {PERF_REG_X86_SI, hpcrun::kRsi},
    {PERF_REG_X86_DI, hpcrun::kRdi},
    {PERF_REG_X86_BP, hpcrun::kRbp},
    {PERF_REG_X86_SP, hpcrun::kRsp},
    {PERF_REG_X86_IP, hpcrun::kReturnAddress},
    {PERF_REG_X86_R8, 8},
    {PERF_REG_X86_R9, 9},
    {PERF_REG_X86_R10, 10},
    {PERF_REG_X86_R11, 11},
    {PERF_REG_X86_R12, 12},
    {PERF_REG_X86_R13, 13},
    {PERF_REG_X86_R14, 14},
    {PERF_REG_X86_R15, 15},
});

constexpr uint64_t register_mask() {
  uint64_t mask = 0;
  for (const RegisterName& name : kRegisters) mask |= uint64_t{1} << name.perf;
  return mask;
}

class Fields {
 public:
  explicit Fields(std::span<const uint8_t> bytes) : rest_(bytes) {}

  template <typename T>
  T take() {
    T value{};
    if (rest_.size() < sizeof value) {
      ok_ = false;
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }

  std::span<const uint8_t> bytes(uint64_t count) {
    ok_ &= count <= rest_.size();
    const auto taken = rest_.first(ok_ ? count : 0);
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  bool ok() const { return ok_; }
  size_t left() const { return rest_.size(); }

 private:
  std::span<const uint8_t> rest_;
  bool ok_ = true;
};

// The fields at the end of every record that is not a sample (attr.sample_id_all).
struct SampleId {
  int32_t pid;
  int32_t tid;
  uint64_t time;
  uint64_t event;
};

std::string text(std::span<const uint8_t> bytes) {
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  return {begin, strnlen(begin, bytes.size())};
}

void take_callers(Fields& fields, PerfSample& sample) {
  bool in_user_code = false;
  for (uint64_t count = fields.take<uint64_t>(); count != 0 && fields.ok(); --count) {
    const auto address = fields.take<uint64_t>();
    if (address >= PERF_CONTEXT_MAX)  // a marker of the kind of code that the following addresses belong to
      in_user_code = address == PERF_CONTEXT_USER;
    else if (in_user_code)
      sample.callers.push_back(address);
  }
}

void take_registers(Fields& fields, PerfSample& sample) {
  const auto abi = fields.take<uint64_t>();
  if (abi == PERF_SAMPLE_REGS_ABI_NONE) return;
  std::vector<uint64_t> registers(hpcrun::kRegisterCount);
  for (const RegisterName& name : kRegisters) registers[name.dwarf] = fields.take<uint64_t>();
  if (abi == PERF_SAMPLE_REGS_ABI_64) sample.registers = std::move(registers);
}

void take_stack(Fields& fields, PerfSample& sample) {
  const auto asked = fields.take<uint64_t>();
  if (asked == 0) return;
  const std::span<const uint8_t> room = fields.bytes(asked);
  const auto copied = std::min<uint64_t>(fields.take<uint64_t>(), room.size());
  sample.stack.assign(room.begin(), room.begin() + static_cast<ptrdiff_t>(copied));
  sample.stack_is_cut = copied == asked;
}

std::optional<PerfRecord> decode_sample(Fields fields) {
  PerfRecord record;
  record.type = PerfRecordType::Sample;
  record.sample.event = fields.take<uint64_t>();
  record.pid = fields.take<int32_t>();
  record.tid = fields.take<int32_t>();
  record.time_ns = fields.take<uint64_t>();
  record.sample.period = fields.take<uint64_t>();
  take_callers(fields, record.sample);
  take_registers(fields, record.sample);
  take_stack(fields, record.sample);
  return fields.ok() ? std::optional(std::move(record)) : std::nullopt;
}

void take_mapping(Fields& fields, PerfRecord& record) {
  record.type = PerfRecordType::Mapping;
  fields.bytes(8);  // pid and tid, again in the sample id
  record.mapping.start = fields.take<uint64_t>();
  record.mapping.bytes = fields.take<uint64_t>();
  record.mapping.file_offset = fields.take<uint64_t>();
  fields.bytes(32);  // device and inode, protection and flags
  record.mapping.path = text(fields.bytes(fields.left()));
}

void take_fork(Fields& fields, PerfRecord& record) {
  record.type = PerfRecordType::Fork;
  record.pid = fields.take<int32_t>();
  record.parent_pid = fields.take<int32_t>();
  record.tid = fields.take<int32_t>();
}

void take_exit(Fields& fields, PerfRecord& record) {
  record.type = PerfRecordType::Exit;
  record.pid = fields.take<int32_t>();
  fields.bytes(4);
  record.tid = fields.take<int32_t>();
}

}  // namespace

const uint64_t kSampleFields = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                               PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
                               PERF_SAMPLE_STACK_USER;
const uint64_t kSampleRegisters = register_mask();

std::optional<PerfRecord> decode(std::span<const uint8_t> bytes) {
  perf_event_header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::span<const uint8_t> body = bytes.subspan(sizeof header);
  if (header.type == PERF_RECORD_SAMPLE) return decode_sample(Fields(body));
  if (body.size() < sizeof(SampleId)) return std::nullopt;

  SampleId id;
  std::memcpy(&id, body.data() + body.size() - sizeof id, sizeof id);
  PerfRecord record;
  record.pid = id.pid;
  record.tid = id.tid;
  record.time_ns = id.time;
  Fields fields(body.first(body.size() - sizeof id));
  switch (header.type) {
    case PERF_RECORD_MMAP2:
      take_mapping(fields, record);
      break;
    case PERF_RECORD_COMM:
      record.type = header.misc & PERF_RECORD_MISC_COMM_EXEC ? PerfRecordType::Exec : PerfRecordType::Name;
      record.pid = fields.take<int32_t>();
      record.tid = fields.take<int32_t>();
      record.name = text(fields.bytes(fields.left()));
      break;
    case PERF_RECORD_FORK:
      take_fork(fields, record);
      break;
    case PERF_RECORD_EXIT:
      take_exit(fields, record);
      break;
    case PERF_RECORD_SWITCH:
      record.type =
          header.misc & PERF_RECORD_MISC_SWITCH_OUT ? PerfRecordType::SwitchOut : PerfRecordType::SwitchIn;
      break;
    case PERF_RECORD_LOST:
      record.type = PerfRecordType::Lost;
      fields.take<uint64_t>();  // id of the event
      record.lost = fields.take<uint64_t>();
      break;
    case PERF_RECORD_LOST_SAMPLES:
      record.type = PerfRecordType::Lost;
      record.lost = fields.take<uint64_t>();
      break;
    default:
      return std::nullopt;
  }
  return fields.ok() ? std::optional(std::move(record)) : std::nullopt;
}

}  // namespace prof
