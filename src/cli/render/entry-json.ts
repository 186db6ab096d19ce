import type { Entry } from '../../server/entry/entry.ts'
import { SEALED_HEADER } from '../../server/entry/sealed-answer.ts'
import { headersJson } from './operation-json.ts'

/** A ledger's entry without its token, which is a right to write, and without the answer's body. */
export function entryJson({ token: _, fingerprint: __, answer, ...entry }: Entry) {
  const isEncrypted = answer?.headers.some(([name]) => name === SEALED_HEADER)
  return {
    ...entry,
    answer: answer && {
      status: answer.status,
      headers: isEncrypted ? undefined : headersJson(answer.headers),
      bodyBytes: answer.body?.byteLength ?? 0,
      bodyOmitted: answer.bodyOmitted,
      encrypted: isEncrypted || undefined,
    },
  }
}
