// Finds its neighbours by its DT_RPATH, which also applies to what they open.
int middle_finds_leaf();
extern "C" [[gnu::visibility("default")]] int top_finds_leaf() {
  return middle_finds_leaf();
}
