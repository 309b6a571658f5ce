// The part of a demangled symbol that a person would call the function by.
#pragma once
#include <string>
#include <string_view>

namespace repro_minify {

/// "void ns::(anonymous namespace)::f<float>(at::Tensor const&)" -> "ns::(anonymous namespace)::f": no return type, no
/// arguments, no template arguments, no qualifiers, no number of a lambda ("f::{lambda}::operator()"). Understands what
/// abi::__cxa_demangle() writes, and never fails on anything else; empty when no name is left.
std::string symbol_name(std::string_view demangled);

} // namespace repro_minify
