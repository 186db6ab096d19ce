import { json } from '../../../src/server/index.ts'

/** A 4xx undoes the insert and is recorded. A throw undoes the insert and frees the key. */
export function receipt(amount: number) {
  if (amount > 10_000) throw new Error('No such amount was ever seen')
  return amount > 1000 ? json({ error: 'over the limit' }, { status: 402 }) : json({ amount }, { status: 201 })
}
