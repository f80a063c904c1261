#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpulua {

/// How many letters are put in, left out, replaced, or exchanged with their neighbour on the way from `a` to `b`.
/// Capital letters are their small ones.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Finds the name that was probably meant by one that does not exist. Every message about an unknown name asks it.
class NearName {
 public:
  /// `unknown` outlives this.
  explicit NearName(std::string_view unknown) : unknown_(unknown) {}

  /// One of the names that there are.
  void offer(std::string_view name) { offer(name, name); }
  /// As above, when `name` is another spelling of what is called `shown`.
  void offer(std::string_view name, std::string_view shown);

  /// The nearest name offered; empty when none is near.
  const std::string& name() const { return best_; }
  /// `; did you mean "sum"?`, or nothing when none is near.
  std::string question() const;
  /// The question, or else the names themselves where they are few: `; it has "sum", "wait"`.
  std::string question_or_names() const;

 private:
  std::string_view unknown_;
  std::vector<std::string> offered_;  // as far as they are few
  std::string best_;
  std::size_t least_ = ~std::size_t{0};
};

/// NearName's question about a list of names.
template <class Names>
std::string did_you_mean(std::string_view unknown, const Names& names) {
  NearName near(unknown);
  for (const auto& name : names) near.offer(name);
  return near.question();
}

}  // namespace gpulua
