import { HEADER } from './header-names.ts'
import { type HeaderList, headerValue } from './headers.ts'

/** For how long the server says that it remembers a key (milliseconds). What makes no sense is as good as not said. */
export function readRetention(headers: HeaderList): number | undefined {
  const value = headerValue(headers, HEADER.idempotencyRetention)?.trim() ?? ''
  return (/^\d{1,12}$/.test(value) && Number(value) * 1000) || undefined
}
