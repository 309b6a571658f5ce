// A machine for the opcodes of pickle that build data. https://docs.python.org/3/library/pickletools.html
#include "program/pickle.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace repro_minify::pickle {
namespace {

/// Far more than inputs have, and little enough memory.
constexpr size_t most_values = size_t{1} << 22;

class Machine {
public:
  explicit Machine(std::string_view bytes) : in_(bytes) {}

  Document run() {
    while (const Value *root = step(in_.byte())) {
      if (root == &go_on_)
        continue;
      document_.root = root;
      document_.size = in_.position();
      break;
    }
    return std::move(document_);
  }

private:
  using Kind = Value::Kind;

  /// The value that the pickle is, once it ends.
  const Value *step(uint8_t opcode) {
    if (opcode == '.')
      return pop();
    if (!number(opcode) && !text(opcode) && !container(opcode) && !fill(opcode) && !object(opcode) && !memory(opcode))
      throw CannotRead("its pickle has an opcode that torch.save does not write (" + std::to_string(opcode) + ")");
    return &go_on_;
  }

  bool number(uint8_t opcode) {
    switch (opcode) {
    case 'N':
      return push(Kind::None);
    case 0x88: // NEWTRUE
    case 0x89: // NEWFALSE
      return push(Kind::Bool, opcode == 0x88);
    case 'J': // BININT
      return push(Kind::Int, static_cast<int32_t>(in_.number<uint32_t>()));
    case 'K': // BININT1
      return push(Kind::Int, in_.byte());
    case 'M': // BININT2
      return push(Kind::Int, in_.number<uint16_t>());
    case 0x8a: // LONG1
      return push_long(in_.take(in_.byte()));
    case 0x8b: // LONG4
      return push_long(in_.take(in_.number<uint32_t>()));
    case 'G': { // BINFLOAT, the only big-endian one
      push(Kind::Float);
      top().number = std::bit_cast<double>(__builtin_bswap64(in_.number<uint64_t>()));
      return true;
    }
    default:
      return false;
    }
  }

  bool text(uint8_t opcode) {
    switch (opcode) {
    case 'X': // BINUNICODE
      return push_text(Kind::Text, in_.number<uint32_t>());
    case 0x8c: // SHORT_BINUNICODE
      return push_text(Kind::Text, in_.byte());
    case 0x8d: // BINUNICODE8
      return push_text(Kind::Text, in_.number<uint64_t>());
    case 'T': // BINSTRING
    case 'B': // BINBYTES
      return push_text(Kind::Bytes, in_.number<uint32_t>());
    case 'U': // SHORT_BINSTRING
    case 'C': // SHORT_BINBYTES
      return push_text(Kind::Bytes, in_.byte());
    case 0x8e: // BINBYTES8
    case 0x96: // BYTEARRAY8
      return push_text(Kind::Bytes, in_.number<uint64_t>());
    default:
      return false;
    }
  }

  bool container(uint8_t opcode) {
    switch (opcode) {
    case '(': // MARK
      marks_.push_back(stack_.size());
      return true;
    case ']':
      return push(Kind::List);
    case ')':
      return push(Kind::Tuple);
    case '}':
      return push(Kind::Dict);
    case 0x8f: // EMPTY_SET
      return push(Kind::Set);
    case 'l':
      return push_items(Kind::List, since_mark());
    case 't':
      return push_items(Kind::Tuple, since_mark());
    case 0x91: // FROZENSET
      return push_items(Kind::Set, since_mark());
    case 'd': {
      const auto items = since_mark();
      push(Kind::Dict);
      add_entries(items);
      return true;
    }
    case 0x85: // TUPLE1
    case 0x86:
    case 0x87:
      return push_items(Kind::Tuple, last(opcode - 0x84));
    default:
      return false;
    }
  }

  bool fill(uint8_t opcode) {
    switch (opcode) {
    case 'a': // APPEND
      add_items(last(1));
      return true;
    case 'e':  // APPENDS
    case 0x90: // ADDITEMS
      add_items(since_mark());
      return true;
    case 's': // SETITEM
      add_entries(last(2));
      return true;
    case 'u': // SETITEMS
      add_entries(since_mark());
      return true;
    case 'b': { // BUILD
      const Value *state = pop();
      if (!top().is(Kind::Object) || top().state)
        throw CannotRead("its pickle sets the state of what has none");
      top().state = state;
      return true;
    }
    default:
      return false;
    }
  }

  bool object(uint8_t opcode) {
    switch (opcode) {
    case 'c': { // GLOBAL
      const std::string_view module = in_.line();
      return push_global(module, in_.line());
    }
    case 0x93: { // STACK_GLOBAL
      const auto names = last(2);
      if (!names[0]->is(Kind::Text) || !names[1]->is(Kind::Text))
        throw CannotRead("its pickle names a class by a value that is no text");
      return push_global(names[0]->text, names[1]->text);
    }
    case 'R':    // REDUCE
    case 0x81: { // NEWOBJ
      const auto parts = last(2);
      return push_object(parts[0], parts[1]);
    }
    case 0x92: { // NEWOBJ_EX: class, arguments, those by name
      const auto parts = last(3);
      push_object(parts[0], parts[1]);
      top().state = parts[2];
      return true;
    }
    case 'Q': { // BINPERSID
      const Value *id = pop();
      push(Kind::Persistent);
      top().argument = id;
      return true;
    }
    default:
      return false;
    }
  }

  bool memory(uint8_t opcode) {
    switch (opcode) {
    case 0x80: // PROTO
      if (in_.byte() > 5)
        throw CannotRead("its pickle is of a protocol that is not known here");
      return true;
    case 0x95: // FRAME: how far to read ahead
      in_.take(8);
      return true;
    case 'q': // BINPUT
      memo_[in_.byte()] = &top();
      return true;
    case 'r': // LONG_BINPUT
      memo_[in_.number<uint32_t>()] = &top();
      return true;
    case 0x94: // MEMOIZE
      memo_[memo_.size()] = &top();
      return true;
    case 'h': // BINGET
      return push_remembered(in_.byte());
    case 'j': // LONG_BINGET
      return push_remembered(in_.number<uint32_t>());
    case '0': // POP
      pop();
      return true;
    case '1': // POP_MARK
      since_mark();
      return true;
    case '2': // DUP
      stack_.push_back(&top());
      return true;
    default:
      return false;
    }
  }

  size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }
  Value &top() {
    if (stack_.size() <= bottom())
      throw CannotRead("its pickle takes what was never put there");
    return *stack_.back();
  }
  Value *pop() {
    Value *value = &top();
    stack_.pop_back();
    return value;
  }
  std::vector<const Value *> last(size_t count) {
    if (stack_.size() - bottom() < count)
      throw CannotRead("its pickle takes what was never put there");
    const auto begin = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<const Value *> values(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    return values;
  }
  std::vector<const Value *> since_mark() {
    if (marks_.empty())
      throw CannotRead("its pickle goes back to a mark that it has not made");
    auto values = last(stack_.size() - marks_.back());
    marks_.pop_back();
    return values;
  }

  bool push(Kind kind, int64_t integer = 0) {
    if (document_.values.size() >= most_values)
      throw CannotRead("holds more than " + std::to_string(most_values) +
                       " values; save tensors, not lists of numbers");
    Value &value = document_.values.emplace_back();
    value.kind = kind;
    value.integer = integer;
    stack_.push_back(&value);
    return true;
  }
  bool push_long(std::string_view digits) {
    push(Kind::Int);
    if (digits.size() > sizeof(int64_t)) {
      top().kind = Kind::Long;
      top().text = digits;
      return true;
    }
    uint64_t value = !digits.empty() && static_cast<int8_t>(digits.back()) < 0 ? ~uint64_t{0} : 0;
    for (size_t i = digits.size(); i-- > 0;)
      value = value << 8 | static_cast<uint8_t>(digits[i]);
    top().integer = static_cast<int64_t>(value);
    return true;
  }
  bool push_text(Kind kind, uint64_t size) {
    push(kind);
    top().text = in_.take(size);
    return true;
  }
  bool push_items(Kind kind, std::vector<const Value *> items) {
    push(kind);
    top().items = std::move(items);
    return true;
  }
  bool push_global(std::string_view module, std::string_view name) {
    push(Kind::Global);
    top().module = module;
    top().text = name;
    return true;
  }
  /// LibTorch calls the class of an Enum with its value alone. What holds others, and may come to hold itself, is a
  /// tuple.
  static bool is_argument(const Value &value) {
    return value.is(Kind::Tuple) || value.is(Kind::Int) || value.is(Kind::Float) || value.is(Kind::Text);
  }
  bool push_object(const Value *callee, const Value *argument) {
    if (!is_argument(*argument))
      throw CannotRead("its pickle calls a function with no arguments");
    push(Kind::Object);
    top().callee = callee;
    top().argument = argument;
    return true;
  }
  bool push_remembered(uint64_t index) {
    const auto known = memo_.find(index);
    if (known == memo_.end())
      throw CannotRead("its pickle remembers what it has not met");
    stack_.push_back(known->second);
    return true;
  }
  void add_items(const std::vector<const Value *> &items) {
    Value &container = top();
    if (!container.is(Kind::List) && !container.is(Kind::Set) && !container.is(Kind::Object))
      throw CannotRead("its pickle appends to what is no list");
    container.items.insert(container.items.end(), items.begin(), items.end());
  }
  void add_entries(const std::vector<const Value *> &items) {
    Value &container = top();
    if ((!container.is(Kind::Dict) && !container.is(Kind::Object)) || items.size() % 2 != 0)
      throw CannotRead("its pickle sets an item of what is no dict");
    for (size_t i = 0; i < items.size(); i += 2)
      container.entries.emplace_back(items[i], items[i + 1]);
  }

  ByteReader in_;
  Document document_;
  std::vector<Value *> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, Value *> memo_;
  const Value go_on_; ///< what step() returns while there is more
};

} // namespace

std::string Value::name() const {
  if (kind == Kind::Global)
    return std::string(module) + "." + std::string(text);
  return kind == Kind::Object && callee->is(Kind::Global) ? callee->name() : "";
}

Document read(std::string_view bytes) {
  return Machine(bytes).run();
}

} // namespace repro_minify::pickle
