import { pipeline, Transform, type TransformCallback } from 'node:stream'
import * as zlib from 'node:zlib'

/** More codings than any server uses on purpose: each one multiplies what a small answer can blow up to. */
const MOST_CODINGS = 5

// As browsers and curl do: an answer whose last bytes are missing is decoded as far as it goes.
const LENIENT = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH }
const LENIENT_BROTLI = {
  flush: zlib.constants.BROTLI_OPERATION_FLUSH,
  finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH,
}

/** Node's zstd came with 22.15 and 23.8. */
const createZstdDecompress = (zlib as { createZstdDecompress?: () => Transform }).createZstdDecompress

/** Where the decoded bytes go. */
export interface DecoderSink {
  onDecoded(chunk: Uint8Array): void
  onDecodedEnd(): void
  onDecodeError(error: Error): void
}

/** The codings of an answer, last applied first; undefined where one is unknown: fetch then decodes none. */
export function parseCodings(contentEncoding: string): readonly string[] | undefined {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .reverse()
  if (codings.length > MOST_CODINGS) throw new Error(`More than ${MOST_CODINGS} content codings`)
  return codings.every(isKnown) ? codings : undefined
}

/** Undoes the codings on a chain of transforms; `write` says whether the feeder should go on. */
export class ContentDecoder {
  readonly #first: Transform
  readonly #last: Transform

  constructor(codings: readonly string[], sink: DecoderSink, onDrain: () => void) {
    const stages = codings.map(createStage)
    this.#first = stages[0] as Transform
    this.#last = stages[stages.length - 1] as Transform
    this.#last.on('data', (chunk: Uint8Array) => sink.onDecoded(chunk))
    this.#first.on('drain', onDrain)
    const done = (error?: Error | null): void => (error ? sink.onDecodeError(error) : sink.onDecodedEnd())
    if (stages.length > 1) pipeline(stages, done)
    else this.#last.on('error', done).on('end', () => done())
  }

  write(chunk: Uint8Array): boolean {
    return this.#first.write(chunk)
  }

  end(): void {
    this.#first.end()
  }

  pause(): void {
    this.#last.pause()
  }

  resume(): void {
    this.#last.resume()
  }

  destroy(): void {
    this.#first.destroy()
    this.#last.destroy()
  }
}

function isKnown(coding: string): boolean {
  if (coding === 'zstd') return createZstdDecompress !== undefined
  return coding === 'gzip' || coding === 'x-gzip' || coding === 'deflate' || coding === 'br'
}

function createStage(coding: string): Transform {
  if (coding === 'br') return zlib.createBrotliDecompress(LENIENT_BROTLI)
  if (coding === 'deflate') return new Inflate()
  if (coding === 'zstd' && createZstdDecompress) return createZstdDecompress()
  return zlib.createGunzip(LENIENT)
}

/** `deflate` means zlib's format, but some servers send the raw one: the first byte shows which. */
class Inflate extends Transform {
  #inner: zlib.Inflate | zlib.InflateRaw | undefined

  override _transform(chunk: Buffer, encoding: BufferEncoding, callback: TransformCallback): void {
    this.#inner ??= this.#open(chunk)
    this.#inner.write(chunk, encoding, callback)
  }

  override _flush(callback: TransformCallback): void {
    if (!this.#inner) {
      callback()
      return
    }
    this.#inner.once('end', () => callback())
    this.#inner.end()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#inner?.destroy()
    callback(error)
  }

  #open(chunk: Buffer): zlib.Inflate | zlib.InflateRaw {
    const zlibFormat = ((chunk[0] ?? 0) & 0x0f) === 0x08
    const inner = zlibFormat ? zlib.createInflate(LENIENT) : zlib.createInflateRaw(LENIENT)
    inner.on('data', (decoded: Buffer) => {
      if (!this.push(decoded)) inner.pause()
    })
    inner.on('error', (error) => this.destroy(error))
    return inner
  }

  override _read(size: number): void {
    this.#inner?.resume()
    super._read(size)
  }
}
