import { randomUUID } from 'node:crypto'
import type { IdempotencyContext, Reply } from '../../src/server/index.ts'
import { json } from '../../src/server/index.ts'
import { hang, say } from '../support/child-voice.ts'
import { fillingOf, kindOf } from './operation-kinds.ts'
import { pause } from './pause.ts'
import type { Charge } from './pretend-provider.ts'
import type { ShopStore, Written } from './shop-store.ts'

interface Work {
  readonly number: number
  readonly context: IdempotencyContext<unknown, unknown>
}

/** Where a shop stops for good, once it is there. */
export type StopPoint = 'before the charge' | 'after the charge'

/** What the shop sells. Every answer has a name of its own, so that a second execution can't look like the first. */
export class ShopWork {
  readonly #store: ShopStore
  readonly #provider: string
  readonly #stopAt: StopPoint | undefined

  constructor(store: ShopStore, provider: string, stopAt?: StopPoint) {
    this.#store = store
    this.#provider = provider
    this.#stopAt = stopAt
  }

  /** Written in one transaction with the key and the answer. */
  async order({ number, context }: Work): Promise<Reply> {
    const isSlow = kindOf(number) === 'slow'
    if (isSlow) await pause(Math.random() * 600)
    if (isSlow && Math.random() < 0.1) stall()
    const { key = '' } = context
    const written: Written = { number, key, nonce: randomUUID(), pauseMs: isSlow ? Math.random() * 300 : 0 }
    try {
      const reply = await this.#store.effect(context, written, () => orderAnswer(written))
      if (isSlow) await pause(Math.random() * 100)
      return reply
    } catch (error) {
      if (!(error instanceof Declined)) throw error
      // As a framework with hooks between an error and its answer.
      await pause(Math.random() * 100)
      return error.answer
    }
  }

  /** The same where the whole handler is one transaction: nothing is done before it and after it. */
  transfer(tx: unknown, number: number, key = ''): Reply | Promise<Reply> {
    const pauseMs = Math.random() < 0.3 ? Math.random() * 300 : 0
    const written: Written = { number, key, nonce: randomUUID(), pauseMs }
    return this.#store.write(tx, written, () => orderAnswer(written))
  }

  /** Charged at somebody else's, then recorded with a row of our own. In between is where one wants to be killed. */
  async pay({ number, context }: Work): Promise<Reply> {
    await this.#pass('before the charge')
    const answer = await fetch(`${this.#provider}/charges/${context.key}`, {
      method: 'POST',
      headers: { 'idempotency-key': context.deriveKey('charge') },
      body: String(number),
      signal: AbortSignal.timeout(400),
    })
    if (!answer.ok) return json({ problem: 'The provider is busy' }, { status: 502 })
    const charge = (await answer.json()) as Charge
    await this.#pass('after the charge')
    await pause(Math.random() * 250)
    if (Math.random() < 0.03) stall()
    const row = bookingOf(charge, Math.random() * 50)
    return this.#store.effect(context, row, () => paymentAnswer(charge))
  }

  async #pass(point: StopPoint): Promise<void> {
    if (this.#stopAt !== point) return
    say('stopped')
    await hang()
  }

  /** What became of a payment whose shop was killed: its answer, or that it may run again. */
  async reconcile(providerKey: string): Promise<Reply | 'rerun'> {
    const answer = await fetch(`${this.#provider}/charges`, { headers: { 'idempotency-key': providerKey } })
    if (answer.status === 404) return 'rerun'
    const charge = (await answer.json()) as Charge
    // The shop that charged may have been killed before it wrote its row.
    await this.#store.writeIfAbsent(bookingOf(charge, 0))
    return paymentAnswer(charge)
  }
}

/** The shop's own row about a charge. */
function bookingOf({ number, id, reference }: Charge, pauseMs: number): Written {
  return { number, nonce: id, key: reference, pauseMs }
}

/** An error of the domain, thrown out of a transaction. */
class Declined extends Error {
  readonly answer: Reply

  constructor(answer: Reply) {
    super('Declined')
    this.answer = answer
  }
}

/** The whole process stands still for longer than its lease, at the worst moment: holding a claim, about to write. */
function stall(): void {
  say('stalled')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000 + Math.random() * 3000)
}

function orderAnswer({ number, nonce }: Written): Reply {
  const kind = kindOf(number)
  const luck = Math.random()
  if (luck < (kind === 'busy' ? 0.35 : 0.04)) return json({ problem: 'busy' }, { status: 503 })
  if (luck < (kind === 'busy' ? 0.6 : 0.06)) throw new Error('The shop fell over')
  if (kind === 'refused') {
    const answer = json({ refused: number, nonce }, { status: 402 })
    if (luck < 0.6) throw new Declined(answer)
    return answer
  }
  const headers = { location: `/orders/${nonce}` }
  return json({ ordered: number, nonce, filling: fillingOf(number) }, { status: 201, headers })
}

function paymentAnswer({ id }: Charge): Reply {
  return json({ paid: id }, { status: 201, headers: { location: `/payments/${id}` } })
}
