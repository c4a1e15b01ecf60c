#pragma once
// For programs that are annotated: threads with private pages, in a library that is not (isolated.h). It has
// the calls of annotated code, and those that stand in front of the C library's.

#include <cstddef>
#include <cstdint>

extern "C" {

// Common memory and a session, as isolated_start().
void isolated_pages_start();

// The caller is a converted thread, and the pages in which these bytes lie are its own. False: the thread is
// at home, as in a handler that interrupted a region.
bool isolated_pages_take(const void* address, size_t bytes);
// As it becomes one, whoever has it do so.
void isolated_pages_want(const void* address, size_t bytes);
// All is common again, and the thread at home.
void isolated_pages_leave();
bool isolated_pages_are_own(const void* address);

struct IsolatedPagesCounts {
  uint64_t commits;  // of the calling converted thread
  uint64_t put_off;  // times that a handler found a region open, of all
};
IsolatedPagesCounts isolated_pages_counts();

// For threads that begin at once. With 0 a thread comes to the place where so many meet, and is told a
// number; with that number it is told 0 when all are there.
uint64_t isolated_pages_meet(int threads, uint64_t number);

// Lets others run, and commits nothing.
void isolated_pages_yield();
// ns, without a call of the C library's.
uint64_t isolated_pages_now();
}
