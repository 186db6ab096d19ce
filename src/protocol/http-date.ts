/*
 * The three forms that RFC 9110 section 5.6.7 makes every recipient read, and nothing else: what
 * the platform's own date parser takes differs between engines ('2', '1e1' and 'soon 5' are dates to some).
 */

const DAY = '(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat)'
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const MONTH = `(?<month>${MONTHS.join('|')})`
/** A leap second is written :60; it is the second after :59. */
const TIME = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)'

/** Sun, 06 Nov 1994 08:49:37 GMT */
const IMF_FIXDATE = new RegExp(`^${DAY}, (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`)
/** Sunday, 06-Nov-94 08:49:37 GMT */
const RFC_850 = new RegExp(
  `^(?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day, (?<day>\\d{2})-${MONTH}-(?<shortYear>\\d{2}) ${TIME} GMT$`,
)
/** Sun Nov  6 08:49:37 1994 */
const ASCTIME = new RegExp(`^${DAY} ${MONTH} (?<day>\\d{2}| \\d) ${TIME} (?<year>\\d{4})$`)

type Parts = { readonly [name: string]: string | undefined }

/** Epoch milliseconds, or undefined where the text is not an HTTP date. `now` settles the century of a two-digit year. */
export function parseHttpDate(text: string, now: number): number | undefined {
  const parts = (IMF_FIXDATE.exec(text) ?? RFC_850.exec(text) ?? ASCTIME.exec(text))?.groups
  if (!parts) return undefined
  return parts.shortYear === undefined ? instant(Number(parts.year), parts) : inNearestCentury(parts, now)
}

/** IMF-fixdate, the one form that may be sent. Milliseconds are cut off. */
export function formatHttpDate(epochMs: number): string {
  return new Date(epochMs).toUTCString()
}

function instant(year: number, { month = '', day, hour, minute, second }: Parts): number | undefined {
  const date = new Date(0)
  date.setUTCFullYear(year, MONTHS.indexOf(month), Number(day))
  // 30 February comes back as a day of March: no such date.
  return date.getUTCDate() === Number(day) ? date.setUTCHours(Number(hour), Number(minute), Number(second)) : undefined
}

/** RFC 9110: what seems more than 50 years ahead is the latest past year with the same last two digits. */
function inNearestCentury(parts: Parts, now: number): number | undefined {
  const limit = new Date(now)
  const lastYear = limit.getUTCFullYear() + 50
  limit.setUTCFullYear(lastYear)
  const latest = lastYear - (lastYear % 100) + Number(parts.shortYear)
  const found = instant(latest, parts)
  return found !== undefined && found > limit.getTime() ? instant(latest - 100, parts) : found
}
