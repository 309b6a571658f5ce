#include "tasks/crash_frames.h"

#include "tasks/shared_area.h"
#include "tasks/symbol_name.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cxxabi.h>
#include <dlfcn.h>

namespace repro_minify {
namespace {

constexpr std::size_t most_names = 8;
constexpr std::string_view nameless = "?";

/// The functions by which a process sends itself a signal, and those by which an uncaught exception gets there. No
/// linker knows the other ones on that way (__pthread_kill_implementation, __assert_fail_base, our own
/// describe_and_abort): they are nameless.
constexpr std::string_view ways_to_die[] = {"raise",
                                            "gsignal",
                                            "kill",
                                            "tgkill",
                                            "pthread_kill",
                                            "abort",
                                            "__assert",
                                            "__assert_fail",
                                            "__assert_perror_fail",
                                            "std::terminate",
                                            "std::rethrow_exception",
                                            "__cxxabiv1::__terminate",
                                            "__gnu_cxx::__verbose_terminate_handler",
                                            "__cxa_throw",
                                            "__cxa_rethrow",
                                            "__cxa_call_terminate",
                                            "__clang_call_terminate",
                                            "__gxx_personality_v0",
                                            "_Unwind_RaiseException"};
constexpr std::string_view sanitizers[] = {"__asan",  "__hwasan",    "__lsan",         "__msan",         "__tsan",
                                           "__ubsan", "__sanitizer", "__interceptor_", "___interceptor_"};

bool says_nothing(std::string_view name) {
  return std::ranges::find(ways_to_die, name) != std::end(ways_to_die) ||
         std::ranges::any_of(sanitizers, [name](auto beginning) { return name.starts_with(beginning); });
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

std::string readable(const char *symbol) {
  if (!is_printable(symbol)) // the child has written over it
    return std::string(nameless);
  std::unique_ptr<char, void (*)(void *)> demangled(nullptr, std::free);
  if (std::string_view(symbol).starts_with("_Z")) // else a C function "f" would be a "float"
    demangled.reset(abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr));
  std::string name = symbol_name(demangled ? demangled.get() : symbol);
  return name.empty() ? std::string(nameless) : name;
}

std::string look_up(const void *address) {
  Dl_info info{};
  return readable(dladdr(address, &info) != 0 && info.dli_sname ? info.dli_sname : "");
}

/// Everything above the last of the frames that say nothing, as long as no name says something, belongs to them.
void drop_what_says_nothing(std::vector<std::string> &names) {
  const auto telling = std::ranges::find_if(names, [](const auto &n) { return n != nameless && !says_nothing(n); });
  const auto above = std::find_if(std::make_reverse_iterator(telling), names.rend(), says_nothing);
  names.erase(names.begin(), above.base());
  std::erase_if(names, says_nothing);
}

} // namespace

std::string FrameNames::name_of(const SharedArea::Frame &frame) {
  if (!frame.symbol.empty())
    return readable(frame.symbol.c_str());
  const auto [known, is_new] = looked_up_.try_emplace(frame.address);
  if (is_new)
    known->second = look_up(frame.address);
  return known->second;
}

std::vector<std::string> FrameNames::of(const std::vector<SharedArea::Frame> &frames) {
  std::vector<std::string> names;
  names.reserve(frames.size());
  for (const auto &frame : frames)
    names.push_back(name_of(frame));
  drop_what_says_nothing(names);
  names.resize(std::min(names.size(), most_names));
  return names;
}

} // namespace repro_minify
