import { type HeaderList, headerValue } from './headers.ts'

/** An event stream may never end: it is handed over as it comes. */
export function isEventStream(headers: HeaderList): boolean {
  const type = headerValue(headers, 'content-type')
  return type !== undefined && /^\s*text\/event-stream\s*(;|$)/i.test(type)
}
