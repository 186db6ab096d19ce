import { ConfigurationError, StorageError } from '../errors/classes.ts'
import type { Encryption } from '../foundation/encryption.ts'
import { isThenable } from '../foundation/thenable.ts'
import type { Consumed } from './entry/consumed.ts'
import type { Entry, RecordedAnswer } from './entry/entry.ts'
import type { Outcome, WorkOutcome } from './entry/outcome.ts'
import {
  frameAnswer,
  isErased,
  isSealed,
  OF_A_MESSAGE,
  SEALED_VALUE,
  type SealedPlace,
  sealedAnswer,
  sealedBytes,
  unframeAnswer,
} from './entry/sealed-answer.ts'
import type {
  AtomicOutcome,
  AtomicRun,
  Consumption,
  EntriesQuery,
  EntryDraft,
  FoundEntry,
  Insertion,
  LedgerStore,
  MessageDraft,
  Transaction,
} from './ledger/port.ts'

const WAITS =
  'The option `encryption` has a seal() that returns a promise, and a transaction of this store does not wait. Nothing ' +
  "was kept: use a synchronous one, such as aesGcm(key) of 'holdfast/server'"

const UNSEALED =
  'A recorded answer is not encrypted, and the option `encryption` says that all are (`only`): it was recorded before the ' +
  'encryption, or somebody has changed it'

/** `only`: what is not encrypted is refused. */
export interface LedgerEncryption extends Encryption {
  readonly only?: boolean | undefined
}

/** Any store, with the headers and bodies of its answers encrypted, and the values of its messages. */
export function encryptedStore<Tx, Returned>(
  store: LedgerStore<Tx, Returned>,
  encryption: LedgerEncryption,
): LedgerStore<Tx, Returned> {
  return new EncryptedStore(store, encryption)
}

class EncryptedStore<Tx, Returned> implements LedgerStore<Tx, Returned> {
  readonly #store: LedgerStore<Tx, Returned>
  readonly #encryption: LedgerEncryption

  constructor(store: LedgerStore<Tx, Returned>, encryption: LedgerEncryption) {
    this.#store = store
    this.#encryption = encryption
  }

  get name(): string {
    return this.#store.name
  }

  get synchronous(): boolean {
    return this.#store.synchronous === true
  }

  takeOver: LedgerStore['takeOver'] = (found, draft) => this.#store.takeOver(found, draft)
  renew: LedgerStore['renew'] = (claim, lease) => this.#store.renew(claim, lease)
  release: LedgerStore['release'] = (claim) => this.#store.release(claim)
  abandon: LedgerStore['abandon'] = (claim, now, since) => this.#store.abandon(claim, now, since)
  reap: LedgerStore['reap'] = (options) => this.#store.reap(options)
  stats: LedgerStore['stats'] = (now) => this.#store.stats(now)
  gauges: LedgerStore['gauges'] = (now) => this.#store.gauges(now)
  count: LedgerStore['count'] = (scope, atMost) => this.#store.count(scope, atMost)
  erase: LedgerStore['erase'] = (batch) => this.#store.erase(batch)
  close: LedgerStore['close'] = () => this.#store.close()

  complete: LedgerStore['complete'] = async (claim, answer, now) =>
    this.#store.complete(claim, await this.#sealed(claim, answer), now)

  async insert(draft: EntryDraft): Promise<Insertion> {
    const insertion = await this.#store.insert(draft)
    return insertion.kind === 'found' ? { kind: 'found', found: await this.#openFound(insertion.found) } : insertion
  }

  async find(scope: string, key: string): Promise<Entry | undefined> {
    const entry = await this.#store.find(scope, key)
    return entry && this.#openEntry(entry)
  }

  async *entries(query: EntriesQuery): AsyncGenerator<Entry> {
    for await (const entry of this.#store.entries(query)) yield await this.#openEntry(entry)
  }

  async transact(transaction: Transaction<Tx>): Promise<Outcome> {
    // Without a claim nothing is recorded.
    if (!transaction.claim) return this.#store.transact(transaction)
    const { work, plain } = this.#sealing(transaction.claim, transaction.work)
    return plain(await this.#store.transact({ ...transaction, work }))
  }

  async atomic(run: AtomicRun<Tx>): Promise<AtomicOutcome> {
    const { work, plain } = this.#sealing(run.draft, run.work)
    const outcome = await this.#store.atomic({ ...run, work })
    return outcome.kind === 'found' ? { kind: 'found', found: await this.#openFound(outcome.found) } : plain(outcome)
  }

  async consume(message: MessageDraft, { work, options }: Consumption<Tx>): Promise<Consumed> {
    const place = { scope: message.scope, key: message.id }
    let plain: string | null = null
    const sealed: Consumption<Tx>['work'] = (tx) =>
      next(work(tx), (value) => {
        plain = value
        return value === null ? null : this.#inTransaction(this.#sealText(place, value))
      })
    const consumed = await this.#store.consume(message, { work: sealed, options })
    return { ...consumed, value: consumed.duplicate ? await this.#openText(place, consumed.value) : plain }
  }

  /** The work with its answer sealed, and how to get the answer back as it was. */
  #sealing(place: SealedPlace, work: (tx: Tx) => WorkOutcome | Promise<WorkOutcome>) {
    let answer: RecordedAnswer | undefined
    const seal = (outcome: WorkOutcome): WorkOutcome | Promise<WorkOutcome> => {
      if (outcome.kind !== 'recorded') return outcome
      answer = outcome.answer
      return next(this.#inTransaction(this.#sealed(place, answer)), (sealed) => ({ ...outcome, answer: sealed }))
    }
    const plain = <Ended extends { readonly kind: string }>(outcome: Ended): Ended =>
      answer && 'answer' in outcome ? { ...outcome, answer } : outcome
    return { work: (tx: Tx) => next(work(tx), seal), plain }
  }

  #inTransaction<T>(sealed: T | Promise<T>): T | Promise<T> {
    if (!this.synchronous || !isThenable(sealed)) return sealed
    sealed.then(undefined, () => {})
    throw new ConfigurationError(WAITS)
  }

  #sealed(place: SealedPlace, answer: RecordedAnswer): RecordedAnswer | Promise<RecordedAnswer> {
    // There is nothing to hide, and an erasure should see so. But with `only` its status is worth protecting.
    if (!this.#encryption.only && answer.headers.length === 0 && answer.body === null) return answer
    return next(this.#seal(frameAnswer(place, answer)), (bytes) => sealedAnswer(answer, bytes))
  }

  #sealText(place: SealedPlace, text: string): string | Promise<string> {
    const frame = frameAnswer(place, { status: OF_A_MESSAGE, headers: [], body: new TextEncoder().encode(text) })
    return next(this.#seal(frame), (bytes) => `${SEALED_VALUE}${Buffer.from(bytes).toString('base64')}`)
  }

  #seal(frame: Uint8Array): Uint8Array | Promise<Uint8Array> {
    try {
      const sealed = this.#encryption.seal(frame)
      return isThenable(sealed) ? Promise.resolve(sealed).catch(notSealed) : sealed
    } catch (error) {
      return notSealed(error)
    }
  }

  async #openFound(found: FoundEntry): Promise<FoundEntry> {
    return { ...found, entry: await this.#openEntry(found.entry) }
  }

  async #openEntry(entry: Entry): Promise<Entry> {
    const { answer } = entry
    if (!answer || isErased(answer)) return entry
    if (!isSealed(answer)) return this.#unsealed(entry)
    return { ...entry, answer: { ...answer, ...(await this.#open(entry, answer.status, sealedBytes(answer))) } }
  }

  #unsealed<T>(value: T): T {
    if (this.#encryption.only) throw new StorageError(UNSEALED, { effect: 'unknown' })
    return value
  }

  async #openText(place: SealedPlace, value: string | null): Promise<string | null> {
    if (value === null) return value
    if (!value.startsWith(SEALED_VALUE)) return this.#unsealed(value)
    const { body } = await this.#open(place, OF_A_MESSAGE, Buffer.from(value.slice(SEALED_VALUE.length), 'base64'))
    return new TextDecoder().decode(body ?? undefined)
  }

  async #open(
    place: SealedPlace,
    status: number,
    bytes: Uint8Array,
  ): Promise<Pick<RecordedAnswer, 'headers' | 'body'>> {
    try {
      return unframeAnswer(place, status, await this.#encryption.open(bytes))
    } catch (cause) {
      throw new StorageError(
        'A recorded answer could not be decrypted: it was sealed with another key than the option `encryption` has, or was ' +
          'changed since',
        { cause, effect: 'unknown' },
      )
    }
  }
}

function notSealed(cause: unknown): never {
  throw new StorageError('The answer could not be encrypted, and is not recorded without that', { cause })
}

/** At once where the value is no promise: a transaction of SQLite does not wait. */
function next<T, U>(value: T | Promise<T>, go: (value: T) => U | Promise<U>): U | Promise<U> {
  return isThenable(value) ? Promise.resolve(value as Promise<T>).then(go) : go(value as T)
}
