import type { LedgerStore, Transaction } from '../../../../src/server/adapter/index.ts'

/** A store as one process sees it. That process can be stopped for a while, and it can die. */
export interface MortalStore {
  readonly store: LedgerStore
  freeze(): void
  thaw(): void
  /** From now on nothing is asked and nothing is answered; a transaction that is open is rolled back. */
  die(): void
}

const never = new Promise<never>(() => {})

export function mortalStore(real: LedgerStore): MortalStore {
  let isDead = false
  let thawed = Promise.resolve()
  let thaw = (): void => {}
  let cut = (_: unknown): void => {}
  const death = new Promise<never>((_, reject) => {
    cut = reject
  })
  death.catch(() => {})
  const through = async <T>(ask: () => Promise<T>): Promise<T> => {
    await thawed
    if (isDead) return never
    return ask().then(
      (answer) => (isDead ? never : thawed.then(() => answer)),
      (error: unknown) => (isDead ? never : Promise.reject(error)),
    )
  }
  const mortal = (transaction: Transaction<unknown>): Transaction<unknown> => ({
    ...transaction,
    work: (tx) => {
      const verdict = transaction.work(tx)
      return verdict instanceof Promise ? Promise.race([verdict, death]) : verdict
    },
  })
  const store: LedgerStore = {
    name: real.name,
    insert: (draft) => through(() => real.insert(draft)),
    takeOver: (found, draft) => through(() => real.takeOver(found, draft)),
    renew: (claim, lease) => through(() => real.renew(claim, lease)),
    complete: (claim, answer, now) => through(() => real.complete(claim, answer, now)),
    release: (claim) => through(() => real.release(claim)),
    abandon: (claim, now, since) => through(() => real.abandon(claim, now, since)),
    transact: (transaction) => through(() => real.transact(mortal(transaction))),
    atomic: (run) => through(() => real.atomic(run)),
    consume: (message, consumption) => through(() => real.consume(message, consumption)),
    find: (scope, key) => through(() => real.find(scope, key)),
    reap: (options) => through(() => real.reap(options)),
    entries: (query) => real.entries(query),
    stats: (now) => through(() => real.stats(now)),
    count: (scope, atMost) => through(() => real.count(scope, atMost)),
    erase: (batch) => through(() => real.erase(batch)),
    gauges: (now) => through(() => real.gauges(now)),
    close: () => real.close(),
  }
  return {
    store,
    freeze: () => {
      thawed = new Promise((resolve) => {
        thaw = resolve
      })
    },
    thaw: () => thaw(),
    die: () => {
      isDead = true
      thaw()
      cut(new Error('the process has died'))
    },
  }
}
