// The pages as text: what a browser makes of them is tests/pages' affair.
#include "core/digest.h"
#include "core/files.h"
#include "repro/page.h"
#include "repro/small_program.h"
#include "repro/value_list.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

const std::string evil = "</script><script>alert(1)</script>\"'\xe2\x80\xae";

std::string between(const std::string &text, const std::string &begin, const std::string &end) {
  const size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

std::string page_of(const ReproFacts &facts) {
  const TemporaryFolder folder;
  const Program program = testing_support::small_program();
  write_report_page({.program = program, .facts = facts}, folder.path());
  return read_file(folder / "report.html");
}

ReproFacts hostile_facts() {
  ReproFacts facts = testing_support::facts_of(FailureKind::Accuracy, false, false);
  facts.reduced.message = evil;
  facts.original.message = evil;
  facts.model_path = "x/" + evil;
  facts.verify_message = evil;
  facts.verified = false;
  return facts;
}

void expect_policy_fits(const std::string &page) {
  const std::string policy = between(page, "Content-Security-Policy\" content=\"", "\">");
  EXPECT_TRUE(policy.starts_with("default-src &#39;none&#39;")) << policy;
  for (const auto &[begin, end] : {std::pair{"<script>", "</script>"}, std::pair{"<style>", "</style>"}})
    EXPECT_NE(policy.find(digest_in_base64(between(page, begin, end))), std::string::npos) << begin;
}

TEST(ReportPage, TextOfAModelIsText) {
  const std::string page = page_of(hostile_facts());
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("\xe2\x80\xae"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(1)"), std::string::npos);
  expect_policy_fits(page);
}

TEST(ReportPage, SaysWhatWasNotVerified) {
  ReproFacts facts = testing_support::facts_of(FailureKind::Accuracy, false, false);
  EXPECT_NE(page_of(facts).find("--no-verify"), std::string::npos);
  facts.verified = false;
  facts.verify_message = "it did something else";
  EXPECT_NE(page_of(facts).find("The repro did not verify: it did something else"), std::string::npos);
  facts.interrupted = true;
  EXPECT_NE(page_of(facts).find("This run was interrupted"), std::string::npos);
  facts.interrupted = false;
  facts.verified = true;
  EXPECT_EQ(page_of(facts).find("Take care."), std::string::npos);
}

Analysis chain(int length) {
  Analysis analysis;
  for (int i = 0; i < length; ++i) {
    AnalysisRow row;
    row.value = "%v" + std::to_string(i);
    row.op = i % 2 ? "aten::relu" : "aten::tanh";
    if (i > 0)
      row.reads = {i - 1};
    analysis.rows.push_back(row);
  }
  return analysis;
}

TEST(AnalysisPage, TextOfAModelIsText) {
  Analysis analysis = chain(3);
  for (auto &row : analysis.rows)
    row.value = row.source = row.message = row.op = row.type = evil;
  analysis.first = 1;
  analysis.rows[1].part = AnalysisRow::Part::Cause;
  const TemporaryFolder folder;
  write_analysis_page(analysis, evil, evil, folder.path());
  const std::string page = read_file(folder / "analysis.html");
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("\xe2\x80\xae"), std::string::npos);
  expect_policy_fits(page);
}

TEST(ValueList, OfALargeGraphIsTheNeighbourhoodOfWhatMatters) {
  Analysis analysis = chain(200);
  analysis.first = 100;
  ValueList::Options options;
  options.prefix = "o";
  options.most_boxes = 21;
  const ValueList list = value_list(analysis, options);
  EXPECT_EQ(list.drawn, 21u);
  for (const char *name : {"id=\"o90\"", "id=\"o100\"", "id=\"o110\""})
    EXPECT_NE(list.entries.find(name), std::string::npos) << name;
  EXPECT_EQ(list.entries.find("id=\"o89\""), std::string::npos);
}

std::vector<std::string> meanings_of(const ValueList &list) {
  std::vector<std::string> meanings;
  for (const auto &entry : list.legend) {
    const std::string meaning = entry.at("meaning");
    meanings.push_back(meaning.substr(0, meaning.find(':')));
  }
  return meanings;
}

TEST(ValueList, ItsLegendHasTheColoursThatAreThere) {
  using State = AnalysisRow::State;
  using Part = AnalysisRow::Part;
  Analysis analysis = chain(3);
  ValueList::Options options;
  EXPECT_EQ(meanings_of(value_list(analysis, options)), std::vector<std::string>{"not compared"});
  analysis.rows[0].state = State::Same;
  analysis.rows[1].state = analysis.rows[2].state = State::Differs;
  analysis.rows[1].part = Part::Cause;
  analysis.rows[2].part = Part::Carrier;
  options.kept = {0, 1, 0};
  EXPECT_EQ(meanings_of(value_list(analysis, options)),
            (std::vector<std::string>{"cause", "carrier", "agrees with eager", "kept in the reduced program"}));
}

/// A program that crashes or hangs has no value that could be wrong.
TEST(ValueList, OfACrashNoValueIsTheCause) {
  using State = AnalysisRow::State;
  using Part = AnalysisRow::Part;
  Analysis analysis = chain(3);
  analysis.rows[1].state = analysis.rows[2].state = State::Fails;
  analysis.rows[1].part = Part::Cause;
  analysis.rows[2].part = Part::Carrier;
  analysis.first = 1;
  const ValueList list = value_list(analysis, {});
  EXPECT_EQ(meanings_of(list), (std::vector<std::string>{"fails here", "not reached", "not compared"}));
  for (const std::string &text : {list.picture.svg, list.entries}) {
    EXPECT_EQ(text.find("wrong value"), std::string::npos) << text;
    EXPECT_EQ(text.find(">cause<"), std::string::npos) << text;
  }
}

TEST(ValueList, NamesALineOfTheSourceWhereThereIsOne) {
  Analysis analysis = chain(2);
  analysis.rows[1].value = "%72";
  analysis.rows[1].source = "model.py:7: y = relu(x)";
  const ValueList list = value_list(analysis, {});
  EXPECT_EQ(list.picture.svg.find("%72"), std::string::npos) << list.picture.svg;
  EXPECT_NE(list.picture.svg.find("model.py:7: y = relu(x)"), std::string::npos) << list.picture.svg;
  EXPECT_NE(list.picture.svg.find("%v0"), std::string::npos) << "it has no line";
  EXPECT_NE(list.entries.find("%72"), std::string::npos) << "its name can be looked up";
}

TEST(ValueList, ShowsASmallValueInFull) {
  Analysis analysis = chain(1);
  ShownValue &shown = analysis.rows[0].shown;
  shown.sizes = {2, 2};
  shown.elements = 4;
  shown.expected = shown.found = {1, 2, 3, 4};
  const ValueList list = value_list(analysis, {});
  for (const char *place : {"[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"})
    EXPECT_NE(list.entries.find(std::string("<th scope=\"row\">") + place), std::string::npos) << list.entries;
}

} // namespace
} // namespace repro_minify
