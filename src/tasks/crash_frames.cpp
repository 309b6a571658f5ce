#include "tasks/crash_frames.h"

#include "core/text.h"
#include "tasks/shared_area.h"

#include <algorithm>
#include <array>
#include <cctype>
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

constexpr std::string_view sanitizers[] = {"__asan",  "__hwasan",    "__lsan",         "__msan",         "__tsan",
                                           "__ubsan", "__sanitizer", "__interceptor_", "___interceptor_"};

/// The functions by which a process sends itself a signal, and those by which an uncaught exception gets there. No
/// linker knows the other ones on that way (__pthread_kill_implementation, __assert_fail_base, our own
/// describe_and_abort): they are nameless.
bool is_way_to_die(std::string_view name) {
  static const auto ways_to_die = set_of_words(
      "raise gsignal kill tgkill pthread_kill abort __assert __assert_fail __assert_perror_fail std::terminate "
      "std::rethrow_exception __cxxabiv1::__terminate __gnu_cxx::__verbose_terminate_handler __cxa_throw __cxa_rethrow "
      "__cxa_call_terminate __clang_call_terminate __gxx_personality_v0 _Unwind_RaiseException");
  return ways_to_die.contains(name);
}

bool says_nothing(std::string_view name) {
  return is_way_to_die(name) ||
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

/// The operators that look like brackets, or hold a '>' that closes none. Longer ones come first.
constexpr std::array<std::string_view, 13> bracket_operators = {"()", "[]", "<=>", "<<=", ">>=", "->*", "<<",
                                                                ">>", "<=", ">=",  "->",  "<",   ">"};

bool is_part_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// The length of "operator" and of what looks like a bracket after it, when that begins at `at`; else 0.
std::size_t operator_length(std::string_view text, std::size_t at) {
  constexpr std::string_view word = "operator";
  if (!text.substr(at).starts_with(word) || (at > 0 && is_part_of_word(text[at - 1])))
    return 0;
  const std::string_view after = text.substr(at + word.size());
  if (!after.empty() && is_part_of_word(after.front()))
    return 0;
  const auto symbol = std::ranges::find_if(bracket_operators, [&](auto op) { return after.starts_with(op); });
  return word.size() + (symbol == bracket_operators.end() ? 0 : symbol->size());
}

/// Where the bracket that opens at `from` has closed. Within parentheses a '<' may be an operator, which nothing
/// closes.
std::size_t end_of_brackets(std::string_view text, std::size_t from) {
  constexpr std::string_view opening = "(<[{";
  constexpr std::string_view closing = ")>]}";
  std::string expected;
  std::size_t at = from;
  do {
    if (const std::size_t length = operator_length(text, at)) {
      at += length;
      continue;
    }
    const char c = text[at++];
    if (const auto kind = opening.find(c); kind != std::string_view::npos) {
      expected += closing[kind];
    } else if (c == '>') {
      if (expected.back() == '>' && text[at - 2] != '-')
        expected.pop_back();
    } else if (closing.find(c) != std::string_view::npos) {
      expected.resize(expected.find_last_not_of('>') + 1);
      if (!expected.empty())
        expected.pop_back();
    }
  } while (at < text.size() && !expected.empty());
  return std::min(at, text.size());
}

/// Goes from left to right through the text; what has been read of the name is forgotten when it turns out to be the
/// return type.
class Reader {
public:
  explicit Reader(std::string_view text) : text_(text) {}
  std::string name();

private:
  std::string_view rest() const { return text_.substr(at_); }
  bool skip(std::string_view expected);
  void keep(std::size_t length);
  void skip_brackets() { at_ = end_of_brackets(text_, at_); }
  void read_operator(std::size_t length);
  void read_braces();
  bool read_parenthesis();
  bool goes_on_after_arguments();

  std::string_view text_;
  std::size_t at_ = 0;
  std::string name_;
};

bool Reader::skip(std::string_view expected) {
  const bool there = rest().starts_with(expected);
  at_ += there ? expected.size() : 0;
  return there;
}

void Reader::keep(std::size_t length) {
  name_ += rest().substr(0, length);
  at_ += length;
}

/// "operator new", and a conversion, have spaces that do not end a return type.
void Reader::read_operator(std::size_t length) {
  keep(length);
  if (rest().starts_with(" <")) { // "operator< <int>"
    at_ += 1;
  } else if (rest().starts_with(' ') || rest().starts_with('"')) {
    while (!rest().empty() && rest().front() != '(')
      if (rest().front() == '<')
        skip_brackets();
      else
        keep(1);
  }
}

/// "{lambda(int)#1}", "{unnamed type#1}", "{default arg#1}"
void Reader::read_braces() {
  const std::size_t from = at_;
  skip_brackets();
  const std::string_view braces = text_.substr(from, at_ - from);
  name_ += braces.substr(0, braces.find_first_of("(<#}"));
  name_ += '}';
}

/// False when nothing of the name can follow.
bool Reader::read_parenthesis() {
  constexpr std::string_view anonymous = "(anonymous namespace)";
  if (rest().starts_with(anonymous)) {
    keep(anonymous.size());
    return true;
  }
  if (name_.empty() && (skip("(*") || skip("(&"))) // it returns a pointer to a function: "void (*f(int))(float)"
    return true;
  const bool part_of_type = name_.empty() || name_ == "decltype";
  skip_brackets();
  return part_of_type || goes_on_after_arguments();
}

bool Reader::goes_on_after_arguments() {
  while (skip(" const") || skip(" volatile") || skip(" &") || skip("&"))
    ;
  return rest().starts_with("::"); // it is the scope of something local
}

std::string Reader::name() {
  for (bool more = true; more && !rest().empty();) {
    const char next = rest().front();
    if (const std::size_t length = operator_length(text_, at_))
      read_operator(length);
    else if (next == '(')
      more = read_parenthesis();
    else if (next == '{')
      read_braces();
    else if (next == '<' || next == '[') // "[abi:cxx11]"
      skip_brackets();
    else if (skip(" "))
      name_.clear();
    else
      keep(1);
  }
  name_.resize(name_.find_last_not_of(' ') + 1);
  return name_;
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

std::string symbol_name(std::string_view demangled) {
  return Reader(demangled).name();
}

} // namespace repro_minify
