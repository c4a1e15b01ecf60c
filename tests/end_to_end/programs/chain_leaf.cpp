extern "C" [[gnu::visibility("default")]] int leaf() {
  return 1;
}
