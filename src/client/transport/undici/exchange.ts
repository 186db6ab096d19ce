import { isUtf8 } from 'node:buffer'
import type { Dispatcher } from 'undici'
import { abortReason, onAbort } from '../../../foundation/abort.ts'
import { headerValue } from '../../../protocol/headers.ts'
import { judgeCode } from '../fault-codes.ts'
import { abortedFault, toFault } from '../network-fault.ts'
import type { TransportFault, TransportOutcome, TransportRequest } from '../port.ts'
import { followRedirect, isRedirect } from '../redirect.ts'
import { finalUrl, firstTarget, type Target } from '../target.ts'
import { type Head, Hop, type HopOwner } from './hop.ts'
import { LegacyHop } from './legacy-hop.ts'
import { requestHeaders } from './request-headers.ts'
import { undici } from './undici-module.ts'

/**
 * One `send`: a request, the redirects that it leads to, and the outcome. Settles once; where the body goes on as a
 * stream after that, the signal is listened to until the stream ends.
 */
export class Exchange implements HopOwner {
  readonly bodyLimit: number
  readonly #dispatcher: Dispatcher
  readonly #request: TransportRequest
  readonly #resolve: (outcome: TransportOutcome) => void
  readonly #stopListening: () => void
  #target: Target
  #hop: Hop | undefined
  #head: Head | undefined
  #sent = false
  #stopCut: (() => void) | undefined

  constructor(dispatcher: Dispatcher, request: TransportRequest, resolve: (outcome: TransportOutcome) => void) {
    this.#dispatcher = dispatcher
    this.#request = request
    this.#resolve = resolve
    this.bodyLimit = request.bodyLimit
    this.#target = firstTarget(request)
    this.#stopListening = onAbort(request.signal, () => this.#abort())
  }

  dispatch(): void {
    const { method, url, headers, body } = this.#target
    const hop = isOfOurs(this.#dispatcher) ? new Hop(this, method) : new LegacyHop(this, method)
    this.#hop = hop
    const options = {
      origin: url.origin,
      path: url.search ? url.pathname + url.search : url.pathname,
      method,
      headers: requestHeaders(headers),
      body: body && isMock(this.#dispatcher) ? asText(body) : body,
    }
    try {
      this.#dispatcher.dispatch(options, hop)
    } catch (error) {
      hop.onResponseError(undefined, error)
    }
  }

  onSending(): void {
    this.#sent = true
  }

  onHead(head: Head): boolean {
    this.#head = head
    const { status } = head
    const answer = { status, location: headerValue(head.headers, 'location') }
    const next = isRedirect(status) ? followRedirect(this.#target, answer, this.#request) : undefined
    if (!next) {
      if (status >= 300) this.#stopCut = this.#request.boundBody?.(status, () => this.#hop?.cut())
      return true
    }
    // As fetch does it: the rest of the redirecting answer is not waited for.
    this.#hop?.detach(new Error('Redirected'))
    if ('kind' in next) this.#settle(next)
    else this.#follow(next)
    return false
  }

  onStream(rest: ReadableStream<Uint8Array>): void {
    this.#stopCut?.()
    if (this.#head) this.#resolve(this.#response(this.#head, { body: null, rest }))
  }

  onEnd(body: Uint8Array | null): void {
    if (this.#head) this.#settle(this.#response(this.#head, { body }))
  }

  onError(error: unknown): void {
    this.#settle(this.#withHead({ ...toFault(error, judgeCode), mayHaveArrived: this.#sent }))
  }

  #follow(next: Target): void {
    this.#target = next
    this.#head = undefined
    this.dispatch()
  }

  #abort(): void {
    const { signal } = this.#request
    this.#hop?.detach(abortReason(signal))
    this.#settle(this.#withHead(abortedFault(signal, { mayHaveArrived: this.#sent })))
  }

  #withHead(fault: TransportFault): TransportFault {
    return this.#head ? { ...fault, head: { status: this.#head.status, headers: this.#head.headers } } : fault
  }

  #response(head: Head, content: { body: Uint8Array | null; rest?: ReadableStream<Uint8Array> }): TransportOutcome {
    return {
      kind: 'response',
      status: head.status,
      statusText: head.statusText,
      headers: head.headers,
      body: content.body,
      rest: content.rest,
      url: finalUrl(this.#target),
      redirected: this.#target.redirects > 0,
    }
  }

  /** A second outcome goes nowhere: a promise settles once. */
  #settle(outcome: TransportOutcome): void {
    this.#stopListening()
    this.#stopCut?.()
    this.#resolve(outcome)
  }
}

/** Does it come from the copy of undici that this client has loaded? */
function isOfOurs(dispatcher: Dispatcher): boolean {
  const own = undici()
  return own !== undefined && dispatcher instanceof own.Dispatcher
}

function isMock(dispatcher: Dispatcher): boolean {
  return (dispatcher as { isMockActive?: unknown }).isMockActive === true
}

/** A mock compares bodies with the strings that tests are written with. */
function asText(body: Uint8Array): string | Uint8Array {
  return isUtf8(body) ? Buffer.from(body).toString('utf8') : body
}
