#include "recording_oracle.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace repro_minify::planted {

bool RecordingOracle::fails(const IndexSet &kept) {
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  asked.push_back(kept);
  answers.push_back(predicate_(kept));
  return answers.back();
}

} // namespace repro_minify::planted
