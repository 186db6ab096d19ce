/** What a client writes to its journal, by what it means. Each is a point before and one after. */
export type JournalMoment = 'append' | 'attempt' | 'wait' | 'release' | 'settle' | 'deliver' | 'renew' | 'claim'

/** The way of a request, from the client's side. */
export type SendMoment = 'leaving' | 'travelling' | 'answered'

/**
 * A moment at which a process can end.
 *
 * For each write to the journal, `asked`: the client has asked for it and the store has not got it, so it never
 * happens; `durable`: the store has it, and the client has no answer yet. The writes are
 *
 * - `append`: the operation is accepted, with its first attempt on record;
 * - `attempt`: a further attempt is put on record, before it is sent;
 * - `wait`: an attempt has ended, and a retry is to come. The pause begins after `wait:durable` and is over
 *   before `attempt:asked`;
 * - `release`: the lease is given back and the operation stays pending (`onGiveUp: 'keep'`, `close()`, a resume that
 *   got no answer);
 * - `settle`: the settlement is written. Where it is a success that only the caller waits for, the caller has
 *   the answer by then;
 * - `deliver`: a handler has taken the settlement, or thrown;
 * - `renew`: the lease of something that takes long is renewed;
 * - `claim`: a resume, a retry by key or a second caller takes an operation over.
 *
 * For each request, `send:leaving`: it is on record, and nothing has left; `send:travelling`: `fetch` has it, and there
 * is no answer yet; `send:answered`: the head of the answer is there, and the client has not seen it.
 */
export type CrashPoint = `${JournalMoment}:${'asked' | 'durable'}` | `send:${SendMoment}`

/** A record, so that the compiler notices a point that is missing. */
const POINTS: Readonly<Record<CrashPoint, true>> = {
  'append:asked': true,
  'append:durable': true,
  'send:leaving': true,
  'send:travelling': true,
  'send:answered': true,
  'wait:asked': true,
  'wait:durable': true,
  'attempt:asked': true,
  'attempt:durable': true,
  'release:asked': true,
  'release:durable': true,
  'settle:asked': true,
  'settle:durable': true,
  'deliver:asked': true,
  'deliver:durable': true,
  'renew:asked': true,
  'renew:durable': true,
  'claim:asked': true,
  'claim:durable': true,
}

/** Every point, about in the order in which an operation comes by them. */
export const crashPoints: readonly CrashPoint[] = Object.freeze(Object.keys(POINTS) as CrashPoint[])
