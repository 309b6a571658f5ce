#include "backends/inductor_like/kernel_math.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
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

/// The functions of one operand that ATen takes from SLEEF. (Not sinh and cosh: SLEEF's overflow early. Not asinh and
/// acosh: ATen has them from the C library.) All are the variants with an error of 1.0 units in the last place, which
/// their names say.
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

/// Vectors of 32 bytes, and of 64 where there are some: the compiler takes what suits a loop.
std::string declarations() {
  std::string text = "#ifdef __AVX512F__\n"
                     "#define WIDE(lanes) _Pragma(lanes)\n"
                     "#else\n"
                     "#define WIDE(lanes)\n"
                     "#endif\n"
                     "extern \"C\" {\n";
  const auto head = [](int lanes) {
    const std::string simd = "\"omp declare simd notinbranch simdlen(";
    return "WIDE(" + simd + std::to_string(2 * lanes) + ")\") _Pragma(" + simd + std::to_string(lanes) +
           ")\") __attribute__((const, nothrow)) ";
  };
  for (const std::string &name : unary_names()) {
    text += head(8) + "float math_" + name + "f(float);\n";
    text += head(4) + "double math_" + name + "(double);\n";
  }
  for (const std::string &name : binary_names()) {
    text += head(8) + "float math_" + name + "f(float, float);\n";
    text += head(4) + "double math_" + name + "(double, double);\n";
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

std::string vector_of(const std::string &type, int lanes) {
  return type + std::to_string(lanes);
}

/// How many fit into 32 bytes.
int lanes_of(const std::string &type) {
  return type == "float" ? 8 : 4;
}

/// In SLEEF's names.
std::string sleef_type(const std::string &type, int lanes) {
  return (type == "float" ? "f" : "d") + std::to_string(lanes);
}

/// The code that computes a vector of so many lanes from x, or from x and y, and the declarations that it needs.
struct VectorCall {
  std::string declaration, text;
};
using VectorCalls = std::function<VectorCall(int lanes)>;

/// Functions for vectors of 32 and 64 bytes, under the names that the compiler's vectoriser calls, and one for a single
/// value, which `call` computes.
std::string definition(const std::string &name, const std::string &type, size_t operands, const VectorCalls &vectors,
                       const std::string &call) {
  const auto parameters = [&](const std::string &of) { return of + " x" + (operands > 1 ? ", " + of + " y" : ""); };
  const auto function = [&](const std::string &isa, int lanes) {
    const std::string vector = vector_of(type, lanes);
    return "extern \"C\" " + vector + " _ZGV" + isa + "N" + std::to_string(lanes) + std::string(operands, 'v') +
           "_math_" + name + "(" + parameters(vector) + ") { " + vectors(lanes).text + " }\n";
  };
  const int lanes = lanes_of(type);
  return vectors(lanes).declaration + function("d", lanes) + function("e", lanes) + "#ifdef __AVX512F__\n" +
         vectors(2 * lanes).declaration + function("e", 2 * lanes) + "#endif\nextern \"C\" " + type + " math_" + name +
         "(" + parameters(type) + ") { " + call + " }\n";
}

std::string array_head(const std::string &linkage, const std::string &name, const std::string &type) {
  return linkage + " void math_array_" + name + "(const " + type + " *x, " + type + " *y, int64_t count) { ";
}

/// Returns the function for arrays, which calls the function for one vector.
std::string array_definition(const std::string &name, const std::string &type) {
  const std::string size = std::to_string(lanes_of(type)), vector = vector_of(type, lanes_of(type));
  return array_head("extern \"C\"", name, type) + "for (; count >= " + size + "; count -= " + size + ", x += " + size +
         ", y += " + size + ") { " + vector + " v; __builtin_memcpy(&v, x, sizeof(v)); v = _ZGVdN" + size + "v_math_" +
         name + "(v); __builtin_memcpy(y, &v, sizeof(v)); } for (; count > 0; --count) *y++ = math_" + name +
         "(*x++); }\n";
}

/// MKL's functions take arrays, and give a number the same result however many it stands among.
std::string mkl_definition(const std::string &name, const std::string &type, const std::string &mkl) {
  const auto call = [&](const std::string &result, int count) {
    return result + " y; " + mkl + "(" + std::to_string(count) + ", reinterpret_cast<const " + type +
           " *>(&x), reinterpret_cast<" + type + " *>(&y), mkl_mode); return y;";
  };
  return "extern \"C\" void " + mkl + "(int, const " + type + " *, " + type + " *, long long);\n" +
         definition(
             name, type, 1,
             [&](int lanes) {
               return VectorCall{"", call(vector_of(type, lanes), lanes)};
             },
             call(type, 1)) +
         array_head("extern \"C\"", name, type) + mkl + "(static_cast<int>(count), x, y, mkl_mode); }\n";
}

/// SLEEF's function for vectors of a type: `Sleef_exp` + `f8` + `_u10`.
std::string sleef_definition(const std::string &name, const std::string &type, size_t operands,
                             const std::string &sleef, const std::string &ending) {
  const int single = lanes_of(type);
  const auto function = [&](int lanes) { return sleef + sleef_type(type, lanes) + ending; };
  const auto vectors = [&](int lanes) {
    const std::string vector = vector_of(type, lanes);
    return VectorCall{"extern \"C\" " + vector + " " + function(lanes) + "(" + vector +
                          (operands > 1 ? ", " + vector : "") + ");\n",
                      "return " + function(lanes) + (operands > 1 ? "(x, y);" : "(x);")};
  };
  const std::string vector = vector_of(type, single);
  return definition(name, type, operands, vectors,
                    "return " + function(single) + "(" + broadcast("x", vector) +
                        (operands > 1 ? ", " + broadcast("y", vector) : "") + ")[0];");
}

/// The function `sleef` of SLEEF under our name, in both precisions.
std::string from_sleef(const std::string &name, const std::string &sleef, const std::string &ending = "_u10",
                       size_t operands = 1) {
  return sleef_definition(name + "f", "float", operands, "Sleef_" + sleef, ending) +
         sleef_definition(name, "double", operands, "Sleef_" + sleef, ending);
}

/// SLEEF's for y, declared already; where x is not 0, the C library's.
std::string looped_definition(const std::string &name, const std::string &type, const std::string &sleef,
                              const std::string &c) {
  const auto call = [&](int lanes) { return "Sleef_" + sleef + sleef_type(type, lanes) + "_u10"; };
  const auto vectors = [&](int lanes) {
    const std::string words = std::to_string(type == "float" ? lanes / 2 : lanes); // of 64 bits
    return VectorCall{"", vector_of(type, lanes) + " r = " + call(lanes) + "(y); const bits" + words +
                              " past = reinterpret_cast<bits" + words +
                              ">(x != 0); long long any = 0; for (int k = 0; k < " + words +
                              "; ++k) any |= past[k]; if (any) for (int k = 0; k < " + std::to_string(lanes) +
                              "; ++k) if (x[k] != 0) r[k] = __builtin_" + c + "(y[k]); return r;"};
  };
  const int single = lanes_of(type);
  return definition(name, type, 2, vectors,
                    "return x != 0 ? __builtin_" + c + "(y) : " + call(single) + "(" +
                        broadcast("y", vector_of(type, single)) + ")[0];");
}

std::string source(bool mkl) {
  // The mode is ATen's: high accuracy, denormal numbers kept, no error reported.
  std::string text = "#include <stdint.h>\n"
                     "typedef float float8 __attribute__((vector_size(32)));\n"
                     "typedef double double4 __attribute__((vector_size(32)));\n"
                     "typedef long long bits4 __attribute__((vector_size(32)));\n"
                     "typedef float float16 __attribute__((vector_size(64)));\n"
                     "typedef double double8 __attribute__((vector_size(64)));\n"
                     "typedef long long bits8 __attribute__((vector_size(64)));\n"
                     "constexpr long long mkl_mode = 0x2 | 0x140000 | 0x100;\n";
  for (const Named &function : mkl_functions) {
    const std::string name(function.name), other(function.other);
    text += mkl ? mkl_definition(name + "f", "float", "vms" + other) + mkl_definition(name, "double", "vmd" + other)
                : from_sleef(name, name, name == "erfc" ? "_u15" : "_u10") + array_definition(name + "f", "float") +
                      array_definition(name, "double");
  }
  for (const auto function : sleef_functions)
    text += from_sleef(std::string(function), std::string(function));
  for (const auto function : inner_functions)
    text += from_sleef(std::string(inner) + std::string(function), std::string(function));
  for (const auto function : looped_functions) {
    const std::string c(function), name = std::string(looped) + c;
    text += looped_definition(name + "f", "float", c, c + "f") + looped_definition(name, "double", c, c);
  }
  for (const Named &function : binary_functions)
    text += from_sleef(std::string(function.name), std::string(function.name), std::string(function.other), 2);
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
