// Jumps and context switches. They restore the signal mask with system calls of the C library's own, which
// use only the kernel's mask. The virtual mask is therefore stored in a part of the saved set that neither of
// them uses. The functions return twice or not at all, so ours leave no frame: they save or restore, then
// jump to the C library's.

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "hpcrun/interpose/next_function.h"
#include "hpcrun/sample/waiting.h"
#include "hpcrun/signals/virtual_signals.h"

using namespace hpcrun;

namespace {

using Function = void();

HPCRUN_NEXT_OF_TYPE(__sigsetjmp, Function);
HPCRUN_NEXT_OF_TYPE(siglongjmp, Function);
HPCRUN_NEXT_OF_TYPE(__longjmp_chk, Function);
HPCRUN_NEXT_OF_TYPE(getcontext, Function);
HPCRUN_NEXT_OF_TYPE(setcontext, Function);
HPCRUN_NEXT_OF_TYPE(swapcontext, Function);

// The kernel has 64 signals; the sets of the C library have room for 1,024.
struct SavedSet {
  SignalMask kernel;
  SignalMask unused[13];
  uint64_t mark;
  SignalMask virtually;
};
static_assert(sizeof(SavedSet) == sizeof(sigset_t));
constexpr uint64_t kMark = 0x6b73616d'666f7270;  // "profmask"

SavedSet& saved_set(sigset_t& set) noexcept {
  return reinterpret_cast<SavedSet&>(set);
}

void save(sigset_t& set) noexcept {
  saved_set(set).mark = kMark;
  saved_set(set).virtually = virtual_blocked();
}

void restore(SignalMask blocked) noexcept {
  if (blocked != virtual_blocked() && !in_unmeasured_child()) set_virtual_blocked(blocked);
}

void restore_jump(jmp_buf buffer) noexcept {
  leave_waits();
  sigset_t& set = reinterpret_cast<sigset_t&>(buffer[0].__saved_mask);
  if (buffer[0].__mask_was_saved && saved_set(set).mark == kMark) restore(saved_set(set).virtually);
}

// Removes owned signals from the mask that the kernel gets. The program may have added them, and a handler's
// context contains them.
void restore_context(ucontext_t& context) noexcept {
  leave_waits();
  SavedSet& set = saved_set(context.uc_sigmask);
  const bool is_ours = set.mark == kMark;
  const SignalMask added = set.kernel & held_signals();
  restore((is_ours ? set.virtually : 0) | added);
  if (!added) return;
  set.kernel &= ~added;
  if (is_ours) set.virtually |= added;
}

}  // namespace

// Called by the entries below with the arguments of the function, which each of them returns.
extern "C" {

__attribute__((used)) Function* hpcrun_before_sigsetjmp(jmp_buf buffer, int with_mask) noexcept {
  if (with_mask) save(reinterpret_cast<sigset_t&>(buffer[0].__saved_mask));
  return HPCRUN_NEXT(__sigsetjmp);
}

__attribute__((used)) Function* hpcrun_before_siglongjmp(jmp_buf buffer) noexcept {
  restore_jump(buffer);
  return HPCRUN_NEXT(siglongjmp);
}

__attribute__((used)) Function* hpcrun_before_longjmp_chk(jmp_buf buffer) noexcept {
  restore_jump(buffer);
  return HPCRUN_NEXT(__longjmp_chk);
}

__attribute__((used)) Function* hpcrun_before_getcontext(ucontext_t* context) noexcept {
  save(context->uc_sigmask);
  return HPCRUN_NEXT(getcontext);
}

__attribute__((used)) Function* hpcrun_before_setcontext(ucontext_t* context) noexcept {
  restore_context(*context);
  return HPCRUN_NEXT(setcontext);
}

__attribute__((used)) Function* hpcrun_before_swapcontext(ucontext_t* from, ucontext_t* to) noexcept {
  save(from->uc_sigmask);
  restore_context(*to);
  return HPCRUN_NEXT(swapcontext);
}

}  // extern "C"

asm(R"(
.macro hpcrun_entry name, before
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call \before
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc
  .size \name, . - \name
.endm

.text
  .globl setjmp
  .type setjmp, @function
setjmp:  # BSD's, which saves the mask; <setjmp.h> gives the name to _setjmp, which does not
  .cfi_startproc
  movl $1, %esi
  .cfi_endproc
  .size setjmp, . - setjmp
hpcrun_entry __sigsetjmp, hpcrun_before_sigsetjmp
hpcrun_entry siglongjmp, hpcrun_before_siglongjmp
hpcrun_entry longjmp, hpcrun_before_siglongjmp
hpcrun_entry _longjmp, hpcrun_before_siglongjmp
hpcrun_entry __longjmp_chk, hpcrun_before_longjmp_chk
hpcrun_entry getcontext, hpcrun_before_getcontext
hpcrun_entry setcontext, hpcrun_before_setcontext
hpcrun_entry swapcontext, hpcrun_before_swapcontext
)");
