// Linked in the place of the commits of private pages (--wrap): converted threads see what others wrote, and
// others what they wrote, when a page is given back, and not before.

#include "repair/isolate/pages/private_pages.h"

// PrivatePages::commit_pages()
#define COMMIT_PAGES __wrap__ZN6hpcrun12PrivatePages12commit_pagesENS_6StoresE

extern "C" void COMMIT_PAGES(hpcrun::PrivatePages*, hpcrun::Stores) noexcept;
void COMMIT_PAGES(hpcrun::PrivatePages*, hpcrun::Stores) noexcept {}
