import { type HeaderList, saysTrue } from './headers.ts'

/** Names of response headers, in lower case. */
export interface VerdictNames {
  readonly stop: readonly string[]
  readonly shouldRetry: readonly string[]
  readonly pushback: readonly string[]
}

export type RetryVerdict = 'stop' | 'retry'

/** What the server itself says about trying again. A stop beats a retry; what makes no sense is not heard. */
export function readRetryVerdict(headers: HeaderList, names: VerdictNames): RetryVerdict | undefined {
  let verdict: RetryVerdict | undefined
  for (const [name, value] of headers) {
    const said = readField(name, value, names)
    if (said === 'stop') return 'stop'
    verdict ??= said
  }
  return verdict
}

function readField(name: string, value: string, names: VerdictNames): RetryVerdict | undefined {
  // A proxy that merges repeated fields joins them with commas; one stop among them is a stop.
  if (names.stop.includes(name)) return value.split(',').some(saysTrue) ? 'stop' : undefined
  if (names.shouldRetry.includes(name)) return readShouldRetry(value.split(','))
  if (names.pushback.includes(name)) return isNegative(value.trim()) ? 'stop' : undefined
  return undefined
}

function readShouldRetry(members: readonly string[]): RetryVerdict | undefined {
  const words = members.map((member) => member.trim().toLowerCase())
  if (words.includes('false')) return 'stop'
  return words.every((word) => word === 'true') ? 'retry' : undefined
}

function isNegative(value: string): boolean {
  return /^-\d+(?:\.\d+)?$/.test(value) && Number(value) < 0
}
