// The main job: check, flatten, reduce, emit, verify.
#include "app/bisection.h"
#include "app/flattening.h"
#include "app/interruption.h"
#include "app/output_folder.h"
#include "app/progress.h"
#include "app/session.h"
#include "app/table.h"
#include "emit/atomic_file.h"
#include "oracle/external_oracle.h"
#include "program/archive.h"
#include "program/compute.h"
#include "reduce/reduce_recorded.h"
#include "reduce/reloaded.h"
#include "repro_minify/reducer.h"
#include "repro_minify/repro.h"
#include "support/log.h"

#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/version.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

class ReduceCommand {
public:
  explicit ReduceCommand(const Options &options)
      : options_(options), folder_(output_folder(options, ".repro")), progress_(options.quiet) {
    facts_.version = REPRO_MINIFY_VERSION;
    facts_.torch_version = TORCH_VERSION;
  }

  int run() {
    const std::string journal = folder_ + "/journal.jsonl";
    const bool resumes = options_.resume && fs::exists(journal);
    require_free(folder_, options_.force || resumes);
    Session session(options_);
    if (resumes) {
      session.keep_journal(journal, true);
      resumed_ = static_cast<int>(session.journal->earlier());
      if (repair_saved(folder_))
        log::warning(folder_ + "/inputs.pt was not what reduced.pt was written with, and has been written again");
      log::info("resuming: " + std::to_string(session.journal->earlier()) + " answers are in " + journal);
    }
    session.phases.enter("original check");
    const FailureRate rate = session.check_original(stop_requested);
    const Verdict &original = rate.verdict;
    throw_if_interrupted();
    if (const auto code = ends_here(session, rate))
      return *code;
    warn_of_missing_reference(session, original);
    begin_journal(session, rate, journal);
    if (!options_.oracle.empty() && !oracle_is_sure(session, rate))
      return EagerNotReproducible;
    facts_.original = original;
    facts_.original_failed = rate.failed;
    facts_.original_runs = rate.runs;
    facts_.signature = original.signatures.front();
    log::info(options_.model + " fails under " + session.backend->name() + ": " + to_string(facts_.signature) +
              (original.message.empty() ? "" : "\n  " + original.message));
    if (rate.runs > 1)
      log::info("it fails in " + std::to_string(rate.failed) + " of " + std::to_string(rate.runs) +
                " runs; a smaller program has to in " + std::to_string(options_.need) + " of up to " +
                std::to_string(options_.repeat));
    session.phases.enter("flatten");
    const auto flattened = flatten(session);
    throw_if_interrupted();
    return flattened ? reduce(session, *flattened) : hand_back(session);
  }

private:
  int reduce(Session &session, const Flattened &flattened) {
    Reduction reduction = reduce_program(session, flattened, session.test, session.journal);
    session.phases.enter("emit");
    save_program(reduction.program, folder_, options_.grad);
    if (!reduction.interrupted && options_.oracle.empty() && is_lost_in_saving(session, reduction.program)) {
      reduction = reduce_as_saved(session, flattened, std::move(reduction));
      save_program(reduction.program, folder_, options_.grad);
    }
    collect_facts(session, reduction.program);
    collect_facts(session, flattened, reduction);
    save_passing(reduction);
    const Subject subject = subject_of(std::make_shared<Program>(reduction.program));
    return hand_over(session, reduction.program, subject, reduction.interrupted);
  }

  /// What cannot be reduced is handed back as it was given, with all else that a reduced program gets.
  int hand_back(Session &session) {
    log::warning(options_.model + ": NOT REDUCED: " + *facts_.not_reduced);
    save_as_given(session.as_given(), folder_);
    const Program shown = outline_of(session);
    collect_facts(session, shown);
    facts_.reduced = facts_.original;
    facts_.flatten_level = "not flattened";
    facts_.before = facts_.after = size_of(shown);
    return hand_over(session, shown, session.original(), false);
  }

  /// The graph that a person would look at; without values, it is no Program that can be run.
  static Program outline_of(const Session &session) {
    Program program;
    program.graph = session.model.module.get_method(session.model.method).graph()->copy();
    try {
      torch::jit::Inline(*program.graph);
    } catch (const std::exception &) { // as far as it goes
    }
    return program;
  }

  /// From here on there is something to keep.
  void begin_journal(Session &session, const FailureRate &rate, const std::string &path) const {
    make_folder(folder_);
    write_atomically(folder_ + "/config.toml", options_.effective_config);
    if (!session.journal)
      session.keep_journal(path, false);
    for (size_t run = 0; run < rate.each.size(); ++run)
      if (const std::string key = "original " + std::to_string(run + 1); !session.journal->find(key))
        session.journal->append("original", key, {}, rate.each[run], true);
  }

  /// A test that is always true would be reduced to nothing, and one that is not sure of itself to anything.
  bool oracle_is_sure(Session &session, const FailureRate &rate) const {
    Program empty;
    empty.graph = std::make_shared<torch::jit::Graph>();
    const Signature &wanted = rate.verdict.signatures.front();
    if (shows(session.ask(empty, wanted), wanted))
      throw UserError("--oracle " + options_.oracle +
                      ": finds an empty program interesting too, so it accepts everything; exit with 0 only for what "
                      "still shows the problem");
    throw_if_interrupted();
    if (options_.repeat > 1)
      return true;
    const Job again = ask_oracle(session.oracle, options_.model);
    const Verdict verdict = session.answer_to(again, session.limits());
    if (!shows(verdict, wanted))
      log::error("--oracle " + options_.oracle + ": changes its mind about " + options_.model + " (" + verdict.message +
                 "); for one that is not always sure give --repeat N --need M");
    return shows(verdict, wanted);
  }

  std::optional<int> ends_here(const Session &session, const FailureRate &rate) const {
    require_checkable(session, rate.verdict);
    if (rate.verdict.eager_failed) {
      log::error(eager_problem(session, rate.verdict));
      return EagerNotReproducible;
    }
    if (rate.failed >= options_.need)
      return std::nullopt;
    if (!options_.oracle.empty()) {
      log::error(options_.model + ": is not interesting to " + options_.oracle + " (" + rate.verdict.message + ")");
      return DoesNotFail;
    }
    log::error(options_.model + ": does not fail under " + session.backend->name() + " (" + why_not(session, rate) +
               ")");
    return DoesNotFail;
  }

  std::string why_not(const Session &session, const FailureRate &rate) const {
    if (rate.failed > 0)
      return "in " + std::to_string(rate.failed) + " of " + std::to_string(rate.runs) + " runs; --need says " +
             std::to_string(options_.need);
    return std::to_string(session.check.calls) + " calls" +
           (rate.runs > 1 ? " in each of " + std::to_string(rate.runs) + " runs" : "") +
           (session.check.mode == CheckMode::Run ? ", none raises" : ", all the same as eager") +
           nearer_note(rate.verdict);
  }

  static std::string nearer_note(const Verdict &verdict) {
    const std::string nearer = nearer_to_fp64(verdict);
    return nearer.empty() ? ""
                          : "; " + nearer +
                                " differs, nearer to float64 than eager: --compare close or exact takes "
                                "that for a failure";
  }

  /// Nothing where the model has to be handed back as it is; `not_reduced` says why.
  std::optional<Flattened> flatten(Session &session) {
    try {
      if (auto flattened = flatten_model(session, facts_.original)) {
        if (flattened->hidden_by)
          log::info(*flattened->hidden_by + " hides the failure; blocks are kept as they are");
        return flattened;
      }
      facts_.not_reduced =
          "it fails as it is, but no longer once its calls are inlined and its attributes made inputs; "
          "if it does not fail in every run, give --repeat N --need M; otherwise " +
          std::string(advice_on_flattening);
    } catch (const CannotFlatten &error) {
      facts_.not_reduced = "it cannot be flattened: " + std::string(error.what()) + "; " + advice_on_flattening;
    } catch (const UserError &) {
      throw;
    } catch (const std::exception &error) {
      facts_.not_reduced =
          "its values cannot be recorded: " + first_sentence(error.what()) + "; " + advice_on_flattening;
    }
    if (session.backend->needs_flat_graph())
      throw UserError(options_.model + ": cannot be reduced, and " + session.backend->name() +
                      " takes nothing else than a flat program: " + *facts_.not_reduced);
    return std::nullopt;
  }

  /// TorchScript's loader can change a program, and with it the failure. One that comes and goes is not lost in saving.
  bool is_lost_in_saving(const Session &session, const Program &program) const {
    const Job as_it_is = session.test.job(std::make_shared<Program>(program));
    return !fails(session, job_on_saved(session)) && fails(session, as_it_is) && !fails(session, job_on_saved(session));
  }

  bool is_wanted(const Verdict &verdict) const { return shows(verdict, facts_.signature, same_failure(options_)); }

  Verdict ask(const Session &session, const Job &job, const Repetition &repetition) const {
    const auto once = [&]() -> Verdict {
      try {
        return session.answer_to(job, session.confirming_limits(facts_.signature));
      } catch (const Interruption &) {
        return {}; // unresolved: there is something to keep by now
      }
    };
    return check_repeatedly(
        once, [&](const Verdict &verdict) { return is_wanted(verdict); }, repetition);
  }

  bool fails(const Session &session, const Job &job) const {
    return is_wanted(ask(session, job, repetition(options_)));
  }

  /// Once more, with each candidate checked as its file has it. The journal is about the others: a run that is killed
  /// here comes back to this point.
  Reduction reduce_as_saved(Session &session, const Flattened &flattened, Reduction reduction) {
    log::info("the reduced program no longer fails once it is saved and loaded; reducing again, with each candidate "
              "saved and loaded before it is checked");
    const InterestingnessTest test = reloading_test(session.backend, session.check);
    const Job job = test.job(std::make_shared<Program>(flattened.program));
    Flattened saved = flattened;
    try {
      saved.verdict = session.answer_to(test, job, session.limits());
    } catch (const Interruption &) {
      return reduction;
    }
    if (!is_wanted(saved.verdict))
      return reduction; // it cannot be handed over at all; verification will say so
    Reduction again = reduce_program(session, saved, test, nullptr);
    again.checks += reduction.checks;
    again.seconds += reduction.seconds;
    again.check_seconds += reduction.check_seconds;
    return again;
  }

  Reduction reduce_program(Session &session, const Flattened &flattened, const InterestingnessTest &test,
                           const std::shared_ptr<Journal> &journal) {
    ReduceOptions reduce_options;
    reduce_options.same_failure = same_failure(options_);
    reduce_options.repetition = repetition(options_);
    reduce_options.limits = session.limits();
    if (options_.timeout_seconds <= 0)
      reduce_options.highest_timeout = 4 * reduce_options.limits.timeout;
    reduce_options.jobs = jobs(options_);
    reduce_options.journal = journal;
    reduce_options.passes = {options_.passes, options_.skip_passes};
    if (options_.time_budget_seconds > 0)
      reduce_options.time_budget_seconds = std::max(0.001, options_.time_budget_seconds - seconds_so_far());
    reduce_options.interrupted = stop_requested;
    reduce_options.progress = [this](const Progress &progress) { progress_.show(progress); };
    reduce_options.on_improved = [this](const Program &program) { save_now_and_then(program); };
    reduce_options.on_phase = [&](const std::string &phase) { session.phases.enter(phase); };
    // An oracle of the user's own has settings of its own.
    const auto recording = options_.oracle.empty() ? flattened.recording : nullptr;
    auto reduction =
        reduce_recorded(flattened.program, recording, flattened.verdict, facts_.signature, test, reduce_options);
    progress_.finish();
    log::info(passes_table(reduction));
    for (const auto &pass : reduction.passes)
      if (!pass.problem.empty())
        log::warning("pass " + pass.pass + " ended early: " + first_sentence(pass.problem));
    for (const auto &reason : reduction.not_shown_because)
      log::warning("not shown to be 1-minimal: " + reason);
    return reduction;
  }

  double seconds_so_far() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  /// Nothing is lost if we are killed: the journal leads back to here. A file for each small step forward would cost
  /// more than the step.
  void save_now_and_then(const Program &program) {
    if (std::chrono::steady_clock::now() - last_save_ >= std::chrono::milliseconds(500))
      save_now(program);
  }
  void save_now(const Program &program) {
    save_program(program, folder_, options_.grad, "reduced", /*durable=*/false);
    last_save_ = std::chrono::steady_clock::now();
  }

  static std::string passes_table(const Reduction &reduction) {
    std::vector<std::vector<std::string>> rows = {
        {"pass", "turns", "tried", "worked", "operators removed", "checks", "seconds"}};
    for (const auto &pass : reduction.passes)
      if (pass.tried > 0)
        rows.push_back({pass.pass, std::to_string(pass.runs), std::to_string(pass.tried), std::to_string(pass.worked),
                        std::to_string(pass.operators_removed), std::to_string(pass.checks),
                        short_number(pass.seconds)});
    std::string table = table_text(rows);
    table.pop_back();
    return "what each pass did:\n" + table;
  }

  std::string phases_table() const {
    std::vector<std::vector<std::string>> rows = {{"phase", "seconds"}};
    for (const auto &[name, seconds] : facts_.phases)
      rows.push_back({name, short_number(seconds)});
    return "where the time went:\n" + table_text(rows);
  }

  void collect_facts(const Session &session, const Program &program) {
    facts_.model_path = options_.model;
    facts_.method = options_.method;
    facts_.inputs_origin = session.inputs.origin;
    facts_.backend = session.backend;
    facts_.check = session.check;
    static_cast<RunSettings &>(facts_.check) = session.settings();
    facts_.same_failure = same_failure(options_);
    facts_.repetition = repetition(options_);
    facts_.needs_determinism = session.check.device.is_cuda() || session.check.determinism == Determinism::On ||
                               !suspects(*program.graph, session.check.device, session.check.grad).empty();
    facts_.hang_seconds = static_cast<unsigned>(
        std::max<int64_t>(1, session.confirming_limits(facts_.signature).timeout / std::chrono::seconds(1)));
    facts_.memory_bytes = options_.memory_bytes;
    facts_.train = options_.train;
    facts_.resumed = resumed_;
  }

  void collect_facts(const Session &session, const Flattened &flattened, const Reduction &reduction) {
    facts_.reduced = reduction.verdict;
    facts_.signature = shown_by(reduction.verdict);
    facts_.flatten_level = flattened.level;
    facts_.hidden_by = flattened.hidden_by;
    facts_.before = flattened.before;
    facts_.after = size_of(reduction.program);
    facts_.after_freezing = operators_after_freezing(reduction.program, session.limits());
    facts_.one_minimal = reduction.one_minimal;
    facts_.not_shown_because = reduction.not_shown_because;
    facts_.interrupted = reduction.interrupted || stop_requested();
    facts_.out_of_time = reduction.out_of_time;
    facts_.check_seconds = reduction.check_seconds;
    facts_.checks = reduction.checks;
    facts_.cached = reduction.cached;
    facts_.search_seconds = reduction.seconds;
    facts_.passes = reduction.passes;
  }

  /// The Signature that made the reduced program count: with --same-failure it need not be the original's.
  Signature shown_by(const Verdict &verdict) const {
    if (shows(verdict, facts_.signature))
      return facts_.signature;
    for (const auto &signature : verdict.signatures)
      if (facts_.same_failure == SameFailure::Any || signature.kind == facts_.signature.kind)
        return signature;
    return facts_.signature;
  }

  /// `subject` is what is handed over, `program` what the reports show of it.
  int hand_over(Session &session, const Program &program, const Subject &subject, bool interrupted) {
    std::error_code ignored;
    fs::remove_all(folder_ + "/candidates", ignored); // what an oracle that was killed had before it
    if (!interrupted)
      find_guilty_step(session, subject);
    if (options_.oracle.empty() && !interrupted && is_comparison(facts_.signature.kind))
      facts_.reads_unwritten = reads_unwritten_memory(subject, session.backend, session.check, session.limits());
    SandboxPool pool(1);
    std::optional<SandboxPool::Ticket> repro;
    if (options_.oracle.empty())
      repro = write_repro_in_child(program, pool);
    const auto begin = std::chrono::steady_clock::now();
    const bool confirmed = !facts_.interrupted && confirm_saved(session);
    const bool written = !repro || is_written(pool, *repro);
    if (confirmed && written && !stop_requested())
      verify(program);
    if (!interrupted)
      ask_others(session);
    if (!interrupted && !stop_requested() && options_.oracle.empty())
      collect_for_issue(session);
    facts_.interrupted |= stop_requested();
    facts_.verify_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    facts_.total_seconds = seconds_so_far();
    facts_.phases = session.phases.seconds();
    log::debug(phases_table());
    write_reports(program, facts_, folder_);
    if (options_.oracle.empty())
      write_issue(program, facts_, folder_);
    return conclude();
  }

  /// A program that nobody can write down is still reduced, and in its file.
  bool is_written(SandboxPool &pool, SandboxPool::Ticket repro) {
    try {
      await_repro(pool, repro);
      return true;
    } catch (const std::exception &error) {
      facts_.verified = false;
      facts_.verify_message = "repro.cpp cannot be written: " + first_sentence(error.what());
      return false;
    }
  }

  /// Nice to know: it never stands in the way of the repro.
  void find_guilty_step(const Session &session, const Subject &subject) {
    if (options_.no_bisect || !options_.oracle.empty() || facts_.interrupted)
      return;
    try {
      if (!has_steps(*session.backend))
        return;
      BisectOptions bisect_options = bisect_options_of(session, facts_.signature);
      bisect_options.progress = [this](int done) { progress_.show_count("bisect", done, 0); };
      facts_.bisection = bisect(subject, session.backend, bisect_options);
      log::info(facts_.bisection->message + " (" + std::to_string(facts_.bisection->checks.size()) + " checks, " +
                short_number(facts_.bisection->seconds) + " s)");
    } catch (const BisectionInterrupted &) {
      facts_.interrupted = true;
    } catch (const std::exception &error) {
      log::warning(std::string("bisect: ") + first_sentence(error.what()));
    }
    progress_.finish();
  }

  /// At no cost: the search has seen it. A candidate that cannot be saved is not worth a failure.
  void save_passing(const Reduction &reduction) {
    try {
      if (reduction.passing)
        save_program(*reduction.passing, folder_, options_.grad, "passing", /*durable=*/false);
      facts_.has_passing = reduction.passing.has_value();
    } catch (const std::exception &error) {
      log::debug(std::string("passing.pt: ") + first_sentence(error.what()));
    }
  }

  SandboxPool::Ticket write_repro_in_child(const Program &program, SandboxPool &pool) const {
    return pool.submit([&](Child &) { write_repro(program, facts_, folder_); }, generous_limits());
  }

  /// Whoever interrupts does not want to wait, not even for the repro; it is there in an instant as a rule.
  static void await_repro(SandboxPool &pool, SandboxPool::Ticket repro) {
    std::optional<std::chrono::steady_clock::time_point> end;
    const auto gives_up = [&] {
      if (stop_requested() && !end)
        end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
      return end && std::chrono::steady_clock::now() > *end;
    };
    if (const auto outcome = pool.wait(repro, gives_up))
      return require_reply(*outcome);
    pool.cancel(repro);
    log::warning("interrupted before repro.cpp was written");
  }

  /// Whether what was saved fails, loaded again in new processes. (Meanwhile the repro is written.)
  bool confirm_saved(const Session &session) {
    // One that is said to fail always has to, more than once: luck has a say in programs that are random themselves.
    const Repetition repetition = options_.repeat > 1 ? facts_.repetition : Repetition{.runs = 3, .need = 3};
    const Verdict confirmed = ask(session, job_on_saved(session), repetition);
    if (stop_requested())
      return false;
    if (!is_wanted(confirmed)) {
      facts_.verified = false;
      if (!options_.oracle.empty()) {
        facts_.verify_message = options_.oracle + " changes its mind about reduced.pt: " + confirmed.message +
                                "; for one that is not always sure give --repeat N --need M";
        return false;
      }
      facts_.verify_message = "reduced.pt, loaded again, does not fail the same way each time: " + confirmed.message;
      if (confirmed.outcome == Verdict::Outcome::Pass)
        facts_.verify_message += "; for a failure that does not always show give --repeat N --need M";
      return false;
    }
    return true;
  }

  /// repro.cpp is built and run.
  void verify(const Program &program) {
    if (!options_.oracle.empty())
      facts_.verified = true; // there is no C++ to build: the oracle alone knows what is looked for
    if (options_.no_verify || !options_.oracle.empty())
      return;
    log::info("building and running repro.cpp ...");
    const Verification verification = verify_repro(folder_, reproduction_marker(program, facts_.signature),
                                                   facts_.signature, facts_.repetition, stop_requested);
    if (stop_requested())
      return;
    facts_.verified = verification.same_failure;
    facts_.verify_message = verification.message;
    facts_.script = verify_script(program, facts_, folder_, stop_requested);
  }

  /// What a tracker asks beside the repro.
  void collect_for_issue(const Session &session) {
    facts_.anonymous = options_.anonymous;
    if (options_.no_verify)
      return;
    facts_.ablation = ablate(saved_subject(), facts_, session.limits(), options_.ablation, stop_requested);
    if (options_.ablation)
      facts_.environment = collect_environment();
  }

  /// What else gets the reduced program wrong.
  void ask_others(const Session &session) {
    for (const auto &backend : session.others) {
      if (stop_requested())
        return;
      const auto once = [&] {
        if (facts_.not_reduced && backend->needs_flat_graph()) {
          Verdict verdict; // unresolved
          verdict.message = "it takes nothing else than a flat program";
          return verdict;
        }
        return check(saved_subject(), backend, session.check, session.limits());
      };
      const auto fails = [](const Verdict &verdict) { return verdict.outcome == Verdict::Outcome::Fail; };
      OtherBackend other{backend->name(), check_repeatedly(once, fails, {.runs = options_.repeat, .need = 1})};
      if (stop_requested())
        return;
      other.same_signature = shows(other.verdict, facts_.signature);
      log::info("under " + other.name + ": " + to_string(other));
      facts_.others.push_back(std::move(other));
    }
  }

  Job job_on_saved(const Session &session) const {
    if (!session.oracle.empty())
      return ask_oracle(session.oracle, fs::absolute(folder_ + "/reduced.pt").string());
    return check_job(saved_subject(), session.backend, session.check);
  }

  Subject saved_subject() const {
    // What is handed back unreduced is as the model was given; a reduced program is in eval mode.
    const bool train = facts_.not_reduced && options_.train;
    return [folder = folder_, seed = options_.seed, train](const InstantiateOptions &instantiate_options) {
      std::ifstream file(folder + "/inputs.pt", std::ios::binary);
      const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
      const auto inputs = torch::jit::pickle_load(bytes);
      return instantiate(Archive{folder + "/reduced.pt", inputs.toTupleRef().elements().vec(), seed, train},
                         instantiate_options);
    };
  }

  static std::string joined(const std::vector<std::string> &reasons) {
    std::string text;
    for (const auto &reason : reasons)
      text += (text.empty() ? "" : "; ") + reason;
    return text;
  }

  int conclude() const {
    if (facts_.interrupted) {
      log::warning("interrupted; the best so far is in " + folder_ + " (not verified)");
      return InterruptedByUser;
    }
    if (facts_.out_of_time)
      log::warning("the time budget is spent: this is the best so far; --resume goes on from here");
    const std::string result = folder_ + (options_.oracle.empty() ? "/repro.cpp\n" : "/reduced.pt\n");
    if (facts_.not_reduced)
      log::warning("handed back as it was given, NOT REDUCED: " + *facts_.not_reduced);
    else
      log::info("from " + std::to_string(facts_.before.operators) + " operators to " +
                std::to_string(facts_.after.operators) + " in " + std::to_string(facts_.checks) + " checks" +
                (facts_.one_minimal ? "" : "; not shown to be 1-minimal: " + joined(facts_.not_shown_because)));
    if (facts_.verified.has_value() && !*facts_.verified) {
      log::error("THE REPRO DID NOT VERIFY: " + facts_.verify_message);
      std::cout << result;
      return NotVerified;
    }
    std::cout << result;
    return ReducedAndVerified;
  }

  const Options &options_;
  std::string folder_;
  ProgressPrinter progress_;
  std::chrono::steady_clock::time_point last_save_;
  ReproFacts facts_;
  int resumed_ = 0; ///< answers that an earlier run left
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace

int reduce_command(const Options &options) {
  catch_signals();
  try {
    return ReduceCommand(options).run();
  } catch (const Interruption &) {
    log::warning("interrupted before there was anything to keep");
    return InterruptedByUser;
  }
}

} // namespace repro_minify
