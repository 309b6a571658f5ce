// Our search and the published ones on planted failures, side by side. Prints tables and writes planted.json,
// planted.csv and planted.svg. Nothing here fails because of a time or a count.
#include "bench/planted/plot.h"
#include "bench/planted/report.h"
#include "bench/planted/scaling.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>

namespace {

using namespace repro_minify::bench;

struct Options {
  std::string folder;
  bool quick = false;
  std::uint64_t first_seed = 0;
};

constexpr int most_queries = 20'000;

std::vector<Measurement> measure_all(std::vector<Row> rows, int seeds, std::uint64_t first_seed) {
  std::vector<Measurement> results;
  for (Row &row : rows) {
    row.plant = [plant = row.plant, first_seed](std::uint64_t seed) { return plant(first_seed + seed); };
    for (const Tool &tool : tools())
      results.push_back(measure(tool, row, seeds, most_queries));
  }
  return results;
}

void run(const Options &options) {
  const auto families =
      measure_all(family_rows(options.quick ? 1000 : 5000), options.quick ? 5 : 24, options.first_seed);
  print_table("Families of faults, mean number of queries [nodes left, where more than needed]", families);
  auto grid = measure_all(grid_rows(options.quick ? std::vector{50, 200, 1000} : std::vector{50, 200, 1000, 5000}), 5,
                          options.first_seed);
  if (!options.quick) { // fewer seeds: fixed probabilities cost thousands of queries here
    const auto large = measure_all(grid_rows({20000}), 3, options.first_seed);
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
    else if (!std::strcmp(argv[i], "--seed") && i + 1 < argc)
      options.first_seed = std::strtoull(argv[++i], nullptr, 10);
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
    std::fprintf(stderr, "usage: bench_planted --out FOLDER [--quick] [--seed FIRST]\n"
                         "  --quick  smaller programs, fewer seeds: seconds\n"
                         "  --seed   of the first failure that is planted: others than the search was tuned on\n");
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
