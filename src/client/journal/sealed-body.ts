import { frame, unframe } from '../../foundation/byte-frame.ts'

/** Which body of which operation. */
export interface BodyPlace {
  readonly namespace: string
  readonly key: string
  readonly part: 'request' | 'response'
}

interface Head extends BodyPlace {
  /** The frame's version, which also tells a frame from a body that an earlier build has sealed without one. */
  readonly holdfast: 1
}

/** What is sealed: the body with the place that it belongs to, so that sealed bytes are worth nothing elsewhere. */
export function frameBody(place: BodyPlace, body: Uint8Array): Uint8Array {
  const { namespace, key, part } = place
  const head: Head = { holdfast: 1, namespace, key, part }
  return frame(head, body)
}

/** `elsewhere`: sealed for another place. `unframed`: by an earlier build, or the bytes were opened with another key. */
export type OpenedBody =
  | { readonly is: 'framed' | 'unframed'; readonly body: Uint8Array }
  | { readonly is: 'elsewhere' }

export function unframeBody(place: BodyPlace, opened: Uint8Array): OpenedBody {
  const found = tryUnframe(opened)
  if (!found) return { is: 'unframed', body: opened }
  const { namespace, key, part } = found.head
  const isHere = namespace === place.namespace && key === place.key && part === place.part
  return isHere ? { is: 'framed', body: found.body } : { is: 'elsewhere' }
}

function tryUnframe(bytes: Uint8Array): { head: Head; body: Uint8Array } | undefined {
  try {
    const { head, body } = unframe(bytes)
    return (head as Partial<Head> | null)?.holdfast === 1 ? { head: head as Head, body } : undefined
  } catch {
    return undefined
  }
}
