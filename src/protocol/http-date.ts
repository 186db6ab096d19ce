/*
 * The three forms that RFC 9110 section 5.6.7 makes every recipient read, and nothing else: what
 * the platform's own date parser takes differs between engines ('2', '1e1' and 'soon 5' are dates to some).
 * The calendar is computed here because pure code doesn't hold a Date.
 */

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const MONTH = `(?<month>${MONTHS.join('|')})`
const TIME = '(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})'

/** Sun, 06 Nov 1994 08:49:37 GMT */
const IMF_FIXDATE = new RegExp(`^(?:${DAYS.join('|')}), (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`)
/** Sunday, 06-Nov-94 08:49:37 GMT */
const RFC_850 = new RegExp(
  `^(?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day, (?<day>\\d{2})-${MONTH}-(?<shortYear>\\d{2}) ${TIME} GMT$`,
)
/** Sun Nov  6 08:49:37 1994 */
const ASCTIME = new RegExp(`^(?:${DAYS.join('|')}) ${MONTH} (?<day>\\d{2}| \\d) ${TIME} (?<year>\\d{4})$`)

const DAY_MS = 86_400_000

/** Epoch milliseconds, or undefined where the text is not an HTTP date. `now` settles the century of a two-digit year. */
export function parseHttpDate(text: string, now: number): number | undefined {
  const parts = (IMF_FIXDATE.exec(text) ?? RFC_850.exec(text) ?? ASCTIME.exec(text))?.groups
  if (!parts) return undefined
  const timeMs = timeOfDay(Number(parts.hour), Number(parts.minute), Number(parts.second))
  const date = { month: MONTHS.indexOf(parts.month ?? ''), day: Number(parts.day) }
  if (timeMs === undefined) return undefined
  if (parts.shortYear === undefined) return instant(Number(parts.year), date, timeMs)
  return inNearestCentury(Number(parts.shortYear), now, (year) => instant(year, date, timeMs))
}

/** IMF-fixdate, the one form that may be sent. Milliseconds are cut off. */
export function formatHttpDate(epochMs: number): string {
  const days = Math.floor(epochMs / DAY_MS)
  const { year, month, day } = civilFromDays(days)
  const seconds = Math.floor((epochMs - days * DAY_MS) / 1000)
  const minutes = Math.floor(seconds / 60)
  const time = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}`
  const weekday = DAYS[(((days + 4) % 7) + 7) % 7]
  return `${weekday}, ${two(day)} ${MONTHS[month]} ${String(year).padStart(4, '0')} ${time} GMT`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

/** A leap second is written :60; it is the second after :59. */
function timeOfDay(hour: number, minute: number, second: number): number | undefined {
  if (hour > 23 || minute > 59 || second > 60) return undefined
  return ((hour * 60 + minute) * 60 + second) * 1000
}

function instant(year: number, date: { month: number; day: number }, timeMs: number): number | undefined {
  const days = daysFromCivil(year, date.month, date.day)
  // 30 February comes back as a day of March: no such date.
  return civilFromDays(days).month === date.month ? days * DAY_MS + timeMs : undefined
}

/** RFC 9110: what seems more than 50 years ahead is the latest past year with the same last two digits. */
function inNearestCentury(
  shortYear: number,
  now: number,
  at: (year: number) => number | undefined,
): number | undefined {
  const today = civilFromDays(Math.floor(now / DAY_MS))
  const limit =
    daysFromCivil(today.year + 50, today.month, today.day) * DAY_MS + (now - Math.floor(now / DAY_MS) * DAY_MS)
  const latest = Math.floor((today.year + 50) / 100) * 100 + shortYear
  for (const year of [latest, latest - 100]) {
    const candidate = at(year)
    if (candidate === undefined || candidate <= limit) return candidate
  }
  return undefined
}

/** Days since 1970-01-01 in the proleptic Gregorian calendar; `month` from 0. Years are counted from March. */
function daysFromCivil(year: number, month: number, day: number): number {
  const marchYear = month < 2 ? year - 1 : year
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const dayOfYear = Math.floor((153 * ((month + 10) % 12) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
}

function civilFromDays(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const leapDays = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365)
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = (marchMonth + 2) % 12
  const year = yearOfEra + era * 400 + (month < 2 ? 1 : 0)
  return { year, month, day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1 }
}
