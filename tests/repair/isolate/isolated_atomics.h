#pragma once
// Private pages for the converted threads of test programs (isolated.h), with or without handling of their
// atomic instructions.

extern "C" {

// Reserves the room for private pages, and plans the program's modules if `patches`. Ends the program with
// status 125 if that fails. Must be called after isolated_make_common(), before there are converted threads.
void isolated_plan_atomics(bool patches);

// Makes converted threads map the patched code instead of patching it themselves.
void isolated_keep_patched_code();

// Makes the page private in every converted thread from its next conversion on.
void isolated_add_page(void* page);

// Returns the number of private pages of the calling thread.
unsigned isolated_pages();
}

namespace hpcrun::test {

// Hooks of the session.
void take_own_pages() noexcept;
void leave_own_pages() noexcept;
bool is_busy_with_own_pages() noexcept;

}  // namespace hpcrun::test
