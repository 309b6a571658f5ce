// A library that a job loads by itself, so that its parent knows nothing of it.

namespace crashing_library {

int *volatile nowhere = nullptr;

__attribute__((noinline, no_sanitize("address", "undefined"))) void write_to_null() {
  *nowhere = 1;
}

} // namespace crashing_library

extern "C" void crash_in_library() {
  crashing_library::write_to_null();
  crashing_library::nowhere = nullptr; // else the call above is a jump
}
