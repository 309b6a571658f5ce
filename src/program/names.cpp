#include "program/names.h"

#include "core/text.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

namespace repro_minify {
namespace {

constexpr size_t longest = 60;

using Words = std::set<std::string, std::less<>>;

/// C++20's keywords, alternative tokens and contextual keywords, and C's where a compiler takes them as extensions.
const Words cpp = set_of_words(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl "
    "concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default "
    "delete do double dynamic_cast else enum explicit export extern false final float for friend goto if import inline "
    "int long module mutable namespace new noexcept not not_eq nullptr operator or or_eq override private protected "
    "public register reflexpr requires restrict return short signed sizeof static struct switch synchronized "
    "static_assert static_cast template this thread_local throw true try typedef typeid typename typeof union unsigned "
    "using virtual void volatile wchar_t while xor xor_eq int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t "
    "uint64_t size_t ptrdiff_t main std atomic_cancel reinterpret_cast atomic_commit atomic_noexcept");

/// Macros of the C library and of compilers that are not written in capitals; GCC defines `linux` and `unix` as 1.
const Words macros = set_of_words(
    "alloca assert assert_perror errno i386 linux major makedev math_errhandling minor offsetof sigmask "
    "sched_priority setjmp stderr stdin stdout unix MaxTypeIndex issubnormal complex imaginary noreturn "
    "strdupa strndupa timeradd timersub timercmp timerclear timerisset isnan isinf isfinite isnormal signbit");
constexpr std::string_view macro_prefixes[] = {"AT_",  "C10_",   "L_",  "M_",  "P_",
                                               "SYS_", "TORCH_", "sa_", "si_", "sigev_"};

/// Python's keywords, soft ones too, and the functions that repro.py calls.
const Words python = set_of_words(
    "and as assert async await break case class continue def del elif else except exec finally for from global if "
    "import in is lambda match nonlocal not or pass print raise return try type while with yield None True False self "
    "cls super math sys here isinstance enumerate zip range Path Exception compile_fx config");

/// Names that TorchScript's compiler and its printer know, types included, and those that a repro's own text uses.
const Words torchscript = set_of_words(
    "torch ops aten prim at c10 int float bool str complex list dict tuple set len range zip enumerate min "
    "max abs all any sum round divmod ord chr hex oct bin hash id sorted getattr hasattr isinstance print "
    "annotate fork wait awaitable device dtype layout inf nan infj nanj rangelist uninitialized "
    "unchecked_cast unchecked_unwrap_optional is_scripting CONSTANTS training forward v Tensor Optional List "
    "Dict Tuple Union Future Await RRef Any NoneType number Device Generator Stream Storage Layout "
    "MemoryFormat ScalarType QScheme Scalar InterfaceType PyObject AnyEnum program graph constants");

/// Attributes of torch.nn.Module, which a parameter or a buffer must not hide.
const Words nn_module = set_of_words(
    "add_module apply bfloat16 buffers children compile cpu cuda double eval extra_repr half ipu "
    "load_state_dict modules mtia parameters requires_grad_ share_memory state_dict to to_empty train type "
    "xpu zero_grad T_destination call_super_init dump_patches get_buffer get_extra_state get_parameter "
    "get_submodule set_extra_state set_submodule named_buffers named_children named_modules named_parameters");
/// Prefixes of torch.nn.Module's methods, and of those that a Program gives its module for what has to stay a call.
constexpr std::string_view method_prefixes[] = {"register_", "call_"};

bool ends_in_number(std::string_view name) {
  const auto last = name.find_last_not_of("0123456789");
  return last != std::string_view::npos && last + 1 < name.size() && name[last] == '_';
}

bool begins_with_any_of(std::string_view name, const auto &prefixes) {
  return std::ranges::any_of(prefixes, [name](auto prefix) { return name.starts_with(prefix); });
}

/// Capitals alone, two at least: mostly a macro of some header.
bool looks_like_a_macro(std::string_view name) {
  const auto capitals = std::ranges::count_if(name, [](char c) { return c >= 'A' && c <= 'Z'; });
  return capitals > 1 && std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_reserved(std::string_view name) {
  for (const Words *words : {&cpp, &macros, &python, &torchscript, &nn_module})
    if (words->count(name))
      return true;
  // A number behind it makes it a name of its own, here as below.
  return !ends_in_number(name) && (begins_with_any_of(name, macro_prefixes) ||
                                   begins_with_any_of(name, method_prefixes) || looks_like_a_macro(name));
}

/// Two underscores, or one before a capital, belong to C++; Python gives two in front a meaning of their own.
std::string plain_characters(const std::string &text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  if (name.size() > longest)
    name.erase(0, name.size() - longest); // the end of a path says most
  name.erase(0, name.find_first_not_of('_'));
  while (!name.empty() && name.back() == '_')
    name.pop_back();
  return name;
}

std::string begun_with_a_letter(const std::string &name) {
  return name.empty() || (name[0] >= '0' && name[0] <= '9') ? "v" + name : name;
}

} // namespace

std::string to_identifier(const std::string &text) {
  const std::string name = begun_with_a_letter(plain_characters(text));
  // Cut again: with the number it may be too long, and would be another name the next time.
  return is_reserved(name) ? begun_with_a_letter(plain_characters(name + "_0")) : name;
}

} // namespace repro_minify
