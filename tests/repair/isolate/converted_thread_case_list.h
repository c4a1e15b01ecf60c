#pragma once
// The cases of converted_thread_cases.cpp, by subject.

#include <signal.h>

#include <span>

#include "tests/repair/isolate/converted_thread_turns.h"

std::span<const Case> sync_cases();
std::span<const Case> signal_cases();
std::span<const Case> end_cases();

inline sigset_t only(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}
