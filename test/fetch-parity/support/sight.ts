import { bytesSight, headersSight } from './bytes.ts'

/** Much longer than anything takes on a busy machine; nothing but a mistake waits for its end. */
const PATIENCE_MS = 3000

/** Names that vary, or that only the connection is about. */
const LEFT_OUT = new Set(['date', 'connection', 'keep-alive'])

/** All that a caller can see of an answer, its body included. */
export async function answerSight(response: Response): Promise<Record<string, unknown>> {
  return { ...headSight(response), body: await bodySight(response), bodyUsed: response.bodyUsed }
}

export function headSight(response: Response): Record<string, unknown> {
  const { status, statusText, ok, type, url, redirected, headers } = response
  return {
    isResponse: Object.getPrototypeOf(response) === Response.prototype,
    ...{ status, statusText, ok, type, url, redirected },
    headers: headersSight(headers, LEFT_OUT),
  }
}

async function bodySight(response: Response): Promise<unknown> {
  if (response.body === null) return null
  return outcome(async () => bytesSight(new Uint8Array(await response.arrayBuffer())))
}

/** What the work gives, or how it fails. */
export async function outcome(work: () => unknown): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    return { error: errorSight(error) }
  }
}

/** The same, where it could take for ever. */
export function outcomeInTime(work: () => unknown): Promise<unknown> {
  return Promise.race([outcome(work), pause(PATIENCE_MS).then(() => 'nothing within three seconds')])
}

export function errorSight(error: unknown): unknown {
  if (!(error instanceof Error)) return { thrown: String(error) }
  const kind = [TypeError, DOMException, RangeError, SyntaxError].find((each) => error instanceof each)
  const { name, message } = error
  return { class: kind?.name ?? 'Error', name, message: plain(message) }
}

/** Browsers have words of their own for a failure of the network, and say which of their functions found a mistake. */
function plain(message: string): string {
  if (message === 'Failed to fetch') return 'fetch failed'
  return message.replace(/^Failed to (execute|construct) '\w+'( on '\w+')?: /, '')
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** The chunks of a stream that come before its end or failure, as text. */
export async function nextChunk(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<unknown> {
  return outcomeInTime(async () => {
    const { done, value } = await reader.read()
    return done ? 'done' : bytesSight(value)
  })
}
