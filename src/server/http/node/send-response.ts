import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { answerOf } from '../fetch/fetch-answer.ts'
import type { HeldResponse } from './held-response.ts'
import { setHeaders } from './send-answer.ts'

/** The answer of a handler that returns a `Response`. What is too large to be held, or has no end, goes by `res`. */
export async function sendResponse(
  { res, limit }: { readonly res: ServerResponse; readonly limit: number },
  held: HeldResponse,
  response: Response,
): Promise<void> {
  const { answer, stream } = await answerOf(response, limit)
  if (!stream) return held.answer(answer)
  res.statusCode = answer.status
  setHeaders(res, answer.headers)
  res.flushHeaders()
  await pipeline(Readable.fromWeb(stream as ReadableStream), res).catch((error: NodeJS.ErrnoException) => {
    // The caller has hung up: no failure of the handler.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  })
}
