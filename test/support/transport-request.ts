import type {
  TransportFault,
  TransportOutcome,
  TransportRequest,
  TransportResponse,
} from '../../src/client/transport/port.ts'

/** A request that follows redirects anywhere and never aborts, unless said otherwise. */
export function transportRequest(url: string, changes: Partial<TransportRequest> = {}): TransportRequest {
  return {
    method: 'GET',
    url,
    headers: [],
    body: null,
    signal: new AbortController().signal,
    bodyLimit: 1024 * 1024,
    redirect: 'follow',
    trusts: () => true,
    publicHeaders: [],
    clientHeaders: [],
    ...changes,
  }
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function text(body: Uint8Array | null | undefined): string | null {
  return body ? new TextDecoder().decode(body) : null
}

/** An answer to a request that is no drop-in. */
export interface ReadAnswer extends TransportResponse {
  readonly rest?: ReadableStream<Uint8Array> | undefined
}

export function asResponse(outcome: TransportOutcome): ReadAnswer {
  if (outcome.kind !== 'response') throw new Error(`A fault: ${outcome.code}`, { cause: outcome.cause })
  if (outcome.rest && !(outcome.rest instanceof ReadableStream)) throw new Error('A Response, and no stream')
  return outcome as ReadAnswer
}

export function asFault(outcome: TransportOutcome): TransportFault {
  if (outcome.kind !== 'fault') throw new Error(`An answer: ${outcome.status}`)
  return outcome
}

/** What matters of a fault. */
export function summary(outcome: TransportOutcome): Pick<TransportFault, 'code' | 'mayHaveArrived' | 'transient'> {
  const { code, mayHaveArrived, transient } = asFault(outcome)
  return { code, mayHaveArrived, transient }
}

export async function drain(stream: ReadableStream<Uint8Array> | undefined): Promise<number> {
  let size = 0
  if (stream) for await (const chunk of stream) size += chunk.byteLength
  return size
}
