import { once } from 'node:events'
import type { Socket } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { type Answer, SELF, type Step } from './answer.ts'
import type { Ticket } from './ticket.ts'

const ENCODERS = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, 'deflate-raw': deflateRawSync }

/** So long without a reader, the server takes it that the reader has stopped reading. */
const STALLED_MS = 150

export interface Stage {
  readonly socket: Socket
  readonly ticket: Ticket
  readonly isHead: boolean
  /** The URL of the request. */
  readonly self: string
  /** Headers that every answer has. */
  readonly headers: readonly (readonly [string, string])[]
}

/**
 * Writes the answer by hand, so that a case can have any bytes in any order. A connection serves one request: browsers
 * send a request again by themselves where a connection that they had used before is cut.
 */
export async function playAnswer(answer: Answer, stage: Stage): Promise<void> {
  const { socket, ticket } = stage
  let isFinished = false
  socket.on('close', () => isFinished || ticket.note('closed'))
  const body = answer.steps ? undefined : encoded(answer)
  const isChunked = !body && !answer.headers?.some(([name]) => /^(content-length|transfer-encoding)$/.test(name))
  for (const step of answer.before ?? []) await play(step, stage, rawBytes)
  socket.write(head(answer, { ...stage, headers: [...stage.headers, ...framing(body)] }))
  if (body && !stage.isHead && !isBodiless(answer)) socket.write(body)
  for (const step of answer.steps ?? []) await play(step, stage, isChunked ? asChunk : rawBytes)
  isFinished = true
  socket.end(isChunked ? '0\r\n\r\n' : '')
}

function isBodiless({ status = 200 }: Answer): boolean {
  return status === 204 || status === 304
}

function encoded({ body = '', encoding }: Answer): Buffer {
  const bytes = Buffer.from(body, 'latin1')
  return encoding ? ENCODERS[encoding](bytes) : bytes
}

function framing(body: Buffer | undefined): [string, string][] {
  return body ? [['content-length', String(body.length)]] : [['transfer-encoding', 'chunked']]
}

function head(answer: Answer, { headers, self }: Stage): Buffer {
  const { status = 200, reason = 'Fine', encoding } = answer
  const own = (answer.headers ?? []).map(([name, value]) => [name, value.replace(SELF, self)] as const)
  const added = headers.filter(([name]) => !own.some(([other]) => isFraming(other) && isFraming(name)))
  const coding = encoding ? [['content-encoding', encoding.replace('-raw', '')] as const] : []
  // No length where there can be no body: with one, some readers wait for it.
  const all = [...own, ...coding, ...added, ['connection', 'close'] as const].filter(
    ([name]) => !(isBodiless(answer) && isFraming(name)),
  )
  const lines = [`HTTP/1.1 ${status} ${reason}`, ...all.map(([name, value]) => `${name}: ${value}`)]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

function isFraming(name: string): boolean {
  return /^(content-length|transfer-encoding)$/i.test(name)
}

async function play(step: Step, stage: Stage, frame: (bytes: Buffer) => Buffer): Promise<void> {
  const { socket, ticket } = stage
  if (step === 'wait') return ticket.gate()
  if (step === 'hang') return new Promise(() => {})
  if (step === 'cut') {
    socket.resetAndDestroy()
    return new Promise(() => {})
  }
  if ('raw' in step) return void socket.write(Buffer.from(step.raw, 'latin1'))
  if ('send' in step) return void socket.write(frame(Buffer.from(step.send, 'latin1')))
  return fill(step.fill, stage, frame)
}

async function fill(count: number, { socket, ticket }: Stage, frame: (bytes: Buffer) => Buffer): Promise<void> {
  const piece = Buffer.alloc(65_536, 'abcdefg')
  for (let left = count; left > 0; left -= piece.length) {
    if (socket.write(frame(piece.subarray(0, Math.min(left, piece.length))))) continue
    const stalled = setTimeout(() => ticket.note('stalled'), STALLED_MS)
    await once(socket, 'drain')
    clearTimeout(stalled)
  }
}

function asChunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

function rawBytes(bytes: Buffer): Buffer {
  return bytes
}
