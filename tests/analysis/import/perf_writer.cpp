#include "tests/analysis/import/perf_writer.h"

#include <zstd.h>

#include <stdexcept>

namespace prof::test {
namespace {

template <typename T>
std::string raw(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string text(const std::string& words) {
  std::string padded = words;
  padded.resize((words.size() / 8 + 1) * 8);
  return padded;
}

std::string counted(const std::string& words) {
  constexpr size_t kPad = 64;
  std::string padded = words;
  padded.resize((words.size() / kPad + 1) * kPad);
  return raw(static_cast<uint32_t>(padded.size())) + padded;
}

std::string with_header(uint32_t type, uint16_t misc, const std::string& body) {
  perf_event_header header{type, misc, static_cast<uint16_t>(sizeof(perf_event_header) + body.size())};
  return raw(header) + body;
}

}  // namespace

void PerfWriter::event(const std::string& name, uint32_t type, uint64_t config) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  attributes.sample_type = type_;
  attributes.sample_regs_user = register_mask_;
  attributes.freq = 1;
  attributes.sample_freq = 1000;
  attributes.sample_id_all = 1;
  events_.push_back({name, attributes, 5000 + events_.size()});
}

void PerfWriter::record(uint32_t type, uint16_t misc, const std::string& body, uint64_t time,
                        bool with_sample_id) {
  std::string whole = body;
  if (with_sample_id) whole += raw(int32_t{0}) + raw(int32_t{0}) + raw(time) + raw(events_.at(0).id);
  records_ += with_header(type, misc, whole);
}

void PerfWriter::map(int32_t pid, uint64_t start, uint64_t bytes, uint64_t offset, const std::string& path,
                     uint64_t time, uint16_t mode) {
  record(PERF_RECORD_MMAP2, mode,
         raw(pid) + raw(pid) + raw(start) + raw(bytes) + raw(offset) + std::string(24, '\0') +
             raw(uint32_t{5}) + raw(uint32_t{2}) + text(path),
         time);
}

void PerfWriter::name(int32_t pid, int32_t tid, const std::string& name, uint64_t time, bool executed) {
  record(PERF_RECORD_COMM, executed ? PERF_RECORD_MISC_COMM_EXEC : 0, raw(pid) + raw(tid) + text(name), time);
}

void PerfWriter::fork(int32_t pid, int32_t parent, int32_t tid, int32_t parent_tid, uint64_t time) {
  record(PERF_RECORD_FORK, 0, raw(pid) + raw(parent) + raw(tid) + raw(parent_tid) + raw(time), time);
}

void PerfWriter::lost(uint64_t samples, uint64_t time) {
  record(PERF_RECORD_LOST, 0, raw(events_.at(0).id) + raw(samples), time);
}

void PerfWriter::kernel_symbol(uint64_t start, uint32_t bytes, const std::string& name, uint64_t time) {
  record(PERF_RECORD_KSYMBOL, 0, raw(start) + raw(bytes) + raw(uint16_t{1}) + raw(uint16_t{0}) + text(name),
         time);
}

void PerfWriter::sample(const WrittenSample& sample) {
  std::string body = raw(events_.at(sample.event).id) + raw(sample.ip) + raw(sample.pid) + raw(sample.tid) +
                     raw(sample.time);
  if (type_ & PERF_SAMPLE_ADDR) body += raw(sample.address);
  body += raw(sample.period) + raw(uint64_t{sample.chain.size()});
  for (const uint64_t address : sample.chain) body += raw(address);
  if (type_ & PERF_SAMPLE_REGS_USER) {
    body += raw(uint64_t{sample.registers.empty() ? PERF_SAMPLE_REGS_ABI_NONE : PERF_SAMPLE_REGS_ABI_64});
    for (const uint64_t value : sample.registers) body += raw(value);
  }
  if (type_ & PERF_SAMPLE_STACK_USER) {
    body += raw(uint64_t{sample.stack.size()}) + sample.stack;
    if (!sample.stack.empty()) body += raw(uint64_t{sample.stack.size()});
  }
  if (type_ & (PERF_SAMPLE_WEIGHT | kSampleWeightStruct)) body += raw(sample.weight);
  if (type_ & PERF_SAMPLE_DATA_SRC) body += raw(sample.data_source);
  if (type_ & PERF_SAMPLE_PHYS_ADDR) body += raw(sample.physical_address);
  record(PERF_RECORD_SAMPLE, sample.mode, body, sample.time, false);
}

void PerfWriter::build_id(const std::string& path, const std::array<uint8_t, 20>& id) {
  build_ids_ += with_header(perf::kHeaderBuildId, PERF_RECORD_MISC_USER | perf::kBuildIdHasSize,
                            raw(int32_t{-1}) + raw(id) + raw(uint32_t{20}) + text(path));
}

std::string PerfWriter::host_section() const {
  return counted(host_);
}

std::string PerfWriter::processor_section() const {
  return counted(processor_);
}

std::string PerfWriter::descriptions() const {
  std::string out = raw(static_cast<uint32_t>(events_.size())) + raw(uint32_t{sizeof(perf_event_attr)});
  for (const Event& event : events_)
    out += raw(event.attributes) + raw(uint32_t{1}) + counted(event.name) + raw(event.id);
  return out;
}

std::string PerfWriter::file(bool compressed) const {
  std::string data = records_;
  if (compressed) {
    std::string packed(ZSTD_compressBound(records_.size()), '\0');
    const size_t bytes = ZSTD_compress(packed.data(), packed.size(), records_.data(), records_.size(), 1);
    if (ZSTD_isError(bytes)) throw std::runtime_error("zstd");
    packed.resize(bytes);
    data.clear();
    constexpr size_t kPiece = 300;  // so that records are split
    for (size_t at = 0; at < packed.size(); at += kPiece)
      data += with_header(perf::kCompressed, 0, packed.substr(at, kPiece));
  }
  perf::FileHeader header{};
  perf::kMagic.copy(header.magic, sizeof header.magic);
  header.bytes = sizeof header;
  header.event_bytes = sizeof(perf_event_attr) + sizeof(perf::Section);
  std::string ids;
  for (const Event& event : events_) ids += raw(event.id);
  header.events = {sizeof header + ids.size(), events_.size() * header.event_bytes};
  header.data = {header.events.offset + header.events.bytes, data.size()};

  std::string events;
  for (size_t i = 0; i < events_.size(); ++i)
    events += raw(events_[i].attributes) +
              raw(perf::Section{sizeof header + i * sizeof(uint64_t), sizeof(uint64_t)});
  const std::array<std::pair<uint32_t, std::string>, 4> features = {
      {{perf::kBuildIds, build_ids_},
       {perf::kHostName, host_section()},
       {perf::kProcessor, processor_section()},
       {perf::kEventDescriptions, descriptions()}}};
  std::string table, contents;
  const uint64_t behind = header.data.offset + header.data.bytes;
  for (const auto& [feature, section] : features) {
    header.features[0] |= uint64_t{1} << feature;
    table += raw(
        perf::Section{behind + features.size() * sizeof(perf::Section) + contents.size(), section.size()});
    contents += section;
  }
  return raw(header) + ids + events + data + table + contents;
}

std::string PerfWriter::pipe() const {
  std::string out(perf::kMagic);
  out += raw(perf::kPipeHeaderBytes);
  for (const Event& event : events_) {
    out += with_header(perf::kHeaderAttribute, 0, raw(event.attributes) + raw(event.id));
    out += with_header(perf::kEventUpdate, 0, raw(perf::kEventUpdateName) + raw(event.id) + text(event.name));
  }
  out += with_header(perf::kHeaderFeature, 0, raw(uint64_t{perf::kHostName}) + host_section());
  return out + build_ids_ + records_;
}

PerfWriter memory_recording() {
  constexpr uint64_t kLine = 0x7f0000001000, kStep = 1'000'000;
  constexpr uint64_t kModifiedElsewhere =
      PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, L3) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(SNOOP, HITM);
  PerfWriter writer(PERF_SAMPLE_ADDR | kSampleWeightStruct | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR);
  writer.event("cpu/mem-loads,ldlat=30/P", PERF_TYPE_RAW, 0x1cd);
  writer.event("cpu/mem-stores/P", PERF_TYPE_RAW, 0x82d0);
  writer.host("elsewhere");
  writer.processor("GenuineIntel,6,85,7");
  writer.name(100, 100, "app", 5, true);
  writer.map(100, 0x400000, 0x1000, 0, "/opt/app", 6);
  for (uint64_t i = 0; i < 20; ++i) {
    for (const int32_t tid : {100, 101}) {
      const uint64_t address = kLine + (tid == 100 ? 0 : 8), time = 1000 + i * kStep;
      writer.sample({.ip = 0x400100,
                     .tid = tid,
                     .time = time,
                     .period = 5000,
                     .address = address,
                     .weight = uint64_t{7} << 32 | 300,
                     .data_source = kModifiedElsewhere,
                     .physical_address = 0x1234000});
      writer.sample({.ip = 0x400104,
                     .tid = tid,
                     .time = time + kStep / 2,
                     .event = 1,
                     .period = 10000,
                     .address = address,
                     .data_source = PERF_MEM_S(OP, STORE) | PERF_MEM_S(LVL, L1) | PERF_MEM_S(LVL, HIT)});
    }
  }
  return writer;
}

PerfWriter small_recording() {
  constexpr uint64_t kUser = static_cast<uint64_t>(PERF_CONTEXT_USER);
  constexpr uint64_t kKernel = static_cast<uint64_t>(PERF_CONTEXT_KERNEL);
  PerfWriter writer;
  writer.event("cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  writer.event("faults:u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
  writer.host("elsewhere");
  writer.build_id("/opt/app", {1, 2, 3});
  writer.map(-1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text", 0,
             PERF_RECORD_MISC_KERNEL);
  writer.map(-1, 0xffffffffc0000000, 0x1000, 0, "/lib/modules/6.1/disk.ko", 0, PERF_RECORD_MISC_KERNEL);
  writer.kernel_symbol(0xffffffffc1000000, 0x100, "bpf_prog_1", 0);
  writer.name(100, 100, "app", 5, true);
  writer.map(100, 0x400000, 0x1000, 0, "/opt/app", 6);
  writer.map(100, 0x7f0000000000, 0x10000, 0, "//anon", 7);
  writer.name(100, 101, "worker", 8);
  writer.sample({.ip = 0x400100, .time = 1000, .period = 900, .chain = {kUser, 0x400100, 0x400200}});
  writer.sample(
      {.ip = 0x400100, .tid = 101, .time = 2000, .period = 950, .chain = {kUser, 0x400100, 0xdead, 0xbeef}});
  writer.sample(
      {.mode = PERF_RECORD_MISC_KERNEL,
       .ip = 0xffffffff81000100,
       .time = 3000,
       .period = 1000,
       .chain = {kKernel, 0xffffffff81000100, 0xffffffffc0000010, 0xffffffffc1000010, kUser, 0x400300}});
  writer.fork(200, 100, 200, 100, 3500);
  writer.sample({.ip = 0x400100, .pid = 200, .tid = 200, .time = 4000, .event = 1, .period = 3, .chain = {}});
  writer.sample({.ip = 0x7f0000000010, .time = 5000, .period = 1000, .chain = {kUser, 0x7f0000000010}});
  writer.lost(7, 6000);
  return writer;
}

}  // namespace prof::test
