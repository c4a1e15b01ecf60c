#include "hpcrun/unwind/compile.h"

#include <algorithm>

#include "hpcrun/elf/frame_index.h"
#include "hpcrun/unwind/scratch.h"
#include "hpcrun/unwind/table_memory.h"

namespace hpcrun {
namespace {

struct FdeRef {
  uint64_t start;
  uint32_t offset;  // of the record in its section
  uint32_t debug_frame;
};

class Compiler {
 public:
  Compiler(const CfiSources& sources, UnwindTable& table) noexcept : sources_(sources), table_(table) {}

  CompileStatus run() noexcept {
    if (!collect_from_hdr()) collect_by_scan(sources_.eh_frame, 0);
    collect_by_scan(sources_.debug_frame, 1);
    if (!memory_) return CompileStatus::NoMemory;
    if (refs_.empty()) return CompileStatus::NothingToCompile;
    const auto before = [](const FdeRef& a, const FdeRef& b) {
      return a.start != b.start ? a.start < b.start : a.debug_frame < b.debug_frame;
    };
    if (!std::is_sorted(refs_.begin(), refs_.end(), before)) std::sort(refs_.begin(), refs_.end(), before);
    first_ = refs_[0].start;
    covered_ = first_;
    if (!rules_.push(Rule{}) || !slots_.resize_zeroed(kFirstSlots)) return CompileStatus::NoMemory;
    for (size_t i = 0; i < refs_.size() && memory_ && !too_large_; ++i) compile_fde(i);
    if (too_large_) return CompileStatus::TooLarge;
    if (!memory_) return CompileStatus::NoMemory;
    if (rows_.empty()) return CompileStatus::NothingToCompile;
    return publish();
  }

 private:
  static constexpr size_t kFirstSlots = 1024;

  void collect(const FdeRef& ref) noexcept {
    if (!refs_.push(ref)) memory_ = false;
  }

  // The linker's table is already sorted and lists every relevant FDE.
  bool collect_from_hdr() noexcept {
    FrameIndex index;
    if (!read_frame_index(sources_.eh_frame_hdr, index)) return false;
    Cursor cursor(sources_.eh_frame_hdr);
    cursor.block(index.head_bytes);
    if (index.count == 0 || index.count > cursor.left() / sizeof(FrameIndexEntry)) return false;
    const uint64_t base = sources_.eh_frame_hdr_address;
    for (uint64_t i = 0; i < index.count; ++i) {
      const auto entry = cursor.fixed<FrameIndexEntry>();
      const uint64_t start = base + static_cast<uint64_t>(int64_t{entry.function});
      const uint64_t fde = base + static_cast<uint64_t>(int64_t{entry.record});
      const uint64_t offset = fde - sources_.eh_frame.address;
      if (offset < sources_.eh_frame.bytes.size) collect({start, static_cast<uint32_t>(offset), 0});
    }
    return true;
  }

  void collect_by_scan(const CfiSection& section, uint32_t debug_frame) noexcept {
    for (uint64_t offset = 0; offset < section.bytes.size;) {
      const CfiRecord record = split_record(section, offset);
      if (record.kind == CfiRecordKind::End || record.kind == CfiRecordKind::Malformed) return;
      Fde fde;
      if (record.kind == CfiRecordKind::Fde && parse(section, record, fde) && fde.start != 0) {
        collect({fde.start, static_cast<uint32_t>(offset), debug_frame});
      }
      offset = record.next;
    }
  }

  // Neighbouring FDEs share a CIE. It is parsed, and its instructions are run, once per sequence of them.
  bool parse(const CfiSection& section, const CfiRecord& record, Fde& fde) noexcept {
    if (record.cie_offset != cie_offset_ || section.bytes.data != cie_section_) {
      cie_offset_ = record.cie_offset;
      cie_section_ = section.bytes.data;
      cie_fresh_ = true;
      cie_ok_ = false;
      if (record.cie_offset >= 0) {
        const CfiRecord cie = split_record(section, static_cast<uint64_t>(record.cie_offset));
        cie_ok_ = cie.kind == CfiRecordKind::Cie && parse_cie(cie.body, cie_);
      }
    }
    return cie_ok_ && parse_fde(section, record.body, cie_, fde);
  }

  void compile_fde(size_t index) noexcept {
    const FdeRef& ref = refs_[index];
    const CfiSection& section = ref.debug_frame ? sources_.debug_frame : sources_.eh_frame;
    const CfiRecord record = split_record(section, ref.offset);
    Fde fde;
    if (record.kind != CfiRecordKind::Fde || !parse(section, record, fde)) return;
    uint64_t limit = fde.end;
    if (ref.debug_frame && index + 1 < refs_.size() && !refs_[index + 1].debug_frame) {
      limit = std::min(limit, refs_[index + 1].start);
    }
    if (limit <= covered_ && !rows_.empty()) return;
    if (limit - first_ > UINT32_MAX) {
      too_large_ = true;
      return;
    }
    const uint64_t begin = std::max(fde.start, covered_);
    if (begin > covered_ + kPaddingBytes) add_row(covered_, 0);
    uint32_t program = UINT32_MAX;
    if (!machine_.start(cie_, fde, !cie_fresh_)) return;
    cie_fresh_ = false;
    uint64_t done = begin;
    while (machine_.next()) {
      const uint64_t from = std::max(machine_.from(), begin);
      const uint64_t to = std::min(machine_.to(), limit);
      if (to <= from) continue;
      Rule rule = make_rule(machine_.row(), cie_.signal_frame);
      if (rule.kind == RuleKind::Interpret) {
        if (program == UINT32_MAX) program = keep_program(fde);
        rule.cfa_offset = static_cast<int32_t>(program);
      }
      add_row(from, rule_index(rule));
      done = to;
    }
    if (done > covered_) covered_ = done;
  }

  void add_row(uint64_t address, uint32_t rule) noexcept {
    if (!rows_.empty() && rows_.back().rule == rule) return;
    const uint32_t offset = static_cast<uint32_t>(address - first_);
    if (!rows_.push({offset, rule})) memory_ = false;
  }

  static uint64_t hash(const Rule& rule) noexcept {
    uint64_t words[3];
    std::memcpy(words, &rule, sizeof words);
    uint64_t h = words[0] * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 32) ^ words[1]) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 29) ^ words[2]) * 0x94d049bb133111ebu;
    return h ^ (h >> 32);
  }

  uint32_t rule_index(const Rule& rule) noexcept {
    if (rules_.size() * 2 >= slots_.size()) rehash();
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash(rule) & mask;; at = (at + 1) & mask) {
      const uint32_t index = slots_[at];
      if (index == 0) {
        if (!memory_ || !rules_.push(rule)) {
          memory_ = false;
          return 0;
        }
        slots_[at] = static_cast<uint32_t>(rules_.size() - 1);
        return slots_[at];
      }
      if (rules_[index] == rule) return index;
    }
  }

  void rehash() noexcept {
    const size_t size = slots_.size() * 2;
    slots_.clear();
    if (!slots_.resize_zeroed(size)) {
      memory_ = false;
      return;
    }
    for (uint32_t i = 1; i < rules_.size(); ++i) {
      size_t at = hash(rules_[i]) & (size - 1);
      while (slots_[at] != 0) at = (at + 1) & (size - 1);
      slots_[at] = i;
    }
  }

  uint32_t keep_program(const Fde& fde) noexcept {
    const size_t cie_bytes = cie_.instructions.size;
    auto* copy = static_cast<uint8_t*>(immutable_allocate(cie_bytes + fde.instructions.size + 1));
    if (!copy) {
      memory_ = false;
      return 0;
    }
    CfiProgram program{cie_, fde};
    std::memcpy(copy, cie_.instructions.data, cie_bytes);
    std::memcpy(copy + cie_bytes, fde.instructions.data, fde.instructions.size);
    program.cie.instructions.data = copy;
    program.fde.instructions.data = copy + cie_bytes;
    if (!programs_.push(program)) memory_ = false;
    return static_cast<uint32_t>(programs_.size() - 1);
  }

  template <typename T>
  bool keep(const Scratch<T>& from, const T*& to, uint32_t& count) noexcept {
    count = static_cast<uint32_t>(from.size());
    if (count == 0) return true;
    void* at = immutable_allocate(from.size() * sizeof(T));
    if (!at) return false;
    std::memcpy(at, static_cast<const void*>(from.data()), from.size() * sizeof(T));
    to = static_cast<const T*>(at);
    return true;
  }

  CompileStatus publish() noexcept {
    Scratch<uint32_t> blocks;
    const uint64_t span = covered_ - first_;
    uint32_t row = 0;
    for (uint64_t at = 0; at < span; at += uint64_t{1} << UnwindTable::kBlockShift) {
      while (row + 1 < rows_.size() && rows_[row + 1].offset <= at) ++row;
      if (!blocks.push(row)) return CompileStatus::NoMemory;
    }
    table_.first = first_;
    table_.end = covered_;
    const bool kept = keep(rows_, table_.rows, table_.row_count) &&
                      keep(rules_, table_.rules, table_.rule_count) &&
                      keep(blocks, table_.blocks, table_.block_count) &&
                      keep(programs_, table_.programs, table_.program_count);
    return kept ? CompileStatus::Ok : CompileStatus::NoMemory;
  }

  const CfiSources& sources_;
  UnwindTable& table_;
  uint64_t first_ = 0;
  uint64_t covered_ = 0;
  bool memory_ = true;
  bool too_large_ = false;
  Scratch<FdeRef> refs_;
  Scratch<Row> rows_;
  Scratch<Rule> rules_;
  Scratch<uint32_t> slots_;
  Scratch<CfiProgram> programs_;
  Cie cie_;
  const uint8_t* cie_section_ = nullptr;
  int64_t cie_offset_ = -1;
  bool cie_ok_ = false;
  bool cie_fresh_ = true;
  CfiMachine machine_;
};

}  // namespace

CompileStatus compile_table(const CfiSources& sources, UnwindTable& table) noexcept {
  table = UnwindTable{};
  const Mapped<Compiler> compiler(sources, table);
  return compiler ? compiler->run() : CompileStatus::NoMemory;
}

}  // namespace hpcrun
