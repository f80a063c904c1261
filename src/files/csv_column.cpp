#include "src/files/csv_column.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

namespace gpulua {

// ---- texts ---------------------------------------------------------------------------------------------------------

std::uint32_t TextNumbers::number_of(std::string_view text) {
  if (2 * texts_.size() >= slots_.size()) grow();
  const std::size_t hash = std::hash<std::string_view>()(text), last = slots_.size() - 1;
  for (std::size_t at = hash & last;; at = (at + 1) & last) {
    Slot& slot = slots_[at];
    if (slot.number_and_1 == 0) {
      texts_.emplace_back(text);
      slot = {hash, static_cast<std::uint32_t>(texts_.size())};
    }
    if (slot.hash == hash && texts_[slot.number_and_1 - 1] == text) return slot.number_and_1 - 1;
  }
}

void TextNumbers::grow() {
  std::vector<Slot> old(std::max<std::size_t>(64, 2 * slots_.size()));
  old.swap(slots_);
  const std::size_t last = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.number_and_1 == 0) continue;
    std::size_t at = slot.hash & last;
    while (slots_[at].number_and_1 != 0) at = (at + 1) & last;
    slots_[at] = slot;
  }
}

std::vector<std::uint32_t> TextNumbers::sort() {
  std::vector<std::uint32_t> order(texts_.size()), places(texts_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) { return texts_[a] < texts_[b]; });
  std::deque<std::string> sorted;
  for (const std::uint32_t number : order) {
    places[number] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(texts_[number]));
  }
  texts_ = std::move(sorted);
  slots_.clear();
  return places;
}

std::vector<std::string> TextNumbers::take() {
  return {std::make_move_iterator(texts_.begin()), std::make_move_iterator(texts_.end())};
}

// ---- values --------------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t nan_bits = 0x7ff8000000000000;

/// The kind of the values of a dtype.
CsvKind kind_of(DType dtype) {
  switch (info(dtype).kind) {
    case DTypeKind::boolean:
      return CsvKind::boolean;
    case DTypeKind::signed_integer:
      return CsvKind::integer;
    case DTypeKind::unsigned_integer:
      return dtype == DType::uint64 ? CsvKind::large_integer : CsvKind::integer;
    default:
      return CsvKind::real;
  }
}

double to_real(std::uint64_t bits, CsvKind kind) {
  return kind == CsvKind::large_integer ? static_cast<double>(bits)
                                        : static_cast<double>(static_cast<std::int64_t>(bits));
}

}  // namespace

CsvColumn::CsvColumn(std::string name, std::optional<CsvType> type, bool or_text, const CsvNumbers& numbers)
    : name_(std::move(name)), or_text_(or_text), numbers_(numbers) {
  has_missing_numbers_ = std::ranges::any_of(numbers.missing, [](const std::string& text) {
    return csv_value(text, {}).kind != CsvKind::text && !text.empty();
  });
  if (!type) return;
  if (const CsvDates* const dates = std::get_if<CsvDates>(&*type)) {
    kind_ = CsvKind::date;
    date_format_ = dates->format;
    return;
  }
  const DType* const dtype = std::get_if<DType>(&*type);
  kind_ = dtype == nullptr ? CsvKind::text : kind_of(*dtype);
  if (dtype == nullptr) return;
  type_ = *dtype;
  is_single_ = kind_ == CsvKind::real && *dtype != DType::float64;
  if (kind_ != CsvKind::integer || *dtype == DType::int64) return;
  const int bits = static_cast<int>(8 * size_of(*dtype));
  const bool is_signed = info(*dtype).kind == DTypeKind::signed_integer;
  greatest_ = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  least_ = is_signed ? -greatest_ - 1 : 0;
}

std::string CsvColumn::add(std::string_view field, bool is_quoted) {
  if (begins_again_) return {};
  if (kind_ == CsvKind::text) {
    values_.push_back(texts_.number_of(field));
    return {};
  }
  if (date_format_) return add_date(without_spaces(field));
  if (is_quoted && or_text_) return make_text();
  if (type_) return add_typed(field);
  return add_value(field);
}

std::string CsvColumn::add_date(std::string_view field) {
  if (const auto moment = parse_date(field, *date_format_)) return push_date(*moment);
  if (has_date_form(field, *date_format_)) return "a date that exists";
  if (csv_value(field, numbers_).kind != CsvKind::missing)
    return "a date as " +
           (date_format_->empty() ? "2024-03-01 or 2024-03-01 12:30:00" : '"' + *date_format_ + "\" has them");
  push_missing();
  return {};
}

/// Adds a date; all dates of the column get its unit where that is finer.
std::string CsvColumn::push_date(const Moment& moment) {
  const DateUnit unit = std::max(date_unit_, moment.unit);
  const auto count = count_of(moment, unit);
  bool fits = count.has_value();
  for (std::size_t i = 0; fits && unit != date_unit_ && i < values_.size(); ++i) {
    const auto value = in_finer(static_cast<std::int64_t>(values_[i]), date_unit_, unit);
    fits = value.has_value();
    values_[i] = static_cast<std::uint64_t>(value.value_or(0));
  }
  if (!fits) return "dates of the years 1678 to 2261 beside others with nanoseconds";
  date_unit_ = unit;
  values_.push_back(static_cast<std::uint64_t>(*count));
  return {};
}

std::string CsvColumn::add_typed(std::string_view field) {
  const DType dtype = *type_;
  const CsvValue value = csv_value(field, numbers_);
  const bool is_integer = value.kind == CsvKind::integer || value.kind == CsvKind::large_integer;
  if (value.kind == CsvKind::text && or_text_) return make_text();
  if (kind_ == CsvKind::real) {
    if (value.kind == CsvKind::missing) {
      values_.push_back(nan_bits);
      return {};
    }
    if (value.kind == CsvKind::boolean) {
      push_real(static_cast<double>(value.bits));
      return {};
    }
    if (is_integer || value.kind == CsvKind::real) {
      std::string room;
      const std::string_view text = plain_number(without_spaces(field), numbers_, room);
      push_real(is_single_ ? static_cast<double>(*csv_real<float>(text)) : *csv_real<double>(text));
      return {};
    }
  } else if (value.kind == CsvKind::missing) {
    return "a value, as " + std::string(gpulua::name(dtype)) + " has none for missing ones; float64 has NaN";
  } else if (kind_ == CsvKind::integer) {
    const bool is_narrow = value.kind == CsvKind::integer || value.kind == CsvKind::boolean;
    if (is_narrow && push_integer(static_cast<std::int64_t>(value.bits))) return {};
  } else if (kind_ == CsvKind::large_integer) {
    if (value.kind != CsvKind::real && value.kind != CsvKind::text &&
        (value.kind == CsvKind::large_integer || static_cast<std::int64_t>(value.bits) >= 0)) {
      values_.push_back(value.bits);
      return {};
    }
  } else if (value.kind == CsvKind::boolean || (is_integer && value.bits <= 1)) {
    values_.push_back(value.bits);
    return {};
  }
  return "a value of " + std::string(gpulua::name(dtype));
}

std::string CsvColumn::add_value(std::string_view field) {
  // Most fields of a column of dates are dates.
  if (kind_ == CsvKind::date && std::ranges::find(numbers_.missing, without_spaces(field)) == numbers_.missing.end())
    if (const auto moment = parse_date(without_spaces(field))) return push_date(*moment);
  const CsvValue value = csv_value(field, numbers_);
  if (value.kind == CsvKind::missing) {
    push_missing();
    return {};
  }
  const auto moment =
      value.kind == CsvKind::text && kind_ == CsvKind::missing ? parse_date(without_spaces(field)) : std::nullopt;
  if (moment) {
    values_.assign(values_.size(), static_cast<std::uint64_t>(missing_date));
    kind_ = CsvKind::date;
    missing_rows_.clear();
    return push_date(*moment);
  }
  const bool is_integer = value.kind == CsvKind::integer || value.kind == CsvKind::large_integer;
  if (value.kind == CsvKind::text || kind_ == CsvKind::date || (is_integer && is_code(without_spaces(field)))) {
    become_text();
    return {};
  }
  if (kind_ == CsvKind::missing && value.kind != CsvKind::real) kind_ = value.kind;
  if ((kind_ == CsvKind::boolean) != (value.kind == CsvKind::boolean)) {
    become_text();
    return {};
  }
  const bool is_negative = value.kind == CsvKind::integer && static_cast<std::int64_t>(value.bits) < 0;
  if (kind_ == CsvKind::integer && value.kind == CsvKind::large_integer) {
    if (has_negative_)
      become_real();
    else
      kind_ = CsvKind::large_integer;
  }
  if ((kind_ == CsvKind::large_integer && is_negative) || value.kind == CsvKind::real) become_real();

  if (kind_ == CsvKind::real) {
    values_.push_back(value.kind == CsvKind::real ? value.bits
                                                  : std::bit_cast<std::uint64_t>(to_real(value.bits, value.kind)));
  } else if (kind_ == CsvKind::integer) {
    push_integer(static_cast<std::int64_t>(value.bits));
  } else {
    if (kind_ == CsvKind::large_integer) has_wide_ = true;
    values_.push_back(value.bits);
  }
  return {};
}

void CsvColumn::push_missing() {
  const bool has_own = kind_ == CsvKind::real || kind_ == CsvKind::date;
  if (!has_own) missing_rows_.push_back(values_.size());
  values_.push_back(kind_ == CsvKind::real   ? nan_bits
                    : kind_ == CsvKind::date ? static_cast<std::uint64_t>(missing_date)
                                             : 0);
}

void CsvColumn::become_real() {
  if (kind_ == CsvKind::real) return;
  for (std::uint64_t& value : values_) value = std::bit_cast<std::uint64_t>(to_real(value, kind_));
  for (const std::size_t row : missing_rows_) values_[row] = nan_bits;
  missing_rows_.clear();
  kind_ = CsvKind::real;
}

/// Makes text of the column for a field that is no number, unless a dtype was asked and it has numbers already.
std::string CsvColumn::make_text() {
  const bool has_numbers = type_ && std::ranges::any_of(values_, [&](std::uint64_t bits) {
                             return kind_ != CsvKind::real || bits != nan_bits;
                           });
  if (has_numbers) return "a number as in the rows before, or dtype = {" + name_ + " = \"text\"}";
  become_text();
  return {};
}

void CsvColumn::become_text() {
  kind_ = CsvKind::text;
  type_.reset();
  begins_again_ = true;
  values_.clear();
  missing_rows_.clear();
}

// ---- the result ----------------------------------------------------------------------------------------------------

std::string CsvColumn::fault() const {
  // Decimals are rounded as everybody expects; integers beside missing ones would be by surprise.
  if (missing_rows_.empty() || !has_wide_) return {};
  return "no missing values beside integers beyond 2^53, which float64 would round";
}

/// Makes the values of 64 bits elements of the dtype, in place.
void CsvColumn::narrow(DType dtype) {
  const std::size_t size = size_of(dtype);
  char* at = reinterpret_cast<char*>(values_.data());
  for (const std::uint64_t bits : values_) {
    std::uint64_t element = bits;
    if (info(dtype).kind == DTypeKind::floating) {
      const auto value = static_cast<float>(std::bit_cast<double>(bits));
      if (dtype == DType::float32) element = std::bit_cast<std::uint32_t>(value);
      if (dtype == DType::float16) element = to_half(value);
      if (dtype == DType::bfloat16) element = to_bfloat16(value);
    }
    std::memcpy(at, &element, size);
    at += size;
  }
}

CsvColumnData CsvColumn::finish() {
  CsvColumnData result;
  result.name = std::move(name_);
  if (kind_ == CsvKind::text) {
    const std::vector<std::uint32_t> places = texts_.sort();
    for (std::uint64_t& value : values_) value = places[value] + 1;
    result.texts = texts_.take();
    result.text_field = std::move(text_field_);
    result.dtype = DType::int32;
    narrow(DType::int32);
  } else if (kind_ == CsvKind::date) {
    result.dtype = DType::int64;
    result.dates = DateKind{date_unit_};
  } else if (type_) {
    result.dtype = *type_;
    if (size_of(result.dtype) < sizeof(std::uint64_t)) narrow(result.dtype);
  } else {
    if (!missing_rows_.empty() || kind_ == CsvKind::missing) become_real();
    result.dtype = kind_ == CsvKind::boolean         ? DType::boolean
                   : kind_ == CsvKind::integer       ? DType::int64
                   : kind_ == CsvKind::large_integer ? DType::uint64
                                                     : DType::float64;
    if (kind_ == CsvKind::boolean) narrow(DType::boolean);
  }
  result.memory = std::move(values_);
  return result;
}

}  // namespace gpulua
