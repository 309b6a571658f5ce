#include "program/error_report.h"

#include "program/compute.h"
#include "repro_minify/program.h"

#include <filesystem>
#include <new>
#include <system_error>

namespace repro_minify {
namespace {

std::string internal(const std::string &what) {
  return "internal error: " + (what.empty() ? "of an unknown kind" : what) +
         "; this is a bug of repro-minify (or of LibTorch in its process), not of your command: please report it with "
         "the command line, and with the model if you can";
}

} // namespace

ErrorReport report_of(const std::exception_ptr &error) {
  try {
    std::rethrow_exception(error);
  } catch (const UserError &user) {
    return {true, user.what()};
  } catch (const std::filesystem::filesystem_error &file) {
    return {true, file.path1().string() + ": " + file.code().message()};
  } catch (const std::system_error &machine) { // no process, no memory, no temporary folder
    return {false, std::string("the machine does not give what is needed: ") + machine.what()};
  } catch (const std::bad_alloc &) {
    return {false, "the machine does not give what is needed: memory"};
  } catch (const std::exception &other) {
    return {false, internal(first_sentence(other.what()))};
  } catch (...) {
    return {false, internal("")};
  }
}

} // namespace repro_minify
