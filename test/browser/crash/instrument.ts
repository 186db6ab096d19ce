import type { Point } from './points.ts'

/** What the page has after `instrument`. */
export interface CrashPage {
  /** From now on it stops at this point, where one of these operations comes there. */
  arm(point: Point): void
  /** More operations that it may stop for. */
  aimAt(keys: readonly string[]): void
  /** Tells the test's process, and goes on when that has heard it. */
  say(what: string, about: string): void
}

/**
 * Runs in a page before everything else. The page can stand still at a point of the write path: it asks the gate, in a
 * request that its thread waits for, and that is never answered.
 */
export function instrument(gate: string): void {
  let armed: Point | undefined
  let isAnswered = false
  const targets = new Set<string>()
  const aims = new WeakMap<IDBTransaction, Point>()

  const say = (what: string, about: string): void => {
    const request = new XMLHttpRequest()
    request.open('GET', `${gate}/${what}?${encodeURIComponent(about)}`, false)
    request.send()
  }
  const stopAt = (point: Point): void => {
    if (armed === point) say('at', point)
  }
  /** The others that are on their way get a moment to come here as well. */
  const waitAt = (point: Point): Promise<never> => {
    setTimeout(() => stopAt(point), 30)
    return new Promise(() => {})
  }

  const begin = IDBDatabase.prototype.transaction
  IDBDatabase.prototype.transaction = function (stores, mode, options) {
    if (mode !== 'readwrite') return begin.call(this, stores, mode, options)
    if (targets.size > 0) stopAt('before-persist')
    if (isAnswered) stopAt('answered')
    const transaction = begin.call(this, stores, mode, options)
    // Before the library's own listener.
    transaction.addEventListener('complete', () => {
      const aim = aims.get(transaction)
      if (aim) stopAt(aim)
    })
    return transaction
  }

  const { add, put, delete: remove } = IDBObjectStore.prototype
  const appending = new WeakSet<IDBTransaction>()
  const handled = new Set<string>()
  IDBObjectStore.prototype.add = function (...args) {
    // What is known of an origin is a row, too, without a body, and rides along with any write.
    if (args[0] !== null) appending.add(this.transaction)
    return add.apply(this, args)
  }
  IDBObjectStore.prototype.put = function (...args) {
    const request = put.apply(this, args)
    const { key, status } = args[0] as { key?: string; status?: string }
    if (this.name !== 'records' || !key || !targets.has(key)) return request
    const isFirst = appending.has(this.transaction)
    if (isFirst) stopAt('in-first-write')
    else if (status === 'pending') stopAt('in-claim')
    else stopAt(handled.has(key) ? 'after-handler' : 'in-settlement')
    if (isFirst) aims.set(this.transaction, 'written-untold')
    else if (status !== 'pending') aims.set(this.transaction, 'settled-untold')
    return request
  }
  IDBObjectStore.prototype.delete = function (...args) {
    const request = remove.apply(this, args)
    const key = Array.isArray(args[0]) ? String(args[0][1]) : ''
    if (!targets.has(key)) return request
    stopAt(handled.has(key) ? 'after-handler' : 'in-settlement')
    return request
  }

  const send = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    const isAimedAt = targets.has(new Headers(init?.headers).get('idempotency-key') ?? '')
    if (isAimedAt && armed === 'before-fetch') return waitAt('before-fetch')
    const answer = await send(input, init)
    if (isAimedAt) {
      await answer.clone().arrayBuffer()
      isAnswered = true
    }
    return answer
  }

  const page: CrashPage = {
    arm(point) {
      armed = point
    },
    aimAt(keys) {
      for (const key of keys) targets.add(key)
    },
    say,
  }
  const holdfastHandler = async (key: string): Promise<void> => {
    if (targets.has(key) && armed === 'in-handler') await waitAt('in-handler')
    handled.add(key)
    say('told', key)
  }
  Object.assign(globalThis, { crashPage: page, holdfastHandler })
}
