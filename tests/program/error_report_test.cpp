// Tests that the errors that end the program are told apart: whose fault it is, and what to do.
#include "program/compute.h"

#include "repro_minify/program.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <system_error>

namespace repro_minify {
namespace {

template <typename Error> ErrorReport said_of(const Error &error) {
  return report_of(std::make_exception_ptr(error));
}

TEST(ErrorReport, TellsWhoseFaultItIs) {
  const auto user = said_of(UserError("x.pt: no such file"));
  EXPECT_TRUE(user.is_users);
  EXPECT_EQ(user.sentence, "x.pt: no such file");
  const auto file =
      said_of(std::filesystem::filesystem_error("status", "/a/b", std::make_error_code(std::errc::permission_denied)));
  EXPECT_TRUE(file.is_users);
  EXPECT_EQ(file.sentence, "/a/b: Permission denied");
  const auto machine = said_of(std::system_error(EAGAIN, std::generic_category(), "fork failed"));
  EXPECT_FALSE(machine.is_users);
  EXPECT_EQ(machine.sentence.find("internal"), std::string::npos);
  EXPECT_NE(machine.sentence.find("fork failed"), std::string::npos);
  EXPECT_NE(said_of(std::bad_alloc()).sentence.find("memory"), std::string::npos);
}

TEST(ErrorReport, AsksForAReportOfInternalErrorsInOneLine) {
  for (const auto &report : {said_of(std::logic_error("two\nlines")), said_of(7),
                             said_of(c10::Error({"f", "f.cpp", 1}, "a message\nException raised from f at f.cpp:1"))}) {
    EXPECT_FALSE(report.is_users);
    EXPECT_EQ(report.sentence.find("internal error: "), 0u) << report.sentence;
    EXPECT_NE(report.sentence.find("please report it"), std::string::npos);
    EXPECT_EQ(report.sentence.find('\n'), std::string::npos) << report.sentence;
    EXPECT_EQ(report.sentence.find("f.cpp"), std::string::npos) << report.sentence;
  }
}

} // namespace
} // namespace repro_minify
