/*
 * The three forms that RFC 9110 section 5.6.7 makes every recipient read, and nothing else: what the platform's own
 * date parser takes beyond them differs between engines ('2', '1e1' and 'soon 5' are dates to some).
 */

const DAY = '(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat)'
/** Sun, 06 Nov 1994 08:49:37 GMT */
const IMF_FIXDATE = new RegExp(`^${DAY}, (\\d\\d) (\\w{3}) (\\d{4}) (\\S{8}) GMT$`)
/** Sunday, 06-Nov-94 08:49:37 GMT */
const RFC_850 = /^(?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day, (\d\d)-(\w{3})-(\d\d) (\S{8}) GMT$/
/** Sun Nov  6 08:49:37 1994 */
const ASCTIME = new RegExp(`^${DAY} (\\w{3}) ([ \\d]\\d) (\\S{8}) (\\d{4})$`)

/** Epoch milliseconds, or undefined where the text is not an HTTP date. `now` settles the century of a two-digit year. */
export function parseHttpDate(text: string, now: number): number | undefined {
  const [fixdate, day, month, year, time] = IMF_FIXDATE.exec(text) ?? RFC_850.exec(text) ?? []
  if (fixdate) return instant(`${day} ${month} ${year?.length === 2 ? inCentury(Number(year), now) : year}`, time)
  const [asctime, itsMonth, itsDay, itsTime, itsYear] = ASCTIME.exec(text) ?? []
  return asctime ? instant(`${itsDay?.replace(' ', '0')} ${itsMonth} ${itsYear}`, itsTime) : undefined
}

let lastSecond = Number.NaN
let lastDate = ''

/** IMF-fixdate, the one form that may be sent. Milliseconds are cut off. The calls of one second share its text. */
export function formatHttpDate(epochMs: number): string {
  const second = Math.floor(epochMs / 1000)
  if (second !== lastSecond) {
    lastSecond = second
    lastDate = new Date(epochMs).toUTCString()
  }
  return lastDate
}

/** What the platform makes of it counts only where it writes the same again: 30 February comes back as a day of March. */
function instant(date: string, time = ''): number | undefined {
  // A leap second is written :60; it is the second after :59.
  const text = `${date} ${time.replace(/:60$/, ':59')} GMT`
  const at = Date.parse(`Thu, ${text}`)
  if (formatHttpDate(at).slice(5) !== text) return undefined
  return time.endsWith(':60') ? at + 1000 : at
}

/** RFC 9110: what seems more than 50 years ahead is the latest past year with the same last two digits. */
function inCentury(shortYear: number, now: number): number {
  const lastYear = new Date(now).getUTCFullYear() + 50
  return lastYear - ((lastYear - shortYear) % 100)
}
