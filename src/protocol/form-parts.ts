/** A form without its boundary. */
export interface FormParts {
  /** What stands between the delimiters, one part behind the other. */
  readonly bytes: Uint8Array
  readonly lengths: readonly number[]
}

/** More than any form has. Beyond it the list of parts would be larger than the form itself. */
const MOST_PARTS = 10_000

const LINE_FEED = 0x0a

/**
 * The parts of a form. A delimiter stands at the beginning of a line. Undefined if there is none, or if there are too
 * many. The bytes are looked at once: a delimiter has no line feed in it, so that two comparisons never overlap.
 */
export function formParts(bytes: Uint8Array, boundary: string): FormParts | undefined {
  const delimiter = new TextEncoder().encode(`--${boundary}`)
  const starts = delimiterStarts(bytes, delimiter)
  if (starts.length === 0 || starts.length > MOST_PARTS) return undefined
  const joined = new Uint8Array(bytes.length - starts.length * delimiter.length)
  const lengths: number[] = []
  let [from, at] = [0, 0]
  for (const end of [...starts, bytes.length]) {
    joined.set(bytes.subarray(from, end), at)
    lengths.push(end - from)
    at += end - from
    from = end + delimiter.length
  }
  return { bytes: joined, lengths }
}

/** One more than allowed at most. */
function delimiterStarts(bytes: Uint8Array, delimiter: Uint8Array): number[] {
  const starts: number[] = []
  if (startsWith(bytes, 0, delimiter)) starts.push(0)
  for (let at = 1; at < bytes.length && starts.length <= MOST_PARTS; at++) {
    if (bytes[at - 1] === LINE_FEED && startsWith(bytes, at, delimiter)) starts.push(at)
  }
  return starts
}

function startsWith(bytes: Uint8Array, start: number, delimiter: Uint8Array): boolean {
  let length = 0
  while (length < delimiter.length && bytes[start + length] === delimiter[length]) length++
  return length === delimiter.length
}
