#pragma once
// Declares the functions that switch.S defines. Their contracts are documented there.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "repair/isolate/session/thread_record.h"

extern "C" {
long hpcrun_part(hpcrun::ThreadRecord* record, long clone_flags) noexcept;
void hpcrun_leave(hpcrun::ThreadRecord* record) noexcept;

long hpcrun_passed_call(long number, const long* arguments, const std::atomic<uint32_t>* stop) noexcept;
extern const char hpcrun_passed_call_begin[], hpcrun_passed_call_end[], hpcrun_passed_call_stopped[],
    hpcrun_passed_call_ended[];

void hpcrun_stay_stopped(std::atomic<uint32_t>* is_stopped, const std::atomic<uint32_t>* word,
                         uint32_t value) noexcept;

void hpcrun_signal_return() noexcept;
[[noreturn]] void hpcrun_return_to(const void* frame) noexcept;

extern const char hpcrun_clone_sites[];
extern std::atomic<uintptr_t> hpcrun_clone_places[];
}

namespace hpcrun {

constexpr long kNotExecuted = -512;     // ERESTARTSYS, which no program receives
constexpr long kEndedByHandler = -513;  // ERESTARTNOINTR, likewise
constexpr int kCloneSites = 64;         // the C library and the loader have five
constexpr size_t kCloneSiteBytes = 32;

}  // namespace hpcrun
