#include "cli/options.h"

#include "core/programs.h"

#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

namespace repro_minify {
namespace {

template <typename T> bool parse(const std::string &text, T &value) {
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

template <typename T> std::string wanted(const std::string &text, const std::string &kind, T most) {
  std::ostringstream out;
  out.precision(12);
  out << "'" << text.substr(0, 40) << "' is no " << kind << " " << most;
  return out.str();
}

} // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return {[=](std::string &text) {
            std::int64_t value = 0;
            if (parse(text, value) && value >= least && value <= most)
              return std::string();
            return wanted(text, "whole number from " + std::to_string(least) + " to", most);
          },
          least > 0 ? "POSITIVE" : "NONNEGATIVE"};
}

CLI::Validator positive_number(double most) {
  return {[=](std::string &text) {
            double value = 0;
            if (parse(text, value) && value > 0 && value <= most) // false for NaN
              return std::string();
            return wanted(text, "number above 0 and up to", most);
          },
          "POSITIVE"};
}

CLI::Validator memory_size() {
  return {[](std::string &text) {
            constexpr std::string_view units = "bkmgtpe";
            double value = 0;
            const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            std::string unit =
                CLI::detail::to_lower(CLI::detail::trim_copy(text.substr(static_cast<size_t>(stop - text.data()))));
            const size_t power = unit.empty() ? 0 : units.find(unit[0]);
            const std::string rest = unit.empty() ? "" : unit.substr(1);
            const bool is_unit = rest.empty() || (power > 0 && (rest == "b" || rest == "i" || rest == "ib"));
            if (error == std::errc() && power != std::string_view::npos && is_unit)
              value = std::ldexp(value, static_cast<int>(10 * power));
            else
              value = 0;
            if (!(value >= 1 && value <= 0x1p60))
              return "'" + text.substr(0, 40) + "' is no size such as 300MB or 4GiB, of 1 byte to 1024 PiB";
            text = std::to_string(static_cast<std::uint64_t>(value));
            return std::string();
          },
          "SIZE"};
}

CLI::Validator some_path() {
  return {[](std::string &text) {
            return text.empty() ? "'' names no file or folder; give one, or leave the option out" : std::string();
          },
          ""};
}

CLI::Validator some_module() {
  return {[](std::string &text) { return no_module_because(text); }, ""};
}

} // namespace repro_minify
