// Element types as generated C++ knows them: how they lie in memory, and what is computed in.
#pragma once

#include "backends/inductor_like/kernel_index.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

enum class Element { Bool, UInt8, Int8, Int16, Int32, Int64, Float16, BFloat16, Float32, Float64 };

inline const char *storage_type(Element element) {
  constexpr const char *names[] = {"bool",    "uint8_t", "int8_t",   "int16_t", "int32_t",
                                   "int64_t", "float16", "bfloat16", "float",   "double"};
  return names[static_cast<int>(element)];
}

inline bool is_16_bit(Element element) {
  return element == Element::Float16 || element == Element::BFloat16;
}
inline bool is_floating(Element element) {
  return element >= Element::Float16;
}

/// Returns the type that values are held in between operators: float for 16-bit types, as in TorchInductor.
inline Element compute_element(Element element) {
  return is_16_bit(element) ? Element::Float32 : element;
}
inline const char *compute_type(Element element) {
  return storage_type(compute_element(element));
}

// The body of a kernel's loop: its statements, and what they read and write.

struct BufferRef {
  int id = 0; ///< unique in its program
  Element element = Element::Float32;
};

/// Mean, and Squares, the sum of the squared differences from it, are of floating types.
enum class Fold { None, Sum, Product, Largest, Smallest, Any, All, Mean, Squares };

struct Statement;

/// The fold of each column of rows, where neighbouring columns are neighbours in memory: not one column after the other
/// but row by row, into as many results as there are columns in a strip of the loop over them (kernel_strips.h).
struct ColumnFold {
  std::vector<Statement> value; ///< of one element
  std::string result;           ///< of `value`
  struct Rows {
    std::string variable;
    int64_t count = 1;
  };
  std::vector<Rows> rows;
  Fold fold = Fold::Sum;
  Element accumulator = Element::Float32;
};

/// One statement of a loop's body, or a whole loop in it.
struct Statement {
  struct Variable {
    std::string type, name;
  };
  std::string text;
  std::vector<Variable> made = {};                     ///< for the statements after it
  std::string expression = {};                         ///< that the variable holds, if it is a local one
  bool is_load = false;                                ///< as good as again where it is needed again
  std::shared_ptr<const ColumnFold> columns = nullptr; ///< instead of a text
};

/// The statements of a loop's body. Equal expressions become one local variable.
class Body {
public:
  Body() = default;
  /// `before_store` stands before every statement that stores: where many threads compute the same, one of them writes.
  explicit Body(std::string before_store) : before_store_(std::move(before_store)) {}

  /// The name of a local variable (or the literal itself) that holds the expression.
  std::string local(const std::string &type, const std::string &expression);
  /// The element of a buffer, in its compute type. What this body has stored at the same place is taken as it was
  /// before it was rounded to the buffer's type.
  std::string load(const BufferRef &buffer, const Index &at);
  /// Later loads from this body take the value, `in_memory` or not.
  void put(const BufferRef &buffer, const Index &at, const std::string &value, bool in_memory);

  void add(const std::string &statement) { statements_.push_back({statement}); }
  void add(Statement statement) { statements_.push_back(std::move(statement)); }
  /// A name for what a reduction collects.
  std::string sum_name() { return "s" + std::to_string(next_++); }
  /// The name that belongs to a key, and whether it is new.
  std::pair<std::string, bool> name_of(const std::string &key);

  const std::vector<Statement> &statements() const { return statements_; }
  const std::map<int, Element> &loaded() const { return loaded_; }
  const std::map<int, Element> &stored() const { return stored_; }
  /// Every place that was computed.
  const std::vector<Index> &places() const { return places_; }
  /// A buffer that this body stores was asked for at another place than where it was stored: it needs a kernel before.
  bool conflicts() const { return conflicts_; }
  /// Returns an empty body for a reduction loop, which knows the values of the statements around it.
  Body nested() const;
  void absorb(const Body &inner);

private:
  std::vector<Statement> statements_;
  std::map<std::string, std::string> known_;
  std::map<int, Element> loaded_, stored_;
  std::map<int, std::pair<Index, std::string>> values_;
  std::vector<Index> places_;
  std::string before_store_;
  int next_ = 0;
  bool conflicts_ = false;
};

/// The value at some indices: the expression in the body's terms.
using Loader = std::function<std::string(Body &, const std::vector<Index> &)>;

} // namespace repro_minify
