// Tests of what symbol_name() leaves of a demangled name.
#include "tasks/crash_frames.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace repro_minify {
namespace {

struct Case {
  std::string_view demangled;
  std::string_view name;
};

const std::vector<Case> cases = {
    // not C++, or nothing to take away
    {"", ""},
    {"raise", "raise"},
    {"main", "main"},
    {"at::native::add", "at::native::add"},
    // arguments, return types, template arguments, qualifiers
    {"f()", "f"},
    {"a::f(int, char const*) const", "a::f"},
    {"void at::native::(anonymous namespace)::f<float>(at::Tensor const&)", "at::native::(anonymous namespace)::f"},
    {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
    {"unsigned long f<int>(int)", "f"},
    {"char const* const& ns::f<(char)60>()", "ns::f"},
    {"std::vector<int, std::allocator<int> > a::g<std::map<int, a::b<c> > >(std::function<void (int)>)", "a::g"},
    {"std::enable_if<((sizeof (int))>(4)), int>::type f<int>(int)", "f"},
    {"A<((1)<<(3))>::f<(1 < 2)>(int)", "A::f"},
    {"decltype (((declval<T>)()).x) f<T>(T)", "f"},
    {"decltype ((*x).y()) f<T>(T)", "f"},
    {"decltype(auto) f<int>(int)", "f"},
    {"decltype (p->q) A<decltype (p->q)>::f(int)", "A::f"},
    {"void (*ns::G<int>::get<(ns::t)5>(bool))(unsigned char const*, int)", "ns::G::get"},
    {"c10::toString[abi:cxx11](c10::Scalar const&)", "c10::toString"},
    {"A<int>::A<float>(float)", "A::A"},
    {"std::vector<int, std::allocator<int> >::~vector()", "std::vector::~vector"},
    {"virtual thunk to a::B::f() const", "a::B::f"},
    {"f(int) [clone .cold]", "f"},
    {"A::f() volatile &&", "A::f"},
    {"cooperator<int>::f()", "cooperator::f"},
    {"operators::f<int>()", "operators::f"},
    // operators
    {"A::operator()(int) const", "A::operator()"},
    {"void A::operator()<int>(int) const", "A::operator()"},
    {"A<int>::operator[](unsigned long)", "A::operator[]"},
    {"ns::operator<(A const&, A const&)", "ns::operator<"},
    {"bool ns::operator< <int>(S<int> const&, S<int> const&)", "ns::operator<"},
    {"std::ostream& c10::operator<< <long>(std::ostream&, c10::VaryingShape<long> const&)", "c10::operator<<"},
    {"bool operator><int>(S<int>)", "operator>"},
    {"bool operator>=<int>(S<int>)", "operator>="},
    {"std::strong_ordering operator<=><int>(S<int>)", "operator<=>"},
    {"A operator-<int>(S<int>)", "operator-"},
    {"A<int>::operator->() const", "A::operator->"},
    {"int* A::operator-><int>()", "A::operator->"},
    {"A<B<int> >::operator->*(int)", "A::operator->*"},
    {"A::operator==(A const&)", "A::operator=="},
    {"A::operator,(int)", "A::operator,"},
    {"operator new(unsigned long)", "operator new"},
    {"operator delete[](void*)", "operator delete[]"},
    {"A::operator bool() const", "A::operator bool"},
    {"A::operator std::vector<int, std::allocator<int> >() const", "A::operator std::vector"},
    {"A::operator char const*()", "A::operator char const*"},
    {"operator\"\" _km(long double)", "operator\"\" _km"},
    {"A<&B::operator<>::f(int)", "A::f"},
    {"A<ns::operator<(B, B)::{lambda()#1}>::f(int)", "A::f"},
    // what is local to a function
    {"f(int)::{lambda(int)#1}::operator()(int) const", "f::{lambda}::operator()"},
    {"auto ns::f<int>(int)::{lambda(auto:1&&)#2}::operator()<int&>(int&) const", "ns::f::{lambda}::operator()"},
    {"f()::{lambda()#1}::operator()() const::{lambda(float)#3}::operator()(float) const",
     "f::{lambda}::operator()::{lambda}::operator()"},
    {"f({lambda({lambda(int)#1})#2})::{lambda<typename $T0>($T0)#1}::operator()()", "f::{lambda}::operator()"},
    {"A::operator bool() const::{lambda()#1}::operator()() const", "A::operator bool::{lambda}::operator()"},
    {"f(int)::Local::method() const", "f::Local::method"},
    {"A::f() const &::Local::g()", "A::f::Local::g"},
    {"A::{unnamed type#1}::f()", "A::{unnamed type}::f"},
    {"f(int)::{default arg#1}::{lambda()#1}::operator()() const", "f::{default arg}::{lambda}::operator()"},
};

TEST(SymbolName, KeepsWhatAPersonWouldCallIt) {
  for (const Case &each : cases)
    EXPECT_EQ(symbol_name(each.demangled), each.name) << each.demangled;
}

TEST(SymbolName, StaysTheSameWhenTakenTwice) {
  for (const Case &each : cases) {
    if (each.name.find("operator ") == std::string_view::npos) { // looks like a return type without its parentheses
      EXPECT_EQ(symbol_name(each.name), each.name);
    }
  }
}

TEST(SymbolName, SurvivesTextThatEndsAnywhere) {
  for (const Case &each : cases)
    for (std::size_t size = 0; size < each.demangled.size(); ++size) {
      EXPECT_LE(symbol_name(each.demangled.substr(0, size)).size(), size + 1);
      EXPECT_LE(symbol_name(each.demangled.substr(size)).size(), each.demangled.size() + 1);
    }
}

TEST(SymbolName, SurvivesBracketsThatDoNotMatch) {
  for (const char *text :
       {">",         ")",          "}",           "]",    "<",     "(",   "{",  "[",        "((",
        "f<)>",      "f(>",        "f{)",         ")>]}", "<<<>>", "f->", "(*", "operator", "operator(",
        "operator ", "operator <", "operator<<<", " ",    "::",    "{}",  "{#"})
    symbol_name(text);
  for (int first = 1; first < 256; ++first)
    for (const char second : {'<', '>', '(', ')', '{', '}', '-', ' ', '*'})
      symbol_name(std::string{static_cast<char>(first), second});
}

} // namespace
} // namespace repro_minify
