#include "program/archive_records.h"

#include "program/values.h"
#include "repro_minify/program.h"

#include <optional>

namespace repro_minify {
namespace {

bool is_sequence(const c10::IValue &value) {
  return value.isList() || value.isTuple();
}

std::vector<c10::IValue> elements_of(const c10::IValue &value) {
  if (value.isList())
    return value.toListRef().vec();
  return value.toTupleRef().elements().vec();
}

/// The value as the argument's type wants it: a pickled list is a list of anything, a model's is a List[Tensor].
class Coercion {
public:
  explicit Coercion(std::string what) : what_(std::move(what)) {}

  c10::IValue to(const c10::TypePtr &type, const c10::IValue &value) const {
    if (auto optional = type->cast<c10::OptionalType>())
      return value.isNone() ? value : to(optional->getElementType(), value);
    if (auto list = type->cast<c10::ListType>())
      return to_list(*list, value);
    if (auto tuple = type->cast<c10::TupleType>())
      return to_tuple(tuple, value);
    if (auto dict = type->cast<c10::DictType>())
      return to_dict(*dict, value);
    const bool is_number = type->kind() == c10::TypeKind::NumberType && value.isScalar();
    if (type->kind() == c10::TypeKind::FloatType && value.isInt())
      return static_cast<double>(value.toInt());
    if (!is_number && !value.type()->isSubtypeOf(*type))
      throw wrong(*type, value);
    return value;
  }

private:
  UserError wrong(const c10::Type &type, const c10::IValue &value) const {
    return UserError(what_ + " is " + describe(value) + ", but the model takes " + type.annotation_str());
  }

  Coercion of_element(size_t index) const { return Coercion(what_ + "[" + std::to_string(index) + "]"); }

  c10::IValue to_list(const c10::ListType &type, const c10::IValue &value) const {
    if (!is_sequence(value))
      throw wrong(type, value);
    c10::impl::GenericList result(type.getElementType());
    const auto elements = elements_of(value);
    for (size_t i = 0; i < elements.size(); ++i)
      result.push_back(of_element(i).to(type.getElementType(), elements[i]));
    return result;
  }

  c10::IValue to_tuple(const c10::TupleTypePtr &type, const c10::IValue &value) const {
    if (!is_sequence(value))
      throw wrong(*type, value);
    auto elements = elements_of(value);
    if (elements.size() != type->elements().size())
      throw wrong(*type, value);
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = of_element(i).to(type->elements()[i], elements[i]);
    return type->schema() ? c10::ivalue::Tuple::createNamed(std::move(elements), type)
                          : c10::ivalue::Tuple::create(std::move(elements));
  }

  c10::IValue to_dict(const c10::DictType &type, const c10::IValue &value) const {
    if (!value.isGenericDict())
      throw wrong(type, value);
    c10::impl::GenericDict result(type.getKeyType(), type.getValueType());
    for (const auto &entry : value.toGenericDict())
      result.insert(Coercion(what_ + " key").to(type.getKeyType(), entry.key()),
                    to(type.getValueType(), entry.value()));
    return result;
  }

  std::string what_;
};

/// The values given, one for each argument; nothing where its default value is to be taken.
using Given = std::vector<std::optional<c10::IValue>>;

class Fitting {
public:
  Fitting(const c10::FunctionSchema &schema, std::string origin)
      : schema_(schema), wanted_(schema.arguments().size() - 1), origin_(std::move(origin)) {}

  std::vector<c10::IValue> by_position(const std::vector<c10::IValue> &values) const {
    return complete(positional(values));
  }

  std::vector<c10::IValue> by_name(const c10::IValue &dict, Given given) const {
    given.resize(wanted_);
    for (const auto &entry : dict.toGenericDict()) {
      const auto found =
          entry.key().isString() ? schema_.argumentIndexWithName(entry.key().toStringRef()) : std::nullopt;
      if (!found || *found == 0)
        throw no_such_argument(dict, entry.key());
      if (given[static_cast<size_t>(*found) - 1])
        throw UserError(origin_ + ": gives '" + entry.key().toStringRef() + "' twice, by position and by name");
      given[static_cast<size_t>(*found) - 1] = entry.value();
    }
    return complete(given);
  }

  Given positional(const std::vector<c10::IValue> &values) const {
    if (values.size() > wanted_)
      throw UserError(origin_ + ": holds " + std::to_string(values.size()) + " inputs, but " + signature() + " takes " +
                      std::to_string(wanted_));
    Given given(wanted_);
    std::copy(values.begin(), values.end(), given.begin());
    return given;
  }

  /// True if one value is enough.
  bool needs_one() const {
    size_t needed = 0;
    for (size_t i = 1; i <= wanted_; ++i)
      needed += !schema_.arguments()[i].default_value();
    return wanted_ > 0 && needed <= 1 && (needed == 0 || !schema_.arguments()[1].default_value());
  }

private:
  std::string signature() const { return schema_.name() + argument_list(schema_); }

  UserError no_such_argument(const c10::IValue &dict, const c10::IValue &key) const {
    size_t dotted = 0;
    for (const auto &entry : dict.toGenericDict())
      dotted += entry.key().isString() && entry.key().toStringRef().find('.') != std::string::npos;
    if (dotted > 0 && dotted * 2 >= dict.toGenericDict().size())
      return UserError(origin_ + ": is a state dict (parameters by name), no inputs");
    return UserError(origin_ + ": the model's " + signature() + " has no argument named " +
                     (key.isString() ? "'" + key.toStringRef() + "'" : describe(key)));
  }

  std::vector<c10::IValue> complete(const Given &given) const {
    std::vector<c10::IValue> result;
    for (size_t i = 0; i < wanted_; ++i) {
      const auto &argument = schema_.arguments()[i + 1];
      if (!given[i] && !argument.default_value())
        throw UserError(origin_ + ": " + signature() + " takes " + std::to_string(wanted_) +
                        " inputs, and there is none for '" + argument.name() + "'");
      result.push_back(given[i] ? Coercion(origin_ + ": input '" + argument.name() + "'").to(argument.type(), *given[i])
                                : *argument.default_value());
    }
    return result;
  }

  const c10::FunctionSchema &schema_;
  size_t wanted_;
  std::string origin_;
};

/// ((x, y), {'mask': m}): how frameworks keep a call.
bool is_args_and_kwargs(const c10::FunctionSchema &schema, const c10::IValue &saved) {
  if (!is_sequence(saved))
    return false;
  const auto parts = elements_of(saved);
  if (parts.size() != 2 || !is_sequence(parts[0]) || !parts[1].isGenericDict())
    return false;
  for (const auto &entry : parts[1].toGenericDict())
    if (!entry.key().isString() || !schema.argumentIndexWithName(entry.key().toStringRef()))
      return false;
  return true;
}

} // namespace

std::string argument_list(const c10::FunctionSchema &schema) {
  std::string text;
  for (size_t i = 1; i < schema.arguments().size(); ++i)
    text += (i > 1 ? ", " : "") + schema.arguments()[i].name() + ": " + schema.arguments()[i].type()->annotation_str();
  return "(" + text + ")";
}

std::vector<c10::IValue> as_arguments(const c10::FunctionSchema &schema, const c10::IValue &saved,
                                      const std::string &origin) {
  const Fitting fitting(schema, origin);
  if (!is_sequence(saved) && !saved.isGenericDict())
    return fitting.by_position({saved});
  std::string first_problem;
  try {
    return saved.isGenericDict() ? fitting.by_name(saved, {}) : fitting.by_position(elements_of(saved));
  } catch (const UserError &error) {
    first_problem = error.what();
  }
  if (fitting.needs_one()) {
    try {
      return fitting.by_position({saved});
    } catch (const UserError &) { // the first problem says more
    }
  }
  if (is_args_and_kwargs(schema, saved)) {
    const auto parts = elements_of(saved);
    return fitting.by_name(parts[1], fitting.positional(elements_of(parts[0])));
  }
  throw UserError(first_problem);
}

} // namespace repro_minify
