#include "backends/inductor_like/codegen/fold.h"

namespace repro_minify {

std::string start_value(Fold fold, Element element) {
  const bool floating = is_floating(element);
  const std::string type = storage_type(element);
  switch (fold) {
  case Fold::Product:
  case Fold::All:
    return "1";
  case Fold::Largest:
    return floating ? "-__builtin_inf()" : "lowest<" + type + ">()";
  case Fold::Smallest:
    return floating ? "__builtin_inf()" : "highest<" + type + ">()";
  default:
    return "0";
  }
}

std::string folded(Fold fold, const std::string &sum, const std::string &value) {
  switch (fold) {
  case Fold::Sum:
    return sum + " += " + value;
  case Fold::Product:
    return sum + " *= " + value;
  case Fold::Largest: // NaN wins
    return sum + " = " + sum + " >= " + value + " || " + sum + " != " + sum + " ? " + sum + " : " + value;
  case Fold::Smallest:
    return sum + " = " + sum + " <= " + value + " || " + sum + " != " + sum + " ? " + sum + " : " + value;
  case Fold::Any:
    return sum + " = " + sum + " || " + value;
  default:
    return sum + " = " + sum + " && " + value;
  }
}

} // namespace repro_minify
