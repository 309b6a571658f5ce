// Our search and the published ones on planted failures, side by side. Prints tables and writes planted.json,
// planted.csv and planted.svg. Nothing here fails because of a time or a count.
#include "bench/planted/plot.h"
#include "bench/planted/report.h"
#include "bench/planted/scaling.h"

#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>

namespace {

using namespace repro_minify::bench;

struct Options {
  std::string folder;
  bool quick = false;
};

constexpr int most_queries = 20'000;

std::vector<Measurement> measure_all(const std::vector<Row> &rows, int seeds) {
  std::vector<Measurement> results;
  for (const Row &row : rows)
    for (const Tool &tool : tools())
      results.push_back(measure(tool, row, seeds, most_queries));
  return results;
}

void run(const Options &options) {
  const auto families = measure_all(family_rows(options.quick ? 1000 : 5000), options.quick ? 5 : 24);
  print_table("Families of faults, mean number of queries [nodes left, where more than needed]", families);
  auto grid = measure_all(grid_rows(options.quick ? std::vector{50, 200, 1000} : std::vector{50, 200, 1000, 5000}), 5);
  if (!options.quick) { // fewer seeds: fixed probabilities cost thousands of queries here
    const auto large = measure_all(grid_rows({20000}), 3);
    grid.insert(grid.end(), large.begin(), large.end());
  }
  print_table("One set is needed, median number of queries [nodes left]; limit = 1.5 bound + 2 needed + 8", grid);
  const auto scaling = measure_scaling(options.quick ? std::vector{500, 2000} : std::vector{500, 2000, 10000, 50000},
                                       options.quick ? 3 : 10);
  std::vector<Measurement> all = families;
  all.insert(all.end(), grid.begin(), grid.end());
  all.insert(all.end(), scaling.begin(), scaling.end());
  std::filesystem::create_directories(options.folder);
  append_json(options.folder + "/planted.json", all);
  write_csv(options.folder + "/planted.csv", all);
  write_plot(options.folder + "/planted.svg", grid, {"adjacent 5", "scattered 5", "scattered 20"});
}

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "--quick"))
      options.quick = true;
    else if (!std::strcmp(argv[i], "--out") && i + 1 < argc)
      options.folder = argv[++i];
    else
      return false;
  return !options.folder.empty();
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: bench_planted --out FOLDER [--quick]\n"
                         "  --quick  smaller programs, fewer seeds: seconds\n");
    return 2;
  }
  try {
    run(options);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "bench_planted: %s\n", error.what());
    return 1;
  }
  return 0;
}
