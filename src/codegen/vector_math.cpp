#include "codegen/vector_math.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace repro_minify {
namespace {

/// An operator's function, and what MKL calls it: where LibTorch has MKL, that is what ATen gives whole tensors to
/// (ATen/cpu/vml.h). Without MKL they are SLEEF's, as below.
struct Named {
  std::string_view name;
  std::string_view other;
};
constexpr Named mkl_functions[] = {{"exp", "Exp"},   {"log", "Ln"},    {"log2", "Log2"}, {"log10", "Log10"},
                                   {"sin", "Sin"},   {"cos", "Cos"},   {"tan", "Tan"},   {"asin", "Asin"},
                                   {"acos", "Acos"}, {"atan", "Atan"}, {"tanh", "Tanh"}, {"erf", "Erf"},
                                   {"erfc", "Erfc"}};

/// What ATen takes from SLEEF with one operand. (Not sinh and cosh: SLEEF's overflow early. Not asinh and acosh: ATen
/// has them from the C library.) All are the variants with an error of 1.0 units in the last place, which their names
/// say.
constexpr std::string_view sleef_functions[] = {"expm1", "log1p"};

/// SLEEF's inside other operators and in 16-bit ones, whatever they are in float32: `vectorized_exp`, after the class
/// Vectorized, whose functions these are in ATen.
constexpr std::string_view inner_functions[] = {"exp", "exp2", "expm1", "log",  "log2", "log10", "log1p", "sin",
                                                "cos", "tan",  "asin",  "acos", "atan", "tanh",  "atanh", "erf"};
constexpr std::string_view inner = "vectorized_";

/// Inside operators that ATen computes in loops of two vectors, such as exp in sigmoid, the elements that do not fill
/// such a loop come from the C library: the first operand of `looped_exp` says whether the element is one of them.
constexpr std::string_view looped_functions[] = {"exp", "exp2", "expm1", "log1p", "tanh", "atanh"};
constexpr std::string_view looped = "looped_";

/// Those with two operands, and what SLEEF calls them.
constexpr Named binary_functions[] = {{"pow", "_u10"}, {"atan2", "_u10"}, {"fmod", ""}};

/// Every name with two operands.
std::vector<std::string> binary_names() {
  std::vector<std::string> names;
  for (const Named &function : binary_functions)
    names.emplace_back(function.name);
  for (const auto function : looped_functions)
    names.push_back(std::string(looped) + std::string(function));
  return names;
}

/// Every name with one operand.
std::vector<std::string> unary_names() {
  std::vector<std::string> names;
  for (const Named &function : mkl_functions)
    names.emplace_back(function.name);
  for (const auto function : sleef_functions)
    names.emplace_back(function);
  for (const auto function : inner_functions)
    names.push_back(std::string(inner) + std::string(function));
  return names;
}

std::string declarations() {
  std::string text = "extern \"C\" {\n";
  const std::string head = "_Pragma(\"omp declare simd notinbranch simdlen(";
  const std::string attributes = ")\") __attribute__((const, nothrow)) ";
  for (const std::string &name : unary_names()) {
    text += head + "8" + attributes + "float math_" + name + "f(float);\n";
    text += head + "4" + attributes + "double math_" + name + "(double);\n";
  }
  for (const std::string &name : binary_names()) {
    text += head + "8" + attributes + "float math_" + name + "f(float, float);\n";
    text += head + "4" + attributes + "double math_" + name + "(double, double);\n";
  }
  for (const Named &function : mkl_functions) {
    const std::string name(function.name);
    text += "void math_array_" + name + "f(const float *, float *, int64_t);\n";
    text += "void math_array_" + name + "(const double *, double *, int64_t);\n";
  }
  return text + "}\n";
}

/// A number in every lane. (Zero is taken away, not added: -0 + 0 is 0.)
std::string broadcast(const std::string &number, const std::string &vector) {
  return number + " - " + vector + "{}";
}

/// One function for eight floats, or four doubles, under the names that the compiler's vectoriser calls, and one for a
/// single value; `vector_call` and `call` compute them from x.
std::string definition(const std::string &name, const std::string &type, int lanes, const std::string &vector_call,
                       const std::string &call) {
  const std::string vector = type + std::to_string(lanes);
  std::string text;
  for (const char *isa : {"d", "e"})
    text += "extern \"C\" " + vector + " _ZGV" + isa + "N" + std::to_string(lanes) + "v_math_" + name + "(" + vector +
            " x) { " + vector_call + " }\n";
  return text + "extern \"C\" " + type + " math_" + name + "(" + type + " x) { " + call + " }\n";
}

std::string array_head(const std::string &linkage, const std::string &name, const std::string &type) {
  return linkage + " void math_array_" + name + "(const " + type + " *x, " + type + " *y, int64_t count) { ";
}

/// By the function for one vector.
std::string array_definition(const std::string &name, const std::string &type, int lanes) {
  const std::string vector = type + std::to_string(lanes), size = std::to_string(lanes);
  return array_head("extern \"C\"", name, type) + "for (; count >= " + size + "; count -= " + size + ", x += " + size +
         ", y += " + size + ") { " + vector + " v; __builtin_memcpy(&v, x, sizeof(v)); v = _ZGVdN" + size + "v_math_" +
         name + "(v); __builtin_memcpy(y, &v, sizeof(v)); } for (; count > 0; --count) *y++ = math_" + name +
         "(*x++); }\n";
}

std::string sleef_definition(const std::string &name, const std::string &type, int lanes, const std::string &sleef) {
  const std::string vector = type + std::to_string(lanes);
  return "extern \"C\" " + vector + " " + sleef + "(" + vector + ");\n" +
         definition(name, type, lanes, "return " + sleef + "(x);",
                    "return " + sleef + "(" + broadcast("x", vector) + ")[0];");
}

/// MKL's functions take arrays, and give a number the same result however many it stands among.
std::string mkl_definition(const std::string &name, const std::string &type, int lanes, const std::string &mkl) {
  const std::string vector = type + std::to_string(lanes);
  const auto call = [&](const std::string &result, int count) {
    return result + " y; " + mkl + "(" + std::to_string(count) + ", reinterpret_cast<const " + type +
           " *>(&x), reinterpret_cast<" + type + " *>(&y), mkl_mode); return y;";
  };
  return "extern \"C\" void " + mkl + "(int, const " + type + " *, " + type + " *, long long);\n" +
         definition(name, type, lanes, call(vector, lanes), call(type, 1)) +
         array_head("extern \"C\"", name, type) + mkl + "(static_cast<int>(count), x, y, mkl_mode); }\n";
}

/// The function `sleef` of SLEEF under our name, in both precisions.
std::string from_sleef(const std::string &name, const std::string &sleef, const std::string &ending = "_u10") {
  return sleef_definition(name + "f", "float", 8, "Sleef_" + sleef + "f8" + ending) +
         sleef_definition(name, "double", 4, "Sleef_" + sleef + "d4" + ending);
}

/// A function of x and y; `vector_call` and `call` compute it.
std::string binary_definition(const std::string &name, const std::string &type, int lanes,
                              const std::string &vector_call, const std::string &call) {
  const std::string vector = type + std::to_string(lanes);
  std::string text;
  for (const char *isa : {"d", "e"})
    text += "extern \"C\" " + vector + " _ZGV" + isa + "N" + std::to_string(lanes) + "vv_math_" + name + "(" + vector +
            " x, " + vector + " y) { " + vector_call + " }\n";
  return text + "extern \"C\" " + type + " math_" + name + "(" + type + " x, " + type + " y) { " + call + " }\n";
}

std::string sleef_binary_definition(const std::string &name, const std::string &type, int lanes,
                                    const std::string &sleef) {
  const std::string vector = type + std::to_string(lanes);
  return "extern \"C\" " + vector + " " + sleef + "(" + vector + ", " + vector + ");\n" +
         binary_definition(name, type, lanes, "return " + sleef + "(x, y);",
                           "return " + sleef + "(" + broadcast("x", vector) + ", " + broadcast("y", vector) + ")[0];");
}

std::string looped_definition(const std::string &name, const std::string &type, int lanes, const std::string &sleef,
                              const std::string &c) {
  const std::string vector = type + std::to_string(lanes);
  return binary_definition(
      name, type, lanes,
      vector + " r = " + sleef + "(y); const bits4 past = reinterpret_cast<bits4>(x != 0); " +
          "if (past[0] | past[1] | past[2] | past[3]) for (int k = 0; k < " + std::to_string(lanes) +
          "; ++k) if (x[k] != 0) r[k] = __builtin_" + c + "(y[k]); return r;",
      "return x != 0 ? __builtin_" + c + "(y) : " + sleef + "(" + broadcast("y", vector) + ")[0];");
}

std::string source(bool mkl) {
  // The mode is ATen's: high accuracy, denormal numbers kept, no error reported.
  std::string text = "#include <stdint.h>\ntypedef float float8 __attribute__((vector_size(32)));\n"
                     "typedef double double4 __attribute__((vector_size(32)));\n"
                     "typedef long long bits4 __attribute__((vector_size(32)));\n"
                     "constexpr long long mkl_mode = 0x2 | 0x140000 | 0x100;\n";
  for (const Named &function : mkl_functions) {
    const std::string name(function.name), other(function.other);
    text +=
        mkl ? mkl_definition(name + "f", "float", 8, "vms" + other) + mkl_definition(name, "double", 4, "vmd" + other)
            : from_sleef(name, name, name == "erfc" ? "_u15" : "_u10") + array_definition(name + "f", "float", 8) +
                  array_definition(name, "double", 4);
  }
  for (const auto function : sleef_functions)
    text += from_sleef(std::string(function), std::string(function));
  for (const auto function : inner_functions)
    text += from_sleef(std::string(inner) + std::string(function), std::string(function));
  for (const auto function : looped_functions) {
    const std::string c(function), name = std::string(looped) + c;
    text += looped_definition(name + "f", "float", 8, "Sleef_" + c + "f8_u10", c + "f");
    text += looped_definition(name, "double", 4, "Sleef_" + c + "d4_u10", c);
  }
  for (const Named &function : binary_functions) {
    const std::string name(function.name), ending(function.other);
    text += sleef_binary_definition(name + "f", "float", 8, "Sleef_" + name + "f8" + ending);
    text += sleef_binary_definition(name, "double", 4, "Sleef_" + name + "d4" + ending);
  }
  return text;
}

/// One operand, under our name; the C library calls it `c`.
std::string unary_by_c_library(const std::string &name, const std::string &c) {
  return "static inline float math_" + name + "f(float x) { return __builtin_" + c + "f(x); }\n" +
         "static inline double math_" + name + "(double x) { return __builtin_" + c + "(x); }\n";
}

std::string variants_by_c_library() {
  std::string text;
  for (const auto function : inner_functions)
    text += unary_by_c_library(std::string(inner) + std::string(function), std::string(function));
  for (const auto function : looped_functions) {
    const std::string c(function), name = std::string(looped) + c;
    text += "static inline float math_" + name + "f(float, float x) { return __builtin_" + c + "f(x); }\n";
    text += "static inline double math_" + name + "(double, double x) { return __builtin_" + c + "(x); }\n";
  }
  return text;
}

std::string array_by_c_library(const std::string &name, const std::string &type) {
  return array_head("static inline", name, type) + "for (int64_t k = 0; k < count; ++k) y[k] = __builtin_" + name +
         "(x[k]); }\n";
}

std::string by_c_library() {
  std::string text = variants_by_c_library();
  for (const Named &function : mkl_functions)
    text += array_by_c_library(std::string(function.name) + "f", "float") +
            array_by_c_library(std::string(function.name), "double");
  for (const std::string &name : unary_names())
    if (name.find(inner) != 0)
      text += unary_by_c_library(name, name);
  for (const Named &function : binary_functions) {
    const std::string name(function.name);
    text += "static inline float math_" + name + "f(float x, float y) { return __builtin_" + name + "f(x, y); }\n";
    text += "static inline double math_" + name + "(double x, double y) { return __builtin_" + name + "(x, y); }\n";
  }
  return text;
}

} // namespace

const std::string &vector_math_declarations() {
  static const std::string text = declarations();
  return text;
}

const std::string &vector_math_source(bool mkl) {
  static const std::string with_mkl = source(true), without = source(false);
  return mkl ? with_mkl : without;
}

const std::string &plain_math_variants() {
  static const std::string text = variants_by_c_library();
  return text;
}

const std::string &plain_math() {
  static const std::string text = by_c_library();
  return text;
}

bool has_array_function(const std::string &call) {
  const auto names = [&](const Named &function) {
    const std::string name = "math_" + std::string(function.name);
    return call == name || call == name + "f";
  };
  return std::any_of(std::begin(mkl_functions), std::end(mkl_functions), names);
}

std::string array_function(const std::string &call) {
  const std::string prefix = "math_";
  return prefix + "array_" + call.substr(prefix.size());
}

bool has_vector_math(const std::string &function) {
  const auto unary = unary_names(), binary = binary_names();
  return std::find(unary.begin(), unary.end(), function) != unary.end() ||
         std::find(binary.begin(), binary.end(), function) != binary.end();
}

} // namespace repro_minify
