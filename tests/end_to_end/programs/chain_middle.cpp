#include <dlfcn.h>
[[gnu::visibility("default")]] int middle_finds_leaf() {
  return dlopen("chain_leaf.so", RTLD_NOW) != nullptr;
}
