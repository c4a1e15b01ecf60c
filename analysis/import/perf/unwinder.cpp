#include "analysis/import/perf/unwinder.h"

#include <asm/perf_regs.h>
#include <elfutils/libdwfl.h>

#include <array>
#include <bit>
#include <cstring>

#include "analysis/attribution/debug_file.h"
#include "hpcrun/unwind/frame.h"

namespace prof::perf {
namespace {

// Limits descriptors: Dwfls are kept for the files of up to this many mapped parts.
constexpr size_t kMaxParts = 400;

// DWARF numbers the registers of x86-64 differently; the last one is the return address column.
constexpr std::array<unsigned, 17> kRegisters = {
    PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,  PERF_REG_X86_SI,
    PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,
    PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
    PERF_REG_X86_R15, PERF_REG_X86_IP};
constexpr size_t kStackPointer = 7;

const Dwfl_Callbacks kFileCallbacks = {
    .find_elf = nullptr,
    .find_debuginfo = find_local_debug_file,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

}  // namespace

struct Unwinder::Process {
  struct End {
    void operator()(Dwfl* ended) const { dwfl_end(ended); }
  };
  std::unique_ptr<Dwfl, End> dwfl;
  std::map<uint64_t, uint64_t> reported;  // by start, the address of the last byte
  uint64_t replaced = 0;
  bool attached = false;

  // State of the sample that is being unwound.
  std::array<Dwarf_Word, kRegisters.size()> registers{};
  std::span<const uint8_t> stack;
  std::vector<uint64_t>* chain = nullptr;
  bool piece_ended = false;
  bool too_deep = false;

  bool attach();
  void report(const AttributionOptions& options, const AddressSpace& space, ModuleOf module_of,
              const void* context);
};

Unwinder::Unwinder(const AttributionOptions& options) : options_(options) {}
Unwinder::~Unwinder() = default;

bool Unwinder::Process::attach() {
  static const Dwfl_Thread_Callbacks kCallbacks = {
      .next_thread = [](Dwfl*, void* self, void** thread) -> pid_t {
        if (*thread != nullptr) return 0;
        *thread = self;
        return 1;
      },
      .get_thread = [](Dwfl*, pid_t, void* self, void** thread) -> bool {
        *thread = self;
        return true;
      },
      .memory_read = [](Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void* self) -> bool {
        auto& process = *static_cast<Unwinder::Process*>(self);
        const uint64_t offset = address - process.registers[kStackPointer];
        if (offset >= process.stack.size() || process.stack.size() - offset < sizeof *word) {
          // Above the recorded piece, but near it: the stack continued there.
          constexpr uint64_t kMaxStack = uint64_t{1} << 30;
          process.piece_ended |= address >= process.registers[kStackPointer] && offset < kMaxStack;
          return false;
        }
        std::memcpy(word, process.stack.data() + offset, sizeof *word);
        return true;
      },
      .set_initial_registers = [](Dwfl_Thread* thread, void* self) -> bool {
        const auto& process = *static_cast<Unwinder::Process*>(self);
        return dwfl_thread_state_registers(thread, 0, static_cast<unsigned>(process.registers.size()),
                                           process.registers.data());
      },
      .detach = nullptr,
      .thread_detach = nullptr,
  };
  if (!attached) attached = dwfl_attach_state(dwfl.get(), nullptr, 1, &kCallbacks, this);
  return attached;
}

void Unwinder::Process::report(const AttributionOptions& options, const AddressSpace& space,
                               ModuleOf module_of, const void* context) {
  if (dwfl == nullptr || replaced != space.replaced()) {
    dwfl.reset(dwfl_begin(&kFileCallbacks));
    attached = false;
    reported.clear();
    replaced = space.replaced();
  }
  if (reported.size() == space.parts().size()) return;
  dwfl_report_begin_add(dwfl.get());
  for (const auto& [start, part] : space.parts()) {
    if (!reported.try_emplace(start, part.last).second) continue;
    const UnwindModule module = module_of(context, start, part);
    if (module.path.empty() || dwfl_addrmodule(dwfl.get(), start) != nullptr) continue;
    Dwfl_Module* const added =
        dwfl_report_elf(dwfl.get(), module.path.c_str(), module.path.c_str(), -1, module.load_bias, true);
    if (added == nullptr) continue;
    void** user_data = nullptr;
    dwfl_module_info(added, &user_data, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    *user_data = const_cast<AttributionOptions*>(&options);
  }
  dwfl_report_end(dwfl.get(), nullptr, nullptr);
}

Unwinder::Process& Unwinder::process_of(uint64_t process, const AddressSpace& space, ModuleOf module_of,
                                        const void* context) {
  size_t parts = 0;
  for (const auto& [number, known] : processes_) parts += known->reported.size();
  if (parts > kMaxParts && !processes_.contains(process)) processes_.clear();
  std::unique_ptr<Process>& found = processes_[process];
  if (!found) found = std::make_unique<Process>();
  found->report(options_, space, module_of, context);
  return *found;
}

UnwindEnd Unwinder::unwind(uint64_t process, const AddressSpace& space, ModuleOf module_of,
                           const void* context, const Sample& sample, std::vector<uint64_t>& chain) {
  chain.clear();
  if (sample.user_abi != PERF_SAMPLE_REGS_ABI_64) return UnwindEnd::Unsupported;
  Process& state = process_of(process, space, module_of, context);
  for (size_t i = 0; i < kRegisters.size(); ++i) {
    const std::optional<uint64_t> value = sample.user_register(kRegisters[i]);
    if (!value) return UnwindEnd::Unsupported;
    state.registers[i] = *value;
  }
  if (!state.attach()) return UnwindEnd::NoUnwindInfo;
  state.stack = sample.user_stack;
  state.chain = &chain;
  state.piece_ended = state.too_deep = false;
  const int status = dwfl_getthread_frames(
      state.dwfl.get(), 1,
      [](Dwfl_Frame* frame, void* self) -> int {
        auto& of = *static_cast<Process*>(self);
        Dwarf_Addr address = 0;
        bool interrupted = false;
        if (!dwfl_frame_pc(frame, &address, &interrupted)) return DWARF_CB_ABORT;
        of.chain->push_back(interrupted ? address : address - 1);
        of.too_deep = of.chain->size() >= hpcrun::kMaxDepth;
        return of.too_deep ? DWARF_CB_ABORT : DWARF_CB_OK;
      },
      &state);
  if (state.too_deep) return UnwindEnd::TooDeep;
  if (status == 0) return UnwindEnd::EndOfStack;
  return state.piece_ended ? UnwindEnd::StackPieceEnds : UnwindEnd::NoUnwindInfo;
}

}  // namespace prof::perf
