import type { ApiFate } from '../support/counting-api.ts'

/**
 * Where on the write path a page stops. Most of them are places in the page, at which its thread stands still until it
 * is killed; `sent`, `applied` and `back-off` are seen from outside; `any-moment` is wherever it happens to be.
 */
export type Point =
  | 'before-persist'
  | 'in-first-write'
  | 'written-untold'
  | 'before-fetch'
  | 'sent'
  | 'applied'
  | 'back-off'
  | 'answered'
  | 'in-settlement'
  | 'settled-untold'
  | 'in-handler'
  | 'after-handler'
  | 'in-claim'
  | 'any-moment'

export interface Crash {
  readonly title: string
  /** Where the caller stops. */
  readonly point: Point
  /** What becomes of the requests of those that are to stop there, one after the other; after that they are answered. */
  readonly fates: readonly ApiFate[]
  /** Where the one stops that resumes what the caller left. */
  readonly resumerPoint?: Point
  /** How many requests the judge sees in the end, where one operation stops exactly there. */
  readonly requests?: number
  /** Only operations with a name have a handler. */
  readonly named?: true
  /** It stands in the middle of a transaction: until it is dead, nobody else can write. */
  readonly isWriting?: true
}

export const crashes: readonly Crash[] = [
  { title: 'before the write', point: 'before-persist', fates: [], requests: 0 },
  { title: 'in the transaction of the first write', point: 'in-first-write', fates: [], requests: 0, isWriting: true },
  { title: 'written, and nobody knows', point: 'written-untold', fates: [], requests: 1 },
  { title: 'written and not sent', point: 'before-fetch', fates: [], requests: 1 },
  { title: 'sent, no answer', point: 'sent', fates: ['hang'], requests: 2 },
  { title: 'done, the answer withheld', point: 'applied', fates: ['work-and-hang'], requests: 2 },
  { title: 'between two attempts', point: 'back-off', fates: ['unavailable'], requests: 2 },
  { title: 'answered, the settlement not begun', point: 'answered', fates: [], requests: 2 },
  { title: 'in the transaction of the settlement', point: 'in-settlement', fates: [], requests: 2, isWriting: true },
  { title: 'settled, and no handler was told', point: 'settled-untold', fates: [], requests: 1, named: true },
  { title: 'in the handler', point: 'in-handler', fates: [], requests: 1, named: true },
  { title: 'after the handler', point: 'after-handler', fates: [], requests: 1, named: true, isWriting: true },
  { title: 'at any moment', point: 'any-moment', fates: [] },
  { title: 'resumed, in the claim', point: 'sent', fates: ['hang'], resumerPoint: 'in-claim', requests: 2 },
  { title: 'resumed and sent', point: 'sent', fates: ['hang', 'hang'], resumerPoint: 'sent', requests: 3 },
  { title: 'resumed and done', point: 'sent', fates: ['hang', 'work-and-hang'], resumerPoint: 'applied', requests: 3 },
  {
    title: 'resumed, in the settlement',
    point: 'applied',
    fates: ['work-and-hang'],
    resumerPoint: 'in-settlement',
    requests: 3,
  },
]
