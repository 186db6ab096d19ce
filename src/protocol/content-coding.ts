import { type HeaderList, headerValue } from './headers.ts'

/** The codings of a body, in the order in which they were applied, in lower case. Empty: the body is as it is. */
export function contentCodings(headers: HeaderList): readonly string[] {
  const value = headerValue(headers, 'content-encoding')
  return value === undefined ? [] : wordsOf(value).filter((coding) => coding !== '' && coding !== 'identity')
}

/**
 * Does a caller with this `Accept-Encoding` take the coding? Without the field: no. HTTP would allow any coding then, but
 * a caller that says nothing is one that decodes nothing.
 */
export function acceptsCoding(acceptEncoding: string | undefined, coding: string): boolean {
  const weights = new Map(wordsOf(acceptEncoding ?? '').map(weighted))
  return (weights.get(withoutPrefix(coding)) ?? weights.get('*') ?? 0) > 0
}

function weighted(word: string): readonly [coding: string, weight: number] {
  const [coding = '', ...parameters] = word.split(';').map((part) => part.trim())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return [withoutPrefix(coding), weight === undefined ? 1 : Number(weight.slice(2)) || 0]
}

function wordsOf(value: string): string[] {
  return value.split(',').map((word) => word.trim().toLowerCase())
}

/** `x-gzip` is an old name of `gzip`. */
function withoutPrefix(coding: string): string {
  return coding.startsWith('x-') ? coding.slice(2) : coding
}
