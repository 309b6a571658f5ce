#include "codegen/vector_math.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace repro_minify {
namespace {

/// What ATen takes from SLEEF (ATen/cpu/vec/vec256/vec256_float.h and vec256_double.h), with one operand. (Not sinh and
/// cosh: SLEEF's overflow early, and ATen has them from MKL.) All are the variants with an error of 1.0 units in the
/// last place, which their names say.
constexpr std::array<std::string_view, 16> functions = {"exp",   "exp2", "expm1", "log",  "log2", "log10",
                                                        "log1p", "sin",  "cos",   "tan",  "asin", "acos",
                                                        "atan",  "tanh", "asinh", "atanh"};

// ATen's own approximation of the error function (Vectorized<float>::erf).
constexpr const char *error_function = R"(
static inline float math_erff(float x) {
  const float size = __builtin_fabsf(x);
  const float t = 1.0f / __builtin_fmaf(0.3275911f, size, 1.0f);
  float r = __builtin_fmaf(1.061405429f, t, -1.453152027f);
  r = __builtin_fmaf(r, t, 1.421413741f);
  r = __builtin_fmaf(r, t, -0.284496736f);
  r = __builtin_fmaf(r, t, 0.254829592f);
  const float e = -math_expf(-(x * x));
  return __builtin_copysignf(__builtin_fmaf(e * t, r, 1.0f), x);
}
static inline double math_erf(double x) { return __builtin_erf(x); }
)";

/// Those with two operands, and what SLEEF calls them.
struct Binary {
  const char *name;
  const char *ending;
};
constexpr Binary binary_functions[] = {{"pow", "_u10"}, {"atan2", "_u10"}, {"fmod", ""}};

std::string declarations() {
  std::string text = "extern \"C\" {\n";
  for (const auto function : functions) {
    const std::string name(function);
    text += "_Pragma(\"omp declare simd notinbranch simdlen(8)\") __attribute__((const, nothrow)) float math_" + name +
            "f(float);\n";
    text += "_Pragma(\"omp declare simd notinbranch simdlen(4)\") __attribute__((const, nothrow)) double math_" + name +
            "(double);\n";
  }
  for (const Binary &function : binary_functions) {
    const std::string name = function.name, head = "_Pragma(\"omp declare simd notinbranch simdlen(";
    const std::string attributes = ")\") __attribute__((const, nothrow)) ";
    text += head + "8" + attributes + "float math_" + name + "f(float, float);\n";
    text += head + "4" + attributes + "double math_" + name + "(double, double);\n";
  }
  return text + "}\n" + error_function;
}

/// A number in every lane. (Zero is taken away, not added: -0 + 0 is 0.)
std::string broadcast(const std::string &number, const std::string &vector) {
  return number + " - " + vector + "{}";
}

/// One function for eight floats, or four doubles, under the names that the compiler's vectoriser calls, and one for
/// a single value.
std::string definition(const std::string &name, const std::string &type, int lanes, const std::string &sleef) {
  const std::string vector = type + std::to_string(lanes);
  std::string text = "extern \"C\" " + vector + " " + sleef + "(" + vector + ");\n";
  for (const char *isa : {"d", "e"})
    text += "extern \"C\" " + vector + " _ZGV" + isa + "N" + std::to_string(lanes) + "v_math_" + name + "(" + vector +
            " x) { return " + sleef + "(x); }\n";
  return text + "extern \"C\" " + type + " math_" + name + "(" + type + " x) { return " + sleef + "(" +
         broadcast("x", vector) + ")[0]; }\n";
}

std::string binary_definition(const std::string &name, const std::string &type, int lanes, const std::string &sleef) {
  const std::string vector = type + std::to_string(lanes);
  std::string text = "extern \"C\" " + vector + " " + sleef + "(" + vector + ", " + vector + ");\n";
  for (const char *isa : {"d", "e"})
    text += "extern \"C\" " + vector + " _ZGV" + isa + "N" + std::to_string(lanes) + "vv_math_" + name + "(" + vector +
            " x, " + vector + " y) { return " + sleef + "(x, y); }\n";
  return text + "extern \"C\" " + type + " math_" + name + "(" + type + " x, " + type + " y) { return " + sleef + "(" +
         broadcast("x", vector) + ", " + broadcast("y", vector) + ")[0]; }\n";
}

std::string source() {
  std::string text = "typedef float float8 __attribute__((vector_size(32)));\n"
                     "typedef double double4 __attribute__((vector_size(32)));\n";
  for (const auto function : functions) {
    const std::string name(function);
    text += definition(name + "f", "float", 8, "Sleef_" + name + "f8_u10");
    text += definition(name, "double", 4, "Sleef_" + name + "d4_u10");
  }
  for (const Binary &function : binary_functions) {
    const std::string name = function.name;
    text += binary_definition(name + "f", "float", 8, "Sleef_" + name + "f8" + function.ending);
    text += binary_definition(name, "double", 4, "Sleef_" + name + "d4" + function.ending);
  }
  return text;
}

std::string by_c_library() {
  std::string text;
  for (const auto function : functions) {
    const std::string name(function);
    text += "static inline float math_" + name + "f(float x) { return __builtin_" + name + "f(x); }\n";
    text += "static inline double math_" + name + "(double x) { return __builtin_" + name + "(x); }\n";
  }
  for (const Binary &function : binary_functions) {
    const std::string name = function.name;
    text += "static inline float math_" + name + "f(float x, float y) { return __builtin_" + name + "f(x, y); }\n";
    text += "static inline double math_" + name + "(double x, double y) { return __builtin_" + name + "(x, y); }\n";
  }
  return text + error_function;
}

} // namespace

const std::string &vector_math_declarations() {
  static const std::string text = declarations();
  return text;
}

const std::string &vector_math_source() {
  static const std::string text = source();
  return text;
}

const std::string &plain_math() {
  static const std::string text = by_c_library();
  return text;
}

bool has_vector_math(const std::string &function) {
  return function == "erf" ||
         std::any_of(std::begin(binary_functions), std::end(binary_functions),
                     [&](const Binary &row) { return function == row.name; }) ||
         std::find(functions.begin(), functions.end(), function) != functions.end();
}

} // namespace repro_minify
