#include "tasks/shared_area.h"

#include "repro_minify/sandbox.h"
#include "tasks/time_limit.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>

namespace repro_minify {
namespace {

constexpr std::size_t stage_bytes = 64;
constexpr std::size_t message_bytes = 64u << 10;
/// abi::__cxa_demangle() of GCC gives up on names that are longer.
constexpr std::size_t symbol_bytes = 1024;
/// Unlikely to be left by a stray write; the ending is added to it.
constexpr std::uint64_t finished_mark = 0x646f6e6521212100;
/// The mark of a failed allocation, as unlikely. Any other value, a stray byte too, means that no allocation failed.
constexpr std::uint64_t allocation_failed_mark = 0x6e6f6d656d212121;
/// The mark of recorded frames, as unlikely; the number of frames is added to it.
constexpr std::uint64_t frames_mark = 0x6672616d65212100;
constexpr std::size_t page_bytes = 4096;

std::int64_t now_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

/// The most memory that this process has held at a time.
std::uint64_t peak_rss_of_this_process() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
}

/// A ProcessorUse, in nanoseconds.
struct SharedUse {
  std::atomic<std::int64_t> spent, waited;

  void set(const ProcessorUse &use) {
    spent.store(use.spent.count());
    waited.store(use.waited.count());
  }
  ProcessorUse get() const { return {std::chrono::nanoseconds(spent.load()), std::chrono::nanoseconds(waited.load())}; }
};

constexpr std::size_t align_to_page(std::size_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

} // namespace

struct SharedArea::Header {
  std::atomic<bool> goes_on;
  std::atomic<std::int64_t> question_limit;
  std::atomic<std::uint64_t> mark;
  std::atomic<std::int64_t> ended_at;
  SharedUse use_at_end;
  std::atomic<std::int64_t> stage_began;
  std::atomic<std::int64_t> limit_began, limit_ends;
  SharedUse use_when_limit_began;
  std::atomic<pid_t> helper;
  std::atomic<std::uint64_t> peak_rss;
  std::atomic<std::uint64_t> first_rss, rss_before_stage; ///< the peaks when the first stage began, and the last one
  std::atomic<std::uint64_t> reply_size;
  std::atomic<std::uint64_t> message_size;
  std::atomic<std::uint64_t> allocation_mark;
  /// Two slots, so that a kill in the middle of writing one name leaves the name before it.
  std::atomic<unsigned> stage_slot;
  std::array<std::array<char, stage_bytes>, 2> stages;
  std::array<char, message_bytes> message;
  struct FrameSlot {
    const void *address;
    std::array<char, symbol_bytes> symbol;
  };
  std::atomic<std::uint64_t> frame_mark;
  std::array<FrameSlot, most_frames> frames;

  std::size_t frame_count() const {
    const std::uint64_t count = frame_mark.load() - frames_mark;
    return count <= most_frames ? count : 0;
  }
};

SharedArea::SharedArea(std::size_t reply_capacity) : capacity_(reply_capacity) {
  const std::size_t header_bytes = align_to_page(sizeof(Header));
  if (capacity_ > std::numeric_limits<std::size_t>::max() - header_bytes)
    throw std::length_error("the reply capacity is larger than any memory");
  mapped_bytes_ = header_bytes + capacity_;
  // NORESERVE: gigabytes of capacity cost nothing until they are written.
  mapping_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "no memory for the reply of a child process");
  new (mapping_) Header; // the pages are zero already
}

SharedArea::~SharedArea() {
  munmap(mapping_, mapped_bytes_);
}

void SharedArea::hide_from_later_children() {
  madvise(mapping_, mapped_bytes_, MADV_DONTFORK);
}

SharedArea::Header &SharedArea::header() const {
  return *std::launder(static_cast<Header *>(mapping_));
}

char *SharedArea::reply_begin() const {
  return static_cast<char *>(mapping_) + (mapped_bytes_ - capacity_);
}

void SharedArea::set_stage(std::string_view name) {
  Header &head = header();
  const unsigned slot = (head.stage_slot.load() + 1) % 2;
  auto &text = head.stages[slot];
  const std::size_t size = std::min(name.size(), text.size() - 1);
  std::memcpy(text.data(), name.data(), size);
  text[size] = '\0';
  head.stage_slot.store(slot);
  head.rss_before_stage.store(peak_rss_of_this_process());
  if (head.stage_began.load() == 0)
    head.first_rss.store(head.rss_before_stage.load());
  head.stage_began.store(now_ns());
  head.limit_ends.store(0); // of the stage before
  head.allocation_mark.store(0);
}

void SharedArea::set_deadline(std::chrono::milliseconds from_now) {
  Header &head = header();
  const std::int64_t now = now_ns();
  head.limit_ends.store(0);
  head.limit_began.store(now);
  head.use_when_limit_began.set(use_of_this_process());
  head.limit_ends.store(now + std::chrono::nanoseconds(from_now).count());
}

void SharedArea::set_helper(pid_t helper) {
  header().helper.store(helper);
}

void SharedArea::append_reply(std::string_view bytes) {
  const std::uint64_t size = header().reply_size.load();
  if (bytes.size() > capacity_ - size)
    throw std::length_error("the reply is longer than the " + std::to_string(capacity_) + " bytes it may have");
  if (bytes.empty())
    return;
  std::memcpy(reply_begin() + size, bytes.data(), bytes.size());
  header().reply_size.store(size + bytes.size());
}

void SharedArea::set_message(std::string_view text) {
  Header &head = header();
  const std::size_t size = std::min(text.size(), head.message.size());
  std::memcpy(head.message.data(), text.data(), size);
  head.message_size.store(size);
}

void SharedArea::note_failed_allocation() {
  header().allocation_mark.store(allocation_failed_mark);
}

void SharedArea::clear_frames() {
  header().frame_mark.store(frames_mark);
}

void SharedArea::add_frame(const void *address) {
  Header &head = header();
  const std::size_t count = head.frame_count();
  if (count == most_frames)
    return;
  head.frames[count].address = address;
  head.frames[count].symbol[0] = '\0';
  head.frame_mark.store(frames_mark + count + 1);
}

void SharedArea::name_frame(std::size_t index, const char *symbol) {
  if (index >= most_frames)
    return;
  auto &text = header().frames[index].symbol;
  const std::size_t size = strnlen(symbol, text.size() - 1);
  std::memcpy(text.data(), symbol, size);
  text[size] = '\0';
}

void SharedArea::note_end() {
  header().use_at_end.set(use_of_this_process());
  header().ended_at.store(now_ns());
}

void SharedArea::finish(Ending ending) {
  note_end();
  header().peak_rss.store(peak_rss_of_this_process());
  header().mark.store(finished_mark + static_cast<std::uint64_t>(ending));
}

void SharedArea::finish_and_go_on() {
  header().goes_on.store(true);
  finish(Ending::Replied);
}

std::string SharedArea::take_question(std::chrono::nanoseconds &limit) {
  limit = std::chrono::nanoseconds(header().question_limit.load());
  std::string question = take_reply();
  header().reply_size.store(0);
  return question;
}

bool SharedArea::goes_on() const {
  return header().goes_on.load();
}

bool SharedArea::put_question(std::string_view question, std::chrono::nanoseconds limit) {
  if (question.size() > capacity_)
    return false;
  const pid_t helper = header().helper.load(); // it works on for the process
  std::memset(static_cast<void *>(&header()), 0, sizeof(Header));
  new (mapping_) Header;
  set_helper(helper);
  header().question_limit.store(limit.count());
  append_reply(question);
  return true;
}

bool SharedArea::finished() const {
  const std::uint64_t mark = header().mark.load();
  const auto last = static_cast<std::uint64_t>(Ending::Cancelled);
  return mark >= finished_mark && mark <= finished_mark + last && header().reply_size.load() <= capacity_;
}

Ending SharedArea::ending() const {
  return static_cast<Ending>(header().mark.load() - finished_mark);
}

bool SharedArea::allocation_failed() const {
  return header().allocation_mark.load() == allocation_failed_mark;
}

std::uint64_t SharedArea::peak_rss_bytes() const {
  return header().peak_rss.load();
}

std::int64_t SharedArea::stage_began_ns() const {
  return header().stage_began.load();
}

std::uint64_t SharedArea::bytes_before_stage() const {
  const std::uint64_t first = header().first_rss.load(), then = header().rss_before_stage.load();
  return then > first ? then - first : 0;
}

std::optional<TimeLimit> SharedArea::own_limit() const {
  const auto at = [](std::int64_t since_epoch) {
    return TimeLimit::Clock::time_point(std::chrono::nanoseconds(since_epoch));
  };
  const Header &head = header();
  const std::int64_t ends = head.limit_ends.load();
  if (ends <= 0)
    return std::nullopt;
  return TimeLimit{at(head.limit_began.load()), at(ends), head.use_when_limit_began.get()};
}

pid_t SharedArea::helper() const {
  return std::max<pid_t>(header().helper.load(), 0);
}

std::int64_t SharedArea::ended_at_ns() const {
  return header().ended_at.load();
}

ProcessorUse SharedArea::use_at_end() const {
  return header().use_at_end.get();
}

std::string SharedArea::stage() const {
  const auto &text = header().stages[header().stage_slot.load() % 2];
  return {text.data(), strnlen(text.data(), text.size())};
}

std::string SharedArea::message() const {
  const Header &head = header();
  return {head.message.data(), std::min<std::size_t>(head.message_size.load(), head.message.size())};
}

std::vector<SharedArea::Frame> SharedArea::frames() const {
  const Header &head = header();
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < head.frame_count(); ++i) {
    const auto &slot = head.frames[i];
    frames.push_back({slot.address, {slot.symbol.data(), strnlen(slot.symbol.data(), slot.symbol.size())}});
  }
  return frames;
}

std::string SharedArea::take_reply() {
  constexpr std::size_t chunk_bytes = 64u << 20;
  const std::size_t size = std::min<std::size_t>(header().reply_size.load(), capacity_);
  std::string reply;
  reply.reserve(size);
  for (std::size_t from = 0; from < size; from += chunk_bytes) {
    reply.append(reply_begin() + from, std::min(chunk_bytes, size - from));
    if (size > chunk_bytes)
      madvise(reply_begin() + from, std::min(chunk_bytes, size - from), MADV_REMOVE);
  }
  return reply;
}

} // namespace repro_minify
