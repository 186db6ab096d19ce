/** One act of the server while it answers. `wait`: until the case opens the gate. `cut`: the connection is reset. */
export type Step =
  | 'wait'
  | 'cut'
  | 'hang'
  | { readonly send: string }
  /** As many bytes as the reader takes. */
  | { readonly fill: number }
  /** Bytes as they are, outside of any framing; one per character. */
  | { readonly raw: string }

/** What the server answers. It travels in the query of the request's URL, so that a case needs no set-up. */
export interface Answer {
  readonly status?: number
  readonly reason?: string
  readonly headers?: readonly (readonly [string, string])[]
  /** One byte per character. */
  readonly body?: string
  readonly encoding?: 'gzip' | 'br' | 'deflate' | 'deflate-raw'
  /** What comes before the head. */
  readonly before?: readonly Step[]
  /** Instead of `body`: sent in chunks, unless the headers say a length. */
  readonly steps?: readonly Step[]
  /** The answer comes before the body of the request has been read. */
  readonly early?: boolean
}

/** What the server saw of one request. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The connection ended before the body did. */
  readonly broken?: true
}

/** What the server notes while it works on the requests of a case. */
export type ServerEvent = 'head' | 'chunk' | 'end' | 'broken' | 'closed' | 'stalled'

/** Stands for the URL of the request itself in a header of the answer. */
export const SELF = '{self}'

export function answerPath(answer: Answer, path: string): string {
  return `${path}?answer=${encodeURIComponent(JSON.stringify(answer))}`
}

export function answerIn(url: string): Answer {
  const query = new URL(url, 'http://server').searchParams.get('answer')
  return query === null ? { body: 'hello' } : JSON.parse(query)
}
